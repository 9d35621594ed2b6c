#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kState = 0, kDst = 4096;

RandGetState insn(const Tile& dst, Engine engine = Engine::kGpSimd) {
  return {.dst = dst, .engine = engine};
}

TEST(RandGetState, ShowsSeedStreamAndPositionOfEachGenerator) {
  for (const Engine e : {Engine::kVector, Engine::kGpSimd}) {
    const int generators = e == Engine::kVector ? 4 : 1;
    TestMemory m;
    const Tile state = stepped(sbuf(DType::kU32, 5, 6 * generators, kState), 2);
    m.run(Rng{.dst = sbuf(DType::kU8, 5, 9, kDst), .engine = e});
    m.run(insn(state, e));
    for (int p = 0; p < 5; ++p)
      for (int g = 0; g < generators; ++g) {
        // Nine values: of four generators the first has given three, the others two.
        const auto given = static_cast<std::uint64_t>(generators == 1 ? 9 : g == 0 ? 3 : 2);
        const std::uint64_t want[] = {0, 0, static_cast<std::uint64_t>(4 * p + g), 0, given, 0};
        for (std::int64_t w = 0; w < 6; ++w)
          ASSERT_EQ(m.bits(state, p, 6 * g + w), want[w]) << name(e) << " " << p << "," << w;
      }
  }
}

TEST(RandGetState, ASavedStateResumesItsSequence) {
  for (const Engine e : {Engine::kVector, Engine::kGpSimd}) {
    TestMemory m;
    const Tile state = sbuf(DType::kU32, 5, e == Engine::kVector ? 24 : 6, kState),
               dst = sbuf(DType::kU32, 5, 11, kDst);
    m.run(Rng{.dst = dst, .engine = e});
    m.run(insn(state, e));
    m.run(Rng{.dst = dst, .engine = e});
    const auto want = m.values(dst);
    m.run(RandSetState{.src_seeds = state, .engine = e});
    m.run(Rng{.dst = dst, .engine = e});
    EXPECT_EQ(m.values(dst), want);
  }
}

TEST(RandGetState, RulesAndGenerations) {
  const Tile six = sbuf(DType::kU32, 64, 6), many = psum(DType::kU32, 64, 24);
  EXPECT_THAT(rules(insn(six), trn1()), Contains("generation"));
  EXPECT_THAT(rules(insn(six), trn2()), IsEmpty());
  EXPECT_THAT(rules(insn(six), trn3()), IsEmpty());
  EXPECT_THAT(rules(insn(many, Engine::kVector), trn2()), Contains("engine"));
  EXPECT_THAT(rules(insn(many, Engine::kVector), trn3()), IsEmpty());
  expect_rule_everywhere(insn(six, Engine::kTensor), "engine");
  expect_rule_everywhere(insn(six, Engine::kVector), "rng-state");
  expect_rule_everywhere(insn(sbuf(DType::kU32, 64, 5)), "rng-state");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 64, 6)), "operand-dtype");
  expect_rule_everywhere(insn(psum(DType::kU32, 64, 6)), "operand-space");
  expect_rule_everywhere(insn(hbm(DType::kU32, 64, 24, 24), Engine::kVector), "operand-space");
  expect_rule_everywhere(insn(Tile{}), "operand-missing");
}

// Never printed: a cycle a word. Sizes are fixed, so there is no threshold to stand beside.
TEST(RandGetState, Cost) {
  for (const MachineSpec* m : machines()) {
    EXPECT_EQ(cycles(insn(sbuf(DType::kU32, 128, 6)), *m), kGpSimdStart + 6);
    EXPECT_EQ(cycles(insn(sbuf(DType::kU32, 128, 24), Engine::kVector), *m), elementwise(24));
  }
}

}  // namespace
}  // namespace krait::isa::testing
