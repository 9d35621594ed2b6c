#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSeed = 0, kDst = 4096;

SetRngSeed insn(const Tile& seeds) {
  return {.src_seeds = seeds};
}

std::vector<std::uint64_t> drawn(TestMemory& m, Engine engine) {
  const Tile dst = sbuf(DType::kU32, 3, 9, kDst);
  m.run(Rng{.dst = dst, .engine = engine});
  std::vector<std::uint64_t> out;
  for (int p = 0; p < 3; ++p)
    for (std::int64_t i = 0; i < 9; ++i) out.push_back(m.bits(dst, p, i));
  return out;
}

TEST(SetRngSeed, EqualSeedsGiveEqualSequencesFromEvery32BitDtype) {
  for (const DType d : {DType::kU32, DType::kI32, DType::kF32, DType::kTf32}) {
    TestMemory m;
    const Tile seed = sbuf(d, 1, 1, kSeed);
    m.set_bits(seed, 0, 0, 0xFFC12345);  // a NaN's payload counts as any other bits
    m.run(insn(seed));
    const auto first = drawn(m, Engine::kVector), second = drawn(m, Engine::kVector);
    EXPECT_NE(first, second);
    m.run(insn(seed));
    EXPECT_EQ(drawn(m, Engine::kVector), first);
    for (int p = 0; p < 3; ++p)
      for (std::int64_t i = 0; i < 9; ++i) {
        const CounterRng plain(0xFFC12345, static_cast<std::uint64_t>(4 * p + i % 4));
        EXPECT_EQ(first[flat(p, 9, i)], plain.bits(static_cast<std::uint64_t>(i / 4)) >> 32);
      }
    m.set_bits(seed, 0, 0, 0xFFC12346);
    m.run(insn(seed));
    EXPECT_NE(drawn(m, Engine::kVector), first);
  }
}

TEST(SetRngSeed, BeforeASeedItIsZeroAndGpSimdEngineHasItsOwn) {
  TestMemory seeded, fresh;
  const Tile seed = psum(DType::kU32, 1, 1);
  seeded.set_bits(seed, 0, 0, 0);
  seeded.run(insn(seed));
  EXPECT_EQ(drawn(seeded, Engine::kVector), drawn(fresh, Engine::kVector));
  seeded.set_bits(seed, 0, 0, 99);
  seeded.run(insn(seed));
  EXPECT_EQ(drawn(seeded, Engine::kGpSimd), drawn(fresh, Engine::kGpSimd));
  EXPECT_NE(drawn(seeded, Engine::kVector), drawn(fresh, Engine::kVector));
}

TEST(SetRngSeed, ReportsASeedThatNothingHasWritten) {
  TestMemory m;
  m.run(insn(sbuf(DType::kU32, 1, 1, kSeed)));
  ASSERT_EQ(m.findings().size(), 1U);
  EXPECT_EQ(m.findings()[0].kind, "uninitialised-read");
}

TEST(SetRngSeed, Rules) {
  expect_legal_everywhere(insn(sbuf(DType::kU32, 1, 1)));
  expect_legal_everywhere(insn(psum(DType::kF32, 1, 1)));
  expect_rule_everywhere(insn(sbuf(DType::kU32, 2, 1)), "rng-state");
  expect_rule_everywhere(insn(sbuf(DType::kU32, 1, 2)), "rng-state");
  expect_rule_everywhere(insn(sbuf(DType::kU16, 1, 1)), "operand-dtype");
  expect_rule_everywhere(insn(hbm(DType::kU32, 1, 1, 1)), "operand-space");
  expect_rule_everywhere(insn(Tile{}), "operand-missing");
}

TEST(SetRngSeed, Cost) {  // never printed: the shortest instruction; one size, so no threshold
  for (const MachineSpec* m : machines())
    EXPECT_EQ(cycles(insn(sbuf(DType::kU32, 1, 1)), *m), elementwise(1));
}

}  // namespace
}  // namespace krait::isa::testing
