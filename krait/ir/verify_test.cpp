#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "krait/base/text.hpp"
#include "krait/ir/text.hpp"
#include "krait/machine/registry.hpp"

namespace krait::ir {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Buffers 0: HBM [4, 100]; 1: SBUF [128, 16] f32 in 2 rotations of 64 bytes from byte 64 on;
// 2: PSUM, banks 1 and 2.
Program program(const std::string& lines) {
  return parse(
      "program p machine trn2\nbuffer 0 hbm input x f32 [4, 100]\n"
      "buffer 1 sbuf internal s f32 [128, 16] @64 x2\n"
      "buffer 2 psum internal a f32 [128, 512] @2048 x2\n" +
      lines + "\nend\n");
}

std::vector<std::string> rules(const Program& p) {
  std::vector<std::string> out;
  for (const Problem& problem : verify(p, find_machine("trn2"))) {
    const isa::Violation& v = problem.violation;
    EXPECT_FALSE(v.what.empty() || v.got.empty() || v.fix.empty() || problem.where.empty())
        << v.rule;
    EXPECT_THAT(problem.where, ::testing::HasSubstr("kernel p"));
    out.push_back(v.rule);
  }
  return out;
}
std::vector<std::string> of(const std::string& tile, const std::string& before = "",
                            const std::string& after = "") {
  return rules(program(before + "\nmemset dst=" + tile + "\n" + after));
}

TEST(Verify, TilesStayInTheirBuffer) {
  EXPECT_THAT(of("sbuf.1[0+128]@64:f32{32*1}"), IsEmpty());
  EXPECT_THAT(of("sbuf.1[0+128]@64:f32{33*1}"), ElementsAre("bounds"));
  EXPECT_THAT(of("sbuf.1[0+128]@60:f32{1*1}"), ElementsAre("bounds"));
  EXPECT_THAT(of("sbuf.1[0+128]@188:f32{32*-1}"), IsEmpty());
  EXPECT_THAT(of("sbuf.1[0+128]@184:f32{32*-1}"), ElementsAre("bounds"));
  EXPECT_THAT(of("sbuf.2[0+128]@2048:f32{1*1}"), ElementsAre("bounds")) << "another memory";
}

// A buffer takes whole grains of 64 bytes; the rest of the last one is out of bounds all the same.
TEST(Verify, PaddingIsOutsideTheBuffer) {
  const auto fill = [](const std::string& tile) {
    return rules(parse(cat("program p machine trn2\nbuffer 0 sbuf internal s f32 [128, 8] @64 x2\n",
                           "loop i0 4 {\nmemset dst=", tile, "\n}\nend\n")));
  };
  EXPECT_THAT(fill("sbuf.0[0+1]@(64 + 64*((0 + 1*i0) mod 2)):f32{8*1}"), IsEmpty());
  EXPECT_THAT(fill("sbuf.0[0+1]@(64 + 64*((0 + 1*i0) mod 2)):f32{9*1}"), ElementsAre("bounds"));
}

TEST(Verify, TilesOfHbmSweepTheirRows) {
  const auto load = [](const std::string& src) {
    return rules(program("dma_copy dst=sbuf.1[0+4]@64:f32{16*1} src=" + src));
  };
  EXPECT_THAT(load("hbm.0[4/100]@336:f32{16*1}"), IsEmpty());
  EXPECT_THAT(load("hbm.0[4/100]@340:f32{16*1}"), ElementsAre("bounds"));
  EXPECT_THAT(load("hbm.0[4/-100]@1200:f32{16*1}"), IsEmpty());
  EXPECT_THAT(load("hbm.0[4/-100]@1196:f32{16*1}"), ElementsAre("bounds"));
}

TEST(Verify, BoundsHoldAtTheLastTurn) {
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 4*i0):f32{1*1}", "loop i0 32 {", "}"), IsEmpty());
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 4*i0):f32{1*1}", "loop i0 33 {", "}"), ElementsAre("bounds"));
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + -4*i0):f32{1*1}", "loop i0 2 {", "}"), ElementsAre("bounds"));
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 64*((0 + 1*i0) mod 2)):f32{16*1}", "loop i0 9 {", "}"),
              IsEmpty());
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 64*((0 + 1*i0) mod 3)):f32{16*1}", "loop i0 9 {", "}"),
              ElementsAre("bounds"));
}

TEST(Verify, PsumTilesStayInOneBank) {
  EXPECT_THAT(of("psum.2[0+128]@2048:f32{512*1}"), IsEmpty());
  EXPECT_THAT(of("psum.2[0+128]@2052:f32{512*1}"), ElementsAre("psum-bank"));
  EXPECT_THAT(of("psum.2[0+128]@(2048 + 1024*i0):f32{256*1}", "loop i0 4 {", "}"), IsEmpty());
  EXPECT_THAT(of("psum.2[0+128]@(2048 + 1024*i0):f32{257*1}", "loop i0 3 {", "}"),
              ElementsAre("psum-bank"));
  EXPECT_THAT(of("psum.2[0+128]@(2048 + 2048*((0 + 1*i0) mod 2)):f32{512*1}", "loop i0 5 {", "}"),
              IsEmpty());
}

TEST(Verify, OffsetsLieOnElementsAtEveryTurn) {
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 2*i0):f32{1*1}", "loop i0 2 {", "}"),
              ElementsAre("alignment"));
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 2*i0):bf16{1*1}", "loop i0 2 {", "}"), IsEmpty());
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 2*((0 + 1*i0) mod 2)):f32{1*1}", "loop i0 2 {", "}"),
              ElementsAre("alignment"));
}

TEST(Verify, IndicesAreUsedInsideTheirLoopOnly) {
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 4*i0):f32{1*1}", "loop i0 2 {\n}"),
              ElementsAre("loop-scope"));
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 4*i7):f32{1*1}"), Contains("offset"));
}

TEST(Verify, OffsetsAreNumbersThatAMemoryHas) {
  EXPECT_THAT(
      of("sbuf.1[0+128]@(64 + 281474976710656*i0):f32{1*1}", "loop i0 1099511627776 {", "}"),
      ElementsAre("offset"));
  EXPECT_THAT(of("sbuf.1[0+128]@(64 + 64*((-1 + 1*i0) mod 2)):f32{16*1}", "loop i0 2 {", "}"),
              ElementsAre("offset"))
      << "a rotation counts from 0";
}

TEST(Verify, ReferencesExist) {
  EXPECT_THAT(of("sbuf.9[0+128]@64:f32{1*1}"), ElementsAre("reference"));
  Program p = program("memset dst=sbuf.1[0+128]@64:f32{1*1}");
  Insn& insn = std::get<Insn>(p.body[0].value);
  isa::for_each_tile(*insn.def, insn.self(),
                     [](const isa::FieldInfo&, isa::Tile& tile) { tile.expr = 5; });
  EXPECT_THAT(rules(p), ElementsAre("reference"));
}

// Programs that were not parsed or built may hold anything.
TEST(Verify, LoopsRunAndNestOnce) {
  Program p = program("loop i0 2 {\nmemset dst=sbuf.1[0+128]@64:f32{1*1}\n}");
  EXPECT_THAT(rules(p), IsEmpty());
  p.extents[0] = 0;
  EXPECT_THAT(rules(p), ElementsAre("loop-extent"));
  p.extents.clear();
  EXPECT_THAT(rules(p), ElementsAre("loop-extent"));
  p.extents = {2};
  Node copy = p.body[0];
  std::get<Loop>(p.body[0].value).body.push_back(copy);
  EXPECT_THAT(rules(p), ElementsAre("loop-scope"));
}

TEST(Verify, BuffersFitTheMachine) {
  for (const MachineSpec* m : machines()) {
    const auto limit = static_cast<std::int64_t>(m->sbuf_usable_bytes_per_partition());
    Program p = program("");
    p.buffers[1].address = limit - 128;
    EXPECT_THAT(verify(p, *m), IsEmpty());
    p.buffers[1].address = limit - 64;
    ASSERT_EQ(verify(p, *m).size(), 1U);
    EXPECT_EQ(verify(p, *m)[0].violation.rule, "capacity");
    p = program("");
    p.buffers[2].address = 7 * 2048;  // two banks from the last on
    ASSERT_EQ(verify(p, *m).size(), 1U);
    EXPECT_EQ(verify(p, *m)[0].violation.rule, "capacity");
  }
}

TEST(Verify, ReportsTheRulesOfInstructionsWithTheirPlace) {
  const auto problems =
      verify(program("memset dst=sbuf.1[0+128]@64:f32{1*1}\nmemset dst=sbuf.1[3+1]@64:f32{1*1}"),
             find_machine("trn2"));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].violation.rule, "partition-start");
  EXPECT_EQ(problems[0].where, "kernel p, instruction 1 (memset)");
}

}  // namespace
}  // namespace krait::ir
