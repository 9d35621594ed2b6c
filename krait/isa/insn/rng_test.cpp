#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kDst = 0;

Rng insn(const Tile& dst, Engine engine = Engine::kVector) {
  return {.dst = dst, .engine = engine};
}

// Word i of a lane by the generator's definition: VectorE has four that take turns, GpSimdE one.
std::uint64_t word(int lane, std::int64_t i, int generators) {
  const auto stream = static_cast<std::uint64_t>(4 * lane + i % generators);
  return CounterRng(0, stream).bits(static_cast<std::uint64_t>(i / generators)) >> 32;
}

TEST(Rng, WritesTheLowBitsForEveryIntegerDtype) {
  for (const DType d : chip_dtypes()) {
    if (is_float(d)) continue;
    for (const Engine e : {Engine::kVector, Engine::kGpSimd}) {
      TestMemory m;
      const Tile dst = sbuf(d, 5, 37, kDst);
      m.run(insn(dst, e));
      for (int p = 0; p < 5; ++p)
        for (std::int64_t i = 0; i < 37; ++i)
          ASSERT_EQ(m.bits(dst, p, i),
                    word(p, i, e == Engine::kVector ? 4 : 1) & ((1ULL << (8 * size_of(d))) - 1))
              << name(d) << " " << p << "," << i;
    }
  }
}

TEST(Rng, LanesAreThoseOfThePartitionsAndEnginesAreApart) {
  TestMemory m;
  const Tile upper = tile(Space::kSbuf, DType::kU32, 32, {{1, 8}}, kDst, 64);
  m.run(insn(upper));
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(m.bits(upper, 3, i), word(67, i, 4));
  m.run(insn(upper, Engine::kGpSimd));
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(m.bits(upper, 3, i), word(67, i, 1));
  m.run(insn(upper));
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(m.bits(upper, 3, i), word(67, i + 8, 4));
}

// Each of 32 bits is set in about half of 8192 draws: four standard deviations are 181.
TEST(Rng, BitsAreFair) {
  TestMemory m;
  const Tile dst = sbuf(DType::kU32, 8, 1024, kDst);
  m.run(insn(dst));
  int set[32] = {};
  for (int p = 0; p < 8; ++p)
    for (std::int64_t i = 0; i < 1024; ++i)
      for (int b = 0; b < 32; ++b) set[b] += static_cast<int>(m.bits(dst, p, i) >> b & 1);
  for (const int count : set) EXPECT_NEAR(count, 4096, 181);
}

TEST(Rng, WalksEveryAccessPattern) {
  for (const Tile& dst : layouts(DType::kU16, 2, kDst, false, 0, Space::kPsum)) {
    TestMemory m;
    m.run(insn(dst));
    for (int p = 0; p < 2; ++p)
      for (std::int64_t i = 0; i < 12; ++i)
        ASSERT_EQ(m.bits(dst, p, i), word(p, i, 4) & 0xFFFF) << to_string(dst);
  }
}

TEST(Rng, Rules) {
  const Tile s = sbuf(DType::kU32, 64, 32), p = psum(DType::kI8, 64, 32);
  expect_legal_everywhere(insn(s));
  expect_legal_everywhere(insn(p));
  EXPECT_THAT(rules(insn(s, Engine::kGpSimd), trn1()), Contains("engine"));
  EXPECT_THAT(rules(insn(s, Engine::kGpSimd), trn2()), IsEmpty());
  EXPECT_THAT(rules(insn(s, Engine::kGpSimd), trn3()), IsEmpty());
  expect_rule_everywhere(insn(p, Engine::kGpSimd), "operand-space");
  expect_rule_everywhere(insn(s, Engine::kScalar), "engine");
  expect_rule_everywhere(insn(hbm(DType::kU32, 64, 32, 32)), "operand-space");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 64, 32)), "operand-dtype");
  expect_rule_everywhere(insn(Tile{}), "operand-missing");
}

// Never printed: one element a cycle, on GpSimdE after its start.
TEST(Rng, Cost) {
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n, Engine e) {
      return cycles(insn(sbuf(DType::kU16, 128, n), e), *m);
    };
    EXPECT_EQ(cost(64, Engine::kVector), elementwise(64));
    EXPECT_EQ(cost(65, Engine::kVector), elementwise(65));
    EXPECT_EQ(cost(512, Engine::kVector), elementwise(512));
    EXPECT_EQ(cost(1, Engine::kGpSimd), kGpSimdStart + 1);
    EXPECT_EQ(cost(512, Engine::kGpSimd), kGpSimdStart + 512);
  }
}

}  // namespace
}  // namespace krait::isa::testing
