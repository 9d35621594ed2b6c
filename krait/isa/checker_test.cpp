#include "krait/isa/checker.hpp"

#include "krait/base/error.hpp"
#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

std::vector<std::string> tile_rules(const Tile& t, bool by_dma = false,
                                    const MachineSpec& m = trn2()) {
  Checker c(m);
  c.tile("x", t, by_dma);
  std::vector<std::string> out;
  for (const Violation& v : c.violations()) {
    EXPECT_FALSE(v.got.empty() || v.fix.empty()) << v.rule;
    EXPECT_NE(v.what.find("x "), std::string::npos) << v.what;
    out.push_back(v.rule);
  }
  return out;
}
Tile at(int partition, int partitions) {
  return tile(Space::kSbuf, DType::kF32, partitions, {{1, 8}}, 0, partition);
}

// A2: 65..128 partitions start at 0; 33..64 at 0 or 64; up to 32 at any quadrant.
TEST(Checker, StartPartition) {
  for (int count = 1; count <= 128; ++count)
    for (int first = 0; first < 128; ++first) {
      const bool legal = count > 64   ? first == 0
                         : count > 32 ? first == 0 || first == 64
                                      : first % 32 == 0;
      EXPECT_EQ(tile_rules(at(first, count)).empty(), legal) << first << "+" << count;
    }
  EXPECT_THAT(tile_rules(at(96, 33)), Contains("partition-start"));
}

TEST(Checker, DmaReachesEveryPartition) {
  EXPECT_THAT(tile_rules(at(5, 3), true), IsEmpty());
  EXPECT_THAT(tile_rules(at(127, 1), true), IsEmpty());
  EXPECT_THAT(tile_rules(at(127, 2), true), Contains("partition-start"));
}

TEST(Checker, ElementsPerPartition) {  // A2: 64 K from SBUF, 4 K from PSUM
  EXPECT_THAT(tile_rules(tile(Space::kSbuf, DType::kU8, 1, {{0, 2}, {1, 32768}})), IsEmpty());
  EXPECT_THAT(tile_rules(tile(Space::kSbuf, DType::kU8, 1, {{0, 2}, {1, 32769}})),
              Contains("free-size"));
  EXPECT_THAT(tile_rules(psum(DType::kF32, 1, 4096)), IsEmpty());
  EXPECT_THAT(tile_rules(psum(DType::kF32, 1, 4097)), Contains("free-size"));
}

TEST(Checker, StepsAndCountsFitTheDescriptor) {
  EXPECT_THAT(tile_rules(stepped(sbuf(DType::kU8, 1, 2), 32767)), IsEmpty());
  EXPECT_THAT(tile_rules(stepped(sbuf(DType::kU8, 1, 2), 32768)), Contains("access-pattern"));
  EXPECT_THAT(tile_rules(stepped(sbuf(DType::kU8, 1, 2), -32768)), IsEmpty());
  EXPECT_THAT(tile_rules(stepped(sbuf(DType::kU8, 1, 2), -32769)), Contains("access-pattern"));
  EXPECT_THAT(tile_rules(sbuf(DType::kU8, 1, 65535)), IsEmpty());
  EXPECT_THAT(tile_rules(sbuf(DType::kU8, 1, 65536)), Contains("access-pattern"));
  EXPECT_THAT(tile_rules(sbuf(DType::kU8, 1, 65536), true), IsEmpty())
      << "DMA has descriptors of its own";
}

TEST(Checker, MalformedTilesAreNotAskedFurther) {
  Tile t = sbuf(DType::kF32, 3, 8);
  t.rank = 0;
  EXPECT_THAT(tile_rules(t), ::testing::ElementsAre("access-pattern"));
  t.rank = 7;
  EXPECT_THAT(tile_rules(t), ::testing::ElementsAre("access-pattern"));
  EXPECT_THAT(tile_rules(sbuf(DType::kF32, 3, 0)), ::testing::ElementsAre("empty-tile"));
  EXPECT_THAT(tile_rules(sbuf(DType::kF32, 3, -5)), ::testing::ElementsAre("empty-tile"));
  EXPECT_THAT(tile_rules(sbuf(DType::kF32, 3, INT64_MAX)),
              ::testing::ElementsAre("access-pattern"));
  EXPECT_THAT(tile_rules(stepped(sbuf(DType::kF32, 3, 4), INT64_MIN)),
              ::testing::ElementsAre("access-pattern"));
  // Not even by instructions that multiply their sizes.
  NcMatmul i{.dst = sbuf(DType::kF32, 3, INT64_MAX), .stationary = t, .moving = t};
  EXPECT_THAT(rules(i, trn2()),
              ::testing::ElementsAre("access-pattern", "access-pattern", "access-pattern"));
}

// SH26's engine column, RN 2.30, SH32: rsqrt never, four operators from v4 on, two of them first.
TEST(Checker, OperatorsOfVectorEnginePerGeneration) {
  for (const MachineSpec* m : machines())
    for (const AluOp op : alu_ops())
      for (const bool first : {true, false}) {
        Checker c(*m);
        c.vector_op("op", op, first);
        std::vector<std::string> found, want;
        for (const Violation& v : c.violations()) found.push_back(v.rule);
        const bool one = op == AluOp::kSquare || op == AluOp::kRelu;
        if (op == AluOp::kRsqrt) want.push_back("engine-op");
        if ((one || op == AluOp::kAbsMax || op == AluOp::kAbsMin) && m != &trn3())
          want.push_back("alu-generation");
        if (one && !first) want.push_back("alu-op");
        EXPECT_EQ(found, want) << m->name() << " " << name(op) << " " << first;
      }
}

TEST(Checker, BitOperatorsAreNoneOfTheArithmeticInstructions) {
  for (const AluOp op : bit_ops()) {
    Checker c(trn3());
    c.vector_op("op", op);
    ASSERT_EQ(c.violations().size(), 1U);
    EXPECT_EQ(c.violations()[0].rule, "alu-op");
  }
}

TEST(Checker, WhatAGenerationLacksIsNamed) {
  Checker c(trn2());
  c.exists(true, "v3", "b");
  EXPECT_THAT(c.violations(), IsEmpty());
  c.exists(false, "v4", "use rng");
  ASSERT_EQ(c.violations().size(), 1U);
  EXPECT_EQ(c.violations()[0].rule, "generation");
  EXPECT_EQ(c.violations()[0].what, "needs v4 or later");
  EXPECT_EQ(c.violations()[0].got, "trn2");
  EXPECT_EQ(c.violations()[0].fix, "use rng");
}

TEST(Checker, OffsetsLieOnElements) {
  EXPECT_THAT(tile_rules(sbuf(DType::kF32, 1, 8, 4)), IsEmpty());
  EXPECT_THAT(tile_rules(sbuf(DType::kF32, 1, 8, 2)), Contains("alignment"));
  EXPECT_THAT(tile_rules(sbuf(DType::kBf16, 1, 8, 2)), IsEmpty());
  EXPECT_THAT(tile_rules(sbuf(DType::kBf16, 1, 8, 1)), Contains("alignment"));
  EXPECT_THAT(tile_rules(sbuf(DType::kU8, 1, 8, 1)), IsEmpty());
}

TEST(Checker, NoEngineReads64BitTypes) {
  for (const DType d : {DType::kF64, DType::kI64}) {
    EXPECT_THAT(tile_rules(sbuf(d, 1, 8)), Contains("dtype"));
    EXPECT_THAT(tile_rules(sbuf(d, 1, 8), true), Contains("dtype"));
    EXPECT_THAT(tile_rules(hbm(d, 1, 8, 8), true), IsEmpty());
  }
}

TEST(Checker, AbsentTilesHaveNoRules) {
  Tile t;
  t.rank = 9;
  EXPECT_THAT(tile_rules(t), IsEmpty());
}

TEST(Checker, RequireKeepsTheFourParts) {
  Checker c(trn1());
  c.require(true, "a", "b", "c", "d");
  EXPECT_THAT(c.violations(), IsEmpty());
  c.require(false, "a", "b", "c", "d");
  ASSERT_EQ(c.violations().size(), 1U);
  const Violation& v = c.violations()[0];
  EXPECT_EQ(cat(v.rule, v.what, v.got, v.fix), "abcd");
  EXPECT_EQ(&c.machine(), &trn1());
}

TEST(Registry, FindsEveryInstructionAndSuggestsNames) {
  for (const InsnDef* def : instructions()) EXPECT_EQ(&find_instruction(def->info.name), def);
  try {
    (void)find_instruction("tensor_tensr");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(e.report().fix.find("tensor_tensor"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace krait::isa::testing
