#include "krait/isa/engine_state.hpp"

#include "krait/isa/accumulate.hpp"
#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

TEST(Accumulators, AreNanAndAFindingUntilTheyAreSet) {
  for (const Engine e : {Engine::kScalar, Engine::kVector}) {
    TestMemory m;
    m.set_instruction("reader");
    EXPECT_TRUE(std::isnan(m.accumulator(e, 5)));
    ASSERT_EQ(m.findings().size(), 1U);
    EXPECT_EQ(m.findings()[0].kind, "accumulator-unset");
    EXPECT_EQ(m.findings()[0].what,
              cat("reader: reads an accumulator register of ", name(e), " that holds no result"));
    m.clear_findings();
    m.set_accumulator(e, 5, 2.5F);
    EXPECT_EQ(m.accumulator(e, 5), 2.5F);
    EXPECT_THAT(m.findings(), IsEmpty());
    m.unset_accumulator(e, 5);
    EXPECT_TRUE(std::isnan(m.accumulator(e, 5)));
    EXPECT_EQ(m.findings().size(), 1U);
  }
}

TEST(Accumulators, OfLanesAndEnginesAreApart) {
  TestMemory m;
  for (int lane = 0; lane < kPartitions; ++lane) {
    m.set_accumulator(Engine::kScalar, lane, static_cast<float>(lane));
    m.set_accumulator(Engine::kVector, lane, static_cast<float>(-lane));
  }
  for (int lane = 0; lane < kPartitions; ++lane) {
    EXPECT_EQ(m.accumulator(Engine::kScalar, lane), static_cast<float>(lane));
    EXPECT_EQ(m.accumulator(Engine::kVector, lane), static_cast<float>(-lane));
  }
}

TEST(Accumulators, WithoutStateNothingIsReported) {
  Memory::Options options;
  options.track_state = false;
  TestMemory m(options);
  EXPECT_TRUE(std::isnan(m.accumulator(Engine::kVector, 0)));
  EXPECT_THAT(m.findings(), IsEmpty());
}

// From 10, over the row 3, 4: what each command leaves in the register.
TEST(Accumulators, CommandsStartAndFold) {
  const auto after = [](Engine e, ReduceCmd cmd, AluOp op) {
    TestMemory m;
    m.set_accumulator(e, 0, 10);
    const float row[] = {3, 4};
    accumulate(m, e, 0, cmd, op, 100, row);
    return m.accumulator(e, 0);
  };
  for (const Engine e : {Engine::kScalar, Engine::kVector}) {
    EXPECT_EQ(after(e, ReduceCmd::kReset, AluOp::kAdd), 0);
    EXPECT_EQ(after(e, ReduceCmd::kReset, AluOp::kMax), -kInf);
    EXPECT_EQ(after(e, ReduceCmd::kReduce, AluOp::kAdd), 17);
    EXPECT_EQ(after(e, ReduceCmd::kReduce, AluOp::kMultiply), 120);
    EXPECT_EQ(after(e, ReduceCmd::kResetReduce, AluOp::kAdd), 7);
    EXPECT_EQ(after(e, ReduceCmd::kResetReduce, AluOp::kMultiply), 12);
    EXPECT_EQ(after(e, ReduceCmd::kResetReduce, AluOp::kMin), 3);
    EXPECT_EQ(after(e, ReduceCmd::kLoadReduce, AluOp::kAdd), 107);
  }
  EXPECT_EQ(after(Engine::kScalar, ReduceCmd::kIdle, AluOp::kAdd), 10) << "ScalarE leaves it alone";
  EXPECT_TRUE(std::isnan(after(Engine::kVector, ReduceCmd::kIdle, AluOp::kAdd)));
}

std::vector<std::uint32_t> drawn(LaneRng& rng, int lane, std::size_t n) {
  std::vector<std::uint32_t> out(n);
  rng.draw(lane, out);
  return out;
}

// The definition once more: value i of a lane comes from generator i mod 4, at position i / 4 of
// the stream 4 * lane + generator.
TEST(LaneRng, DrawsFromItsGeneratorsInTurn) {
  for (const int generators : {1, 4}) {
    LaneRng rng(generators);
    EXPECT_EQ(rng.words(), 6 * generators);
    rng.seed(77);
    const auto x = drawn(rng, 3, 11);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto turns = static_cast<std::size_t>(generators);
      const CounterRng plain(77, 3 * 4 + i % turns);
      EXPECT_EQ(x[i], plain.bits(i / turns) >> 32) << generators << " " << i;
    }
  }
}

TEST(LaneRng, EqualSeedsGiveEqualSequencesAndLanesDiffer) {
  LaneRng a(4), b(4), c(4);
  a.seed(5), b.seed(5), c.seed(6);
  const auto x = drawn(a, 0, 32);
  EXPECT_EQ(x, drawn(b, 0, 32));
  EXPECT_NE(x, drawn(c, 0, 32));
  EXPECT_NE(x, drawn(b, 1, 32));
  EXPECT_NE(x, drawn(a, 0, 32)) << "the sequence goes on";
}

TEST(LaneRng, AStateResumesItsSequence) {
  for (const int generators : {1, 4}) {
    LaneRng a(generators), b(generators);
    a.seed(9);
    (void)drawn(a, 7, 13);
    std::vector<std::uint32_t> state(static_cast<std::size_t>(a.words()));
    a.get_state(7, state);
    b.set_state(100, state);
    EXPECT_EQ(drawn(a, 7, 9), drawn(b, 100, 9));
    std::vector<std::uint32_t> words(state.size());
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = 0xF0000000U + static_cast<std::uint32_t>(i);
    b.set_state(1, words);
    b.get_state(1, state);
    EXPECT_EQ(state, words) << "all bits of a state count";
  }
}

TEST(LaneRng, TheUnitIntervalIsHalfOpenAndExact) {
  EXPECT_EQ(unit_interval(0), 0);
  EXPECT_EQ(unit_interval(0xFFFFFFFFU), 1 - 0x1p-24F);
  EXPECT_EQ(unit_interval(0x80000000U), 0.5F);
  EXPECT_EQ(unit_interval(0x000000FFU), 0) << "the low bits fall away";
}

}  // namespace
}  // namespace krait::isa::testing
