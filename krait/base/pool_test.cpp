#include "krait/base/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace krait {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const std::size_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> hits(count);
      pool.run(count, [&](std::size_t i, std::size_t worker) {
        EXPECT_LT(worker, threads);
        hits[i].fetch_add(1);
      });
      for (const auto& hit : hits) EXPECT_EQ(hit.load(), 1);
    }
  }
}

TEST(ThreadPool, RethrowsTheBodysExceptionAndStaysUsable) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.run(100,
                        [](std::size_t i, std::size_t) {
                          if (i == 5) throw std::runtime_error("five");
                        }),
               std::runtime_error);
  std::atomic<int> sum{0};
  pool.run(10, [&](std::size_t i, std::size_t) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum.load(), 45);
}

TEST(ThreadPool, ManyShortLoops) {
  ThreadPool pool(2);
  std::atomic<long> sum{0};
  for (int round = 0; round < 2000; ++round)
    pool.run(4, [&](std::size_t i, std::size_t) { sum += static_cast<long>(i); });
  EXPECT_EQ(sum.load(), 2000 * 6);
}

}  // namespace
}  // namespace krait
