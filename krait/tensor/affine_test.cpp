#include "krait/tensor/affine.hpp"

#include <gtest/gtest.h>

#include <array>

namespace krait {
namespace {

TEST(Affine, AddsMultipliesAndDropsZeroTerms) {
  const Affine i = Affine::index(0), j = Affine::index(3);
  const Affine a = 128 * i + 3 + 2 * j;
  const std::array<std::int64_t, 4> at{5, 0, 0, 7};
  EXPECT_EQ(a.eval(at), 128 * 5 + 3 + 14);
  EXPECT_EQ((a - 2 * j).terms.size(), 1U);
  EXPECT_TRUE((a - a).is_constant());
  EXPECT_TRUE((a * 0).is_constant());
}

TEST(Affine, RangeCoversNegativeCoefficients) {
  const std::array<std::int64_t, 2> extents{10, 4};
  const Affine a = Affine(100) - 3 * Affine::index(0) + 5 * Affine::index(1);
  EXPECT_EQ(a.range(extents), (std::pair<std::int64_t, std::int64_t>{73, 115}));
}

TEST(Offset, RotatesOverIterations) {
  Offset o{
      .base = 64, .count = Affine::index(0) * 3 + Affine::index(1), .modulus = 2, .stride = 1000};
  const std::array<std::int64_t, 2> extents{2, 3};
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const std::array<std::int64_t, 2> at{i, j};
      EXPECT_EQ(o.eval(at), 64 + 1000 * ((3 * i + j) % 2));
    }
  EXPECT_EQ(o.range(extents), (std::pair<std::int64_t, std::int64_t>{64, 1064}));
}

TEST(Offset, TextParsesBack) {
  const Offset plain{.base = Affine(-5) + 7 * Affine::index(2) - 4 * Affine::index(11)};
  Offset rotating = plain;
  rotating.count = Affine::index(2) * 8 + Affine::index(3) + 1;
  rotating.modulus = 3;
  rotating.stride = 2048;
  for (const Offset& o : {Offset{}, plain, rotating}) {
    const auto back = parse_offset(to_string(o));
    ASSERT_TRUE(back) << to_string(o);
    EXPECT_EQ(*back, o);
  }
  for (const char* bad : {"", "x", "1 +", "1*j2", "3*((i0) mod", "1 2", "4*((1*i0) mod 0)"})
    EXPECT_FALSE(parse_offset(bad)) << bad;
}

// What is accepted must print to a text that is accepted: sums count, not only the numbers written.
TEST(Offset, SumsBeyondAnyMemoryAreRefused) {
  EXPECT_TRUE(parse_offset("281474976710656"));
  for (const char* bad :
       {"281474976710656 + 1", "281474976710656*i0 + 1*i0", "281474976710656 + 1 + 4*((0) mod 2)",
        "0 + 4*((281474976710656 + 281474976710656) mod 2)"})
    EXPECT_FALSE(parse_offset(bad)) << bad;
}

}  // namespace
}  // namespace krait
