// Is a resource never given out twice, and always at the first gap that is long enough?

#include "krait/sim/calendar.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "krait/base/rng.hpp"

namespace krait::sim {
namespace {

TEST(Calendar, FitsAGapExactlyAndNotOnePicosecondMore) {
  Calendar c;
  c.book(Ps{0}, Ps{100});
  c.book(Ps{150}, Ps{50});
  EXPECT_EQ(c.fit(Ps{0}, Ps{50}), Ps{100});
  EXPECT_EQ(c.fit(Ps{0}, Ps{51}), Ps{200});
  EXPECT_EQ(c.fit(Ps{120}, Ps{30}), Ps{120});
  EXPECT_EQ(c.fit(Ps{121}, Ps{30}), Ps{200});
  EXPECT_EQ(c.fit(Ps{500}, Ps{30}), Ps{500});
}

TEST(Calendar, TouchingStretchesBecomeOne) {
  Calendar c;
  c.book(Ps{100}, Ps{50});
  c.book(Ps{200}, Ps{50});
  c.book(Ps{150}, Ps{50});  // touches both
  EXPECT_EQ(c.fit(Ps{100}, Ps{1}), Ps{250});
  EXPECT_EQ(c.fit(Ps{0}, Ps{100}), Ps{0});
  EXPECT_EQ(c.busy(), Ps{150});
}

TEST(Calendar, NothingIsBookedForNoTime) {
  Calendar c;
  c.book(Ps{100}, Ps{0});
  EXPECT_EQ(c.fit(Ps{0}, Ps{1000}), Ps{0});
  EXPECT_EQ(c.busy(), Ps{0});
}

// Against a plain table of taken picoseconds.
TEST(Calendar, AgreesWithATableOfPicoseconds) {
  constexpr int kEnd = 4000;
  const CounterRng rng(7);
  std::vector<bool> taken(kEnd);
  Calendar c;
  std::int64_t sum = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const int earliest = static_cast<int>(rng.bits(3 * i) % 3000);
    const int duration = static_cast<int>(rng.bits(3 * i + 1) % 9) + 1;
    int start = earliest;
    for (int t = start; t < start + duration; ++t)
      if (taken[static_cast<std::size_t>(t)]) start = t + 1, t = start - 1;
    ASSERT_EQ(c.fit(Ps{earliest}, Ps{duration}), Ps{start}) << i;
    int inside = 0;
    for (int t = earliest; t < earliest + 40; ++t) inside += taken[static_cast<std::size_t>(t)];
    ASSERT_EQ(c.overlap(Ps{earliest}, Ps{40}), Ps{inside}) << i;
    if (rng.bits(3 * i + 2) % 2 != 0) continue;
    c.book(Ps{start}, Ps{duration});
    for (int t = start; t < start + duration; ++t) taken[static_cast<std::size_t>(t)] = true;
    sum += duration;
    ASSERT_EQ(c.busy(), Ps{sum});
  }
}

// Old stretches are forgotten: nothing is placed before what was forgotten, nothing twice after it.
TEST(Calendar, ManyStretchesLeaveNoPlaceTwice) {
  Calendar c;
  constexpr int kMany = 10000;
  for (int i = 0; i < kMany; ++i) c.book(Ps{i * 10}, Ps{5});
  const Ps early = c.fit(Ps{0}, Ps{5});
  EXPECT_GE(early, Ps{5});
  EXPECT_EQ((early.value - 5) % 10, 0) << "inside a gap";
  EXPECT_EQ(c.fit(Ps{(kMany - 10) * 10}, Ps{6}), Ps{kMany * 10 - 5});
  EXPECT_EQ(c.busy(), Ps{kMany * 5});
}

}  // namespace
}  // namespace krait::sim
