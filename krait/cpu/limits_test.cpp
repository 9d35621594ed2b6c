// Are the measured limits rates that a real machine can have? No exact values: machines differ.

#include "krait/cpu/limits.hpp"

#include <gtest/gtest.h>

#include "krait/numerics/cpu_target.hpp"

namespace krait {
namespace {

constexpr LimitProbe kQuick{.sample_seconds = 0.002, .samples = 1, .read_bytes = 4 << 20};

TEST(MachineLimits, ArePositiveAndPhysicalOnEveryTarget) {
  ThreadPool pool(1);
  for (const std::string& target : available_cpu_targets()) {
    const ScopedCpuTarget forced(target);
    const MachineLimits limits = measure_machine_limits(pool, kQuick);
    EXPECT_EQ(limits.target, target);
    EXPECT_EQ(limits.threads, 1U);
    EXPECT_GT(limits.gflops, 0);
    EXPECT_GT(limits.gbps_read, 0);
    EXPECT_GT(limits.exp_per_s, 0);
    // A probe that the compiler deleted reports thousands of times what a core can do: 4 fused
    // multiply-adds of 16 lanes at 10 GHz are 1280 GFLOP/s, two 64-byte loads a cycle 1280 GB/s.
    EXPECT_LT(limits.gflops, 1280);
    EXPECT_LT(limits.gbps_read, 1280);
    // One exp takes at least two operations, so it is slower than a multiply-add a lane.
    EXPECT_LT(limits.exp_per_s, 1280e9 / 2 / 2);
  }
}

TEST(MachineLimits, ReadsABufferSmallerThanOneTile) {
  ThreadPool pool(2);
  const MachineLimits limits =
      measure_machine_limits(pool, {.sample_seconds = 0.001, .samples = 1, .read_bytes = 1});
  EXPECT_GT(limits.gbps_read, 0);
  EXPECT_EQ(limits.threads, 2U);
}

}  // namespace
}  // namespace krait
