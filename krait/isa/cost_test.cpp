#include "krait/isa/cost.hpp"

#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

TEST(Cost, ElementwiseOccupancyStartsAtTheMinimumInterval) {
  const Tile t = sbuf(DType::kF32, 128, 64);
  for (const MachineSpec* m : machines()) {
    for (const std::int64_t n : {1, 63, 64})
      EXPECT_EQ(vector_time(*m, n, 1, {&t}).occupancy.value, elementwise(64));
    EXPECT_EQ(vector_time(*m, 65, 1, {&t}).occupancy.value, elementwise(65));
    EXPECT_EQ(scalar_time(*m, 65, 1, {&t}).occupancy.value, elementwise(65));
    EXPECT_EQ(scalar_time(*m, 1, 1, {&t}).occupancy.value, elementwise(64));
    EXPECT_EQ(vector_time(*m, 65, 0.5, {&t}).occupancy.value, elementwise(130));
    EXPECT_EQ(vector_time(*m, 257, 4, {&t}).occupancy.value, elementwise(65))
        << "a started cycle counts";
    EXPECT_EQ(vector_time(*m, 77, 1, {&t}).elements, 77);
  }
}

// A2: an innermost stride above 16 B halves the rate; the worst operand decides; fast modes have
// conditions of their own.
TEST(Cost, StridesAbove16BytesAreSlowAtBaseRate) {
  const auto cost = [](DType d, std::int64_t step, double rate) {
    const Tile dense = sbuf(DType::kF32, 128, 512), other = stepped(sbuf(d, 128, 512), step);
    return vector_time(trn1(), 512, rate, {&dense, &other}).occupancy.value;
  };
  for (const auto& [d, step] : {std::pair{DType::kF32, 4}, {DType::kBf16, 8}, {DType::kU8, 16}}) {
    EXPECT_EQ(cost(d, step, 1), elementwise(512)) << "exactly 16 B";
    EXPECT_EQ(cost(d, step + 1, 1), elementwise(1024));
    EXPECT_EQ(cost(d, -step - 1, 1), elementwise(1024));
    EXPECT_EQ(cost(d, step + 1, 2), elementwise(256));
  }
  EXPECT_EQ(cost(DType::kF32, 0, 1), elementwise(512)) << "a broadcast is not strided";
  // The innermost dimension with more than one position counts, not an outer one.
  const Tile outer = tile(Space::kSbuf, DType::kF32, 128, {{100, 16}, {1, 32}}), absent;
  EXPECT_EQ(vector_time(trn1(), 512, 1, {&outer, &absent}).occupancy.value, elementwise(512));
}

TEST(Cost, LatencyDependsOnPsum) {
  const Tile s = sbuf(DType::kF32, 128, 64), p = psum(DType::kF32, 128, 64);
  EXPECT_EQ(vector_time(trn1(), 64, 1, {&s}).latency.value, 150);
  EXPECT_EQ(vector_time(trn1(), 64, 1, {&s, &p}).latency.value, 170);
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(scalar_time(*m, 64, 1, {&s}).latency.value, 120);
    EXPECT_EQ(scalar_time(*m, 64, 1, {&p}).latency.value, 150);
  }
}

TEST(Cost, OnlyVectorAboveBaseRateIsAFastMode) {
  const Tile s = sbuf(DType::kF32, 128, 64);
  EXPECT_FALSE(vector_time(trn2(), 64, 1, {&s}).fast_mode);
  EXPECT_TRUE(vector_time(trn2(), 64, 2, {&s}).fast_mode);
  EXPECT_FALSE(scalar_time(trn3(), 64, 2, {&s}).fast_mode);
}

TEST(Cost, GpSimdStartsWith150Cycles) {
  for (const MachineSpec* m : machines()) {
    EXPECT_EQ(gpsimd_time(*m, 0, 1).occupancy.value, 150);
    EXPECT_EQ(gpsimd_time(*m, 512, 1).occupancy.value, 150 + 512);
    EXPECT_EQ(gpsimd_time(*m, 512, 0.25).occupancy.value, 150 + 2048);
  }
}

TEST(Cost, TensorPassesSpreadOverInstructions) {
  EXPECT_EQ(tensor_time(trn1(), 128, 63, 1, 1).occupancy.value, 64);
  EXPECT_EQ(tensor_time(trn1(), 128, 65, 1, 1).occupancy.value, 65);
  EXPECT_EQ(tensor_time(trn1(), 128, 100, 4, 2).occupancy.value, 2 * 200);
  EXPECT_EQ(tensor_time(trn2(), 128, 512, 4, 2).occupancy.value, 2 * (1024 + 8));
  EXPECT_EQ(tensor_time(trn2(), 100, 512, 1, 1).load_stationary.value, 25);
}

TEST(Cost, SixteenBitClass) {
  for (const MachineSpec* m : machines()) {
    EXPECT_TRUE(is_16bit(DType::kBf16, *m));
    EXPECT_TRUE(is_16bit(DType::kF16, *m));
    for (const DType d : {DType::kF32, DType::kTf32, DType::kI16, DType::kU16, DType::kI8})
      EXPECT_FALSE(is_16bit(d, *m));
  }
  EXPECT_FALSE(is_16bit(DType::kF8E4M3, trn1()));
  EXPECT_FALSE(is_16bit(DType::kF8E5M2, trn2()));
  EXPECT_TRUE(is_16bit(DType::kF8E4M3Fn, trn3()));
}

}  // namespace
}  // namespace krait::isa::testing
