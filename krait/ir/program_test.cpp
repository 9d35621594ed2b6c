#include "krait/ir/program.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "krait/base/error.hpp"

namespace krait::ir {
namespace {

Insn any() {
  Insn insn;
  insn.def = isa::instructions().front();
  insn.object.resize(insn.def->size);
  insn.def->init(insn.self());
  return insn;
}

Block nest(std::initializer_list<std::uint16_t> loops) {
  Block block;
  block.emplace_back().value = any();
  for (const std::uint16_t id : loops) {
    Block outer;
    Loop& loop = outer.emplace_back().value.emplace<Loop>();
    loop.id = id, loop.body = std::move(block);
    block = std::move(outer);
  }
  return block;
}

TEST(Program, CountsWhatARunExecutes) {
  Program p;
  EXPECT_EQ(p.instruction_count(), 0);
  p.extents = {3, 5};
  p.body = nest({0, 1});
  p.body.emplace_back().value = any();
  EXPECT_EQ(p.instruction_count(), 3 * 5 + 1);
}

TEST(Program, CountsSaturate) {
  Program p;
  p.extents = {kMaxTurns, kMaxTurns};
  p.body = nest({0, 1});
  EXPECT_EQ(p.instruction_count(), std::numeric_limits<std::int64_t>::max());
  p.body.emplace_back().value = any();
  EXPECT_EQ(p.instruction_count(), std::numeric_limits<std::int64_t>::max());
}

TEST(Program, HighWaterCountsEveryRotationOfItsSpace) {
  Program p;
  EXPECT_EQ(p.sbuf_bytes(), 0);
  const auto add = [&](isa::Space space, std::int64_t address, std::int64_t bytes,
                       std::int64_t rotations) {
    Buffer& b = p.buffers.emplace_back();
    b.space = space, b.address = address, b.bytes = bytes, b.rotations = rotations;
  };
  add(isa::Space::kSbuf, 64, 128, 3);
  add(isa::Space::kSbuf, 0, 64, 1);
  add(isa::Space::kPsum, 2048, 2048, 2);
  add(isa::Space::kHbm, 0, 1 << 20, 1);
  EXPECT_EQ(p.sbuf_bytes(), 64 + 3 * 128);
  EXPECT_EQ(p.psum_bytes(), 3 * 2048);
}

TEST(Program, FindsBuffersAndSuggestsNames) {
  Program p;
  for (const char* name : {"delta", "u"}) p.buffers.emplace_back().name = name;
  EXPECT_EQ(p.find_buffer("u"), 1U);
  try {
    (void)p.find_buffer("dlta");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(e.report().fix.find("delta"), std::string::npos) << e.what();
  }
}

TEST(Program, NamesHoldNothingThatTheTextFormCuts) {
  for (const char* good : {"u", "B.0", "a-b_c/d:e%f#g@h+1"}) EXPECT_TRUE(is_name(good)) << good;
  for (const char* bad : {"", " ", "a b", "a\n", "a=", "(", "{", "\xC3\xA9"})
    EXPECT_FALSE(is_name(bad)) << bad;
}

TEST(Program, EqualOffsetsShareAnIndexAndZeroMeansConstant) {
  Program p;
  const Offset a{.base = Affine::index(0) * 4}, b{.base = Affine::index(1) * 4};
  EXPECT_EQ(intern(p, a), 1U);
  EXPECT_EQ(intern(p, b), 2U);
  EXPECT_EQ(intern(p, a), 1U);
  EXPECT_EQ(intern(p, Offset{}), 3U) << "a symbolic 0 is not the constant's slot";
  EXPECT_EQ(p.exprs.size(), 4U);
}

TEST(Program, OnChipBuffersTakeWholeGrains) {
  using isa::Space;
  EXPECT_EQ(on_chip_bytes(Space::kSbuf, 1), 64);
  EXPECT_EQ(on_chip_bytes(Space::kSbuf, 64), 64);
  EXPECT_EQ(on_chip_bytes(Space::kSbuf, 65), 128);
  EXPECT_EQ(on_chip_bytes(Space::kPsum, 1), 2048);
  EXPECT_EQ(on_chip_bytes(Space::kPsum, 2048), 2048);
  EXPECT_EQ(on_chip_bytes(Space::kPsum, 2049), 4096);
}

}  // namespace
}  // namespace krait::ir
