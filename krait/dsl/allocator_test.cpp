#include "krait/dsl/allocator.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"

namespace krait::dsl {
namespace {

TEST(Allocator, TakesTheLowestAddressThatFits) {
  Allocator a(1000);
  EXPECT_EQ(a.take(100, 1), 0);
  EXPECT_EQ(a.take(200, 1), 100);
  EXPECT_EQ(a.take(300, 1), 300);
  a.give_back(0, 100);
  a.give_back(300, 300);
  EXPECT_EQ(a.take(150, 1), 300) << "the first gap is too small";
  EXPECT_EQ(a.take(100, 1), 0) << "and is used as soon as it fits";
}

TEST(Allocator, AlignsAndKeepsTheBytesBefore) {
  Allocator a(4096);
  EXPECT_EQ(a.take(1, 1), 0);
  EXPECT_EQ(a.take(64, 64), 64);
  EXPECT_EQ(a.take(63, 1), 1) << "the gap that alignment left";
  EXPECT_EQ(a.take(2048, 2048), 2048);
  EXPECT_FALSE(a.take(1, 2048)) << "no aligned address is left";
  EXPECT_EQ(a.available(), 4096 - 128 - 2048);
}

TEST(Allocator, GivesNothingBeyondItsCapacity) {
  Allocator a(128);
  EXPECT_FALSE(a.take(129, 1));
  EXPECT_EQ(a.take(128, 64), 0);
  EXPECT_FALSE(a.take(1, 1));
  EXPECT_EQ(a.available(), 0);
  EXPECT_EQ(a.largest_gap(), 0);
  EXPECT_EQ(a.capacity(), 128);
}

TEST(Allocator, JoinsGapsInEveryOrderOfReturn) {
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    Allocator a(300);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(a.take(100, 1), 100 * i);
    for (const int i : order) a.give_back(100 * i, 100);
    EXPECT_EQ(a.largest_gap(), 300);
    EXPECT_EQ(a.take(300, 1), 0);
  }
}

TEST(Allocator, LargestGapIsNotTheSum) {
  Allocator a(300);
  for (int i = 0; i < 3; ++i) (void)a.take(100, 1);
  a.give_back(0, 100);
  a.give_back(200, 100);
  EXPECT_EQ(a.available(), 200);
  EXPECT_EQ(a.largest_gap(), 100);
  EXPECT_FALSE(a.take(101, 1));
}

TEST(Allocator, ReturningFreeBytesIsOurBug) {
  Allocator a(100);
  EXPECT_THROW(a.give_back(0, 10), InternalError);
  (void)a.take(50, 1);
  EXPECT_THROW(a.give_back(40, 20), InternalError);
}

// Blocks never overlap, and all returned gives the whole back, whatever the order.
TEST(Allocator, RandomUseNeverOverlaps) {
  const CounterRng rng(3);
  Allocator a(1 << 14);
  std::vector<std::pair<std::int64_t, std::int64_t>> held;  // address, bytes
  for (std::uint64_t i = 0; i < 5000; ++i) {
    if (rng.bits(3 * i) % 2 == 0 && !held.empty()) {
      const auto at = static_cast<std::ptrdiff_t>(rng.bits(3 * i + 1) % held.size());
      a.give_back(held[static_cast<std::size_t>(at)].first,
                  held[static_cast<std::size_t>(at)].second);
      held.erase(held.begin() + at);
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(rng.bits(3 * i + 1) % 700 + 1);
    const std::int64_t align = std::int64_t{1} << rng.bits(3 * i + 2) % 8;
    const auto address = a.take(bytes, align);
    if (!address) continue;
    ASSERT_EQ(*address % align, 0);
    ASSERT_LE(*address + bytes, a.capacity());
    for (const auto& [begin, size] : held)
      ASSERT_TRUE(*address + bytes <= begin || begin + size <= *address);
    held.emplace_back(*address, bytes);
  }
  for (const auto& [begin, size] : held) a.give_back(begin, size);
  EXPECT_EQ(a.largest_gap(), 1 << 14);
}

}  // namespace
}  // namespace krait::dsl
