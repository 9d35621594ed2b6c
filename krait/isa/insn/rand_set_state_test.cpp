#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kState = 0, kDst = 4096;

RandSetState insn(const Tile& seeds, Engine engine = Engine::kGpSimd) {
  return {.src_seeds = seeds, .engine = engine};
}

// Six words a generator: seed, stream, position, each low word first.
TEST(RandSetState, EachLaneDrawsFromItsOwnState) {
  for (const Engine e : {Engine::kVector, Engine::kGpSimd}) {
    const int generators = e == Engine::kVector ? 4 : 1;
    TestMemory m;
    const Tile state = stepped(sbuf(DType::kU32, 5, 6 * generators, kState), 3),
               dst = sbuf(DType::kU32, 5, 13, kDst);
    const CounterRng words(8);
    for (int p = 0; p < 5; ++p)
      for (std::int64_t i = 0; i < 6 * generators; ++i)
        m.set_bits(state, p, i, words.bits(flat(p, 24, i)) >> 32);
    m.run(insn(state, e));
    m.run(Rng{.dst = dst, .engine = e});
    for (int p = 0; p < 5; ++p)
      for (std::int64_t i = 0; i < 13; ++i) {
        const std::int64_t first = i % generators * 6;
        const auto joined = [&](std::int64_t w) {
          return m.bits(state, p, first + w) | m.bits(state, p, first + w + 1) << 32;
        };
        const auto position = joined(4) + static_cast<std::uint64_t>(i / generators);
        ASSERT_EQ(m.bits(dst, p, i), CounterRng(joined(0), joined(2)).bits(position) >> 32)
            << name(e) << " " << p << "," << i;
      }
  }
}

TEST(RandSetState, OtherLanesAndTheOtherEngineKeepTheirs) {
  TestMemory m, fresh;
  const Tile state = tile(Space::kSbuf, DType::kU32, 32, {{1, 6}}, kState, 32),
             dst = sbuf(DType::kU32, 64, 4, kDst);
  for (int p = 0; p < 32; ++p)
    for (std::int64_t i = 0; i < 6; ++i) m.set_bits(state, p, i, 7);
  m.run(insn(state));
  for (const Engine e : {Engine::kGpSimd, Engine::kVector})
    for (TestMemory* memory : {&m, &fresh}) {
      memory->run(Rng{.dst = dst, .engine = e});
      if (memory == &m) continue;
      for (int p = 0; p < 64; ++p)
        EXPECT_EQ(m.bits(dst, p, 1) != fresh.bits(dst, p, 1), e == Engine::kGpSimd && p >= 32) << p;
    }
}

TEST(RandSetState, RulesAndGenerations) {
  const Tile six = sbuf(DType::kU32, 64, 6), many = psum(DType::kU32, 64, 24);
  EXPECT_THAT(rules(insn(six), trn1()), Contains("generation"));
  EXPECT_THAT(rules(insn(six), trn2()), IsEmpty());
  EXPECT_THAT(rules(insn(six), trn3()), IsEmpty());
  EXPECT_THAT(rules(insn(many, Engine::kVector), trn2()), Contains("engine"));
  EXPECT_THAT(rules(insn(many, Engine::kVector), trn3()), IsEmpty());
  expect_rule_everywhere(insn(six, Engine::kScalar), "engine");
  expect_rule_everywhere(insn(six, Engine::kVector), "rng-state");
  expect_rule_everywhere(insn(sbuf(DType::kU32, 64, 24)), "rng-state");
  expect_rule_everywhere(insn(sbuf(DType::kI32, 64, 6)), "operand-dtype");
  expect_rule_everywhere(insn(psum(DType::kU32, 64, 6)), "operand-space");
  expect_rule_everywhere(insn(hbm(DType::kU32, 64, 24, 24), Engine::kVector), "operand-space");
  expect_rule_everywhere(insn(Tile{}), "operand-missing");
}

// Never printed: a cycle a word. Sizes are fixed, so there is no threshold to stand beside.
TEST(RandSetState, Cost) {
  for (const MachineSpec* m : machines()) {
    EXPECT_EQ(cycles(insn(sbuf(DType::kU32, 128, 6)), *m), kGpSimdStart + 6);
    EXPECT_EQ(cycles(insn(sbuf(DType::kU32, 128, 24), Engine::kVector), *m), elementwise(24));
  }
}

}  // namespace
}  // namespace krait::isa::testing
