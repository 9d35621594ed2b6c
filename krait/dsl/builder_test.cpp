#include "krait/dsl/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/ir/text.hpp"
#include "krait/machine/registry.hpp"

namespace krait::dsl {
namespace {

using ::testing::HasSubstr;

const MachineSpec& trn2() {
  return find_machine("trn2");
}

template <class Fn>
Report refusal(Fn fn) {
  try {
    fn();
  } catch (const UserError& e) {
    return e.report();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

void fill(KernelBuilder& kb, const isa::Tile& dst) {
  kb.emit(isa::Memset{.dst = dst}, "dir/kernel.cpp", 42);
}
std::int64_t address(const Ref& ref) {
  return static_cast<isa::Tile>(ref).offset;
}

TEST(Builder, ALoopIsOneNodeAndItsIndexSymbolic) {
  KernelBuilder kb("k", trn2());
  const Ref t = kb.sbuf("t", DType::kF32, 128, {64});
  kb.loop(64, [&](const Affine& i) { fill(kb, t.col(i)); });
  const ir::Program p = kb.finish();
  ASSERT_EQ(p.body.size(), 1U);
  ASSERT_NE(p.body[0].loop(), nullptr);
  EXPECT_EQ(p.body[0].loop()->body.size(), 1U);
  EXPECT_EQ(p.instruction_count(), 64);
  EXPECT_EQ(to_string(p.exprs[1]), "0 + 4*i0");
}

TEST(Builder, OneTurnIsInlinedAndNoneLeavesNothing) {
  KernelBuilder kb("k", trn2());
  const Ref t = kb.sbuf("t", DType::kF32, 128, {4});
  kb.loop(1, [&](const Affine& i) {
    EXPECT_EQ(i, Affine(0));
    fill(kb, t.col(i));
  });
  for (const std::int64_t none : {0, -3}) kb.loop(none, [&](const Affine&) { FAIL(); });
  const ir::Program p = kb.finish();
  ASSERT_EQ(p.body.size(), 1U);
  EXPECT_NE(p.body[0].insn(), nullptr);
  EXPECT_TRUE(p.extents.empty());
}

TEST(Builder, TilesCoverEveryPositionOnce) {
  for (const std::int64_t total : {0, 1, 3, 4, 5, 8, 11})
    for (const std::int64_t step : {1, 3, 4, 20}) {
      KernelBuilder kb("k", trn2());
      std::vector<int> seen(static_cast<std::size_t>(total));
      std::int64_t whole = 0;
      kb.tiles(total, step, [&](const Affine& index, const Affine& start, std::int64_t size) {
        // One call stands for all turns of its loop.
        const std::int64_t turns = start.is_constant() ? 1 : total / step;
        for (std::int64_t i = 0; i < turns; ++i) {
          const std::vector<std::int64_t> at{i};
          EXPECT_EQ(index.eval(at), start.eval(at) / step);
          for (std::int64_t k = 0; k < size; ++k)
            ++seen[static_cast<std::size_t>(start.eval(at) + k)];
        }
        whole += size == step ? turns : 0;
      });
      EXPECT_THAT(seen, ::testing::Each(1)) << total << " by " << step;
      EXPECT_EQ(whole, total / step);
    }
  KernelBuilder kb("k", trn2());
  const auto none = [](const Affine&, const Affine&, std::int64_t) {};
  for (const auto& [total, step] : {std::pair{4, 0}, {4, -1}, {-1, 4}})
    EXPECT_THAT(refusal([&, n = total, by = step] { kb.tiles(n, by, none); }).got,
                HasSubstr(cat("step ", step)));
}

TEST(Builder, ScopesGiveTheirBytesBack) {
  KernelBuilder kb("k", trn2());
  const std::int64_t all = kb.sbuf_available();
  std::int64_t first = -1;
  kb.scope([&] {
    first = address(kb.sbuf("a", DType::kF32, 128, {100}));
    EXPECT_EQ(kb.sbuf_available(), all - 448) << "400 bytes in grains of 64";
    kb.loop(3, [&](const Affine&) { (void)kb.sbuf("b", DType::kF32, 128, {100}, 2); });
    EXPECT_EQ(kb.sbuf_available(), all - 448);
  });
  EXPECT_EQ(kb.sbuf_available(), all);
  EXPECT_EQ(address(kb.sbuf("c", DType::kF32, 128, {1})), first);
  EXPECT_EQ(kb.finish().sbuf_bytes(), 448 + 2 * 448) << "the high water stays";
}

TEST(Builder, PoolsRotateOverTheTurnsOfAllOpenLoops) {
  KernelBuilder kb("k", trn2());
  EXPECT_EQ(address(kb.sbuf("once", DType::kF32, 128, {16}, 4)), 0);
  EXPECT_EQ(kb.sbuf_available() + 64, KernelBuilder("l", trn2()).sbuf_available())
      << "outside loops a pool has one buffer";
  kb.loop(5, [&](const Affine&) {
    kb.loop(7, [&](const Affine&) { fill(kb, kb.sbuf("pool", DType::kF32, 128, {16}, 3)); });
  });
  const ir::Program p = kb.finish();
  ASSERT_EQ(p.exprs.size(), 2U);
  EXPECT_EQ(to_string(p.exprs[1]), "64 + 64*((0 + 7*i0 + 1*i1) mod 3)");
  EXPECT_EQ(p.buffers[1].rotations, 3);
}

TEST(Builder, PsumBuffersOwnBanks) {
  KernelBuilder kb("k", trn2());
  for (int bank = 0; bank < 8; ++bank)
    EXPECT_EQ(address(kb.psum("p", DType::kF32, 128, {1})), 2048 * bank);
  const Report r = refusal([&] { (void)kb.psum("p9", DType::kF32, 128, {1}); });
  EXPECT_THAT(r.what, HasSubstr("capacity: PSUM has no room for 'p9'"));
  EXPECT_THAT(r.got, HasSubstr("2048 bytes per partition wanted, largest gap 0, free 0 of 16384"));
}

TEST(Builder, SaysHowMuchSpaceIsMissing) {
  KernelBuilder kb("k", trn2());
  const std::int64_t all = kb.sbuf_available();
  const Report r = refusal([&] { (void)kb.sbuf("big", DType::kU8, 128, {all + 1}); });
  EXPECT_THAT(r.what, HasSubstr("capacity: SBUF has no room for 'big'"));
  EXPECT_THAT(r.where, HasSubstr("kernel k, machine trn2"));
  EXPECT_THAT(r.got, HasSubstr(cat("largest gap ", all)));
  for (const std::int64_t huge : {std::int64_t{1} << 41, INT64_MAX})
    EXPECT_THAT(refusal([&] {
                  (void)kb.sbuf("b", DType::kF32, 1, {huge, huge});
                }).what,
                HasSubstr("capacity"));
  kb.loop(2, [&](const Affine&) {
    EXPECT_THAT(refusal([&] { (void)kb.sbuf("b", DType::kF32, 1, {1}, INT64_MAX); }).what,
                HasSubstr("capacity"));
  });
  EXPECT_EQ(kb.sbuf_available(), all) << "a refusal takes nothing";
}

TEST(Builder, RefusesImpossibleBuffersAndTensors) {
  KernelBuilder kb("k", trn2());
  for (const std::int64_t p : {0, -1, 129})
    EXPECT_THAT(refusal([&] { (void)kb.sbuf("b", DType::kF32, p, {1}); }).what,
                HasSubstr("1 to 128 partitions"));
  EXPECT_THAT(refusal([&] { (void)kb.sbuf("b", DType::kF32, 1, {}); }).what,
              HasSubstr("free dimensions"));
  EXPECT_THAT(refusal([&] {
                (void)kb.sbuf("b", DType::kF32, 1, {1, 1, 1, 1, 1});
              }).what,
              HasSubstr("free dimensions"));
  EXPECT_THAT(refusal([&] {
                (void)kb.sbuf("b", DType::kF32, 1, {2, 0});
              }).what,
              HasSubstr("elements in every dimension"));
  EXPECT_THAT(refusal([&] { (void)kb.sbuf("b", DType::kF32, 1, {1}, 0); }).what,
              HasSubstr("at least one buffer"));
  EXPECT_THAT(refusal([&] { (void)kb.sbuf("b c", DType::kF32, 1, {1}); }).what, HasSubstr("name"));
  (void)kb.input("x", DType::kF32, {2});
  EXPECT_THAT(refusal([&] { (void)kb.output("x", DType::kF32, {2}); }).what,
              HasSubstr("two tensors are called 'x'"));
  EXPECT_THAT(refusal([&] { (void)kb.input("", DType::kF32, {2}); }).what, HasSubstr("name"));
  EXPECT_THAT(refusal([&] {
                (void)kb.input("y", DType::kF32, {1 << 30, 1 << 30});
              }).what,
              HasSubstr("impossible shape"));
  EXPECT_THAT(refusal([&] { (void)kb.input("y", DType::kF32, {-1}); }).what,
              HasSubstr("impossible shape"));
  EXPECT_THAT(refusal([] { KernelBuilder bad("a kernel", trn2()); }).what, HasSubstr("name"));
  for (const auto& [name, value] : {std::pair{"a b", "1"}, {"a", ""}, {"a", "1\n2"}})
    EXPECT_THAT(refusal([&, n = name, v = value] { kb.param(n, v); }).what, HasSubstr("parameter"));
}

TEST(Builder, EmitNamesKernelInstructionAndLine) {
  KernelBuilder kb("k", trn2());
  const Ref t = kb.sbuf("t", DType::kF32, 128, {8});
  fill(kb, t);
  const Report r = refusal([&] { fill(kb, t.partitions(3, 5)); });
  EXPECT_EQ(r.what, "partition-start: memset: dst starts at partition 3 with 5 partitions");
  EXPECT_EQ(r.where, "kernel k, instruction 1 (kernel.cpp:42), machine trn2");
  EXPECT_FALSE(r.got.empty() || r.fix.empty());
}

TEST(Builder, EmitRefusesWhatOnlyTheProgramShows) {
  KernelBuilder kb("k", trn2());
  const Ref s = kb.sbuf("s", DType::kF32, 128, {8}), p = kb.psum("p", DType::kF32, 128, {512}),
            two = kb.psum("q", DType::kF32, 128, {2, 512});
  const auto rule = [&](const isa::Tile& tile) {
    const std::string what = refusal([&] { fill(kb, tile); }).what;
    return what.substr(0, what.find(':'));
  };
  EXPECT_EQ(rule(two), "psum-bank");
  kb.loop(9, [&](const Affine& i) {
    EXPECT_EQ(rule(s.col(i)), "bounds") << "at the ninth turn";
    fill(kb, two.slice(0, 0, 1).cols(i * 50, 100));
  });
  Affine escaped;
  kb.loop(2, [&](const Affine& i) { escaped = i; });
  EXPECT_EQ(rule(s.col(escaped)), "loop-scope");
  isa::Tile stranger = s;
  stranger.buffer = 77;
  EXPECT_EQ(rule(stranger), "reference");
  EXPECT_EQ(rule(isa::Tile{}), "operand-missing");
  fill(kb, p);
  EXPECT_EQ(kb.finish().instruction_count(), 10);
}

TEST(Builder, LoopsHaveLimits) {
  KernelBuilder kb("k", trn2());
  EXPECT_THAT(refusal([&] { kb.loop(ir::kMaxTurns + 1, [](const Affine&) {}); }).what,
              HasSubstr("too often"));
  std::function<void(std::size_t)> nest = [&](std::size_t depth) {
    if (depth > 0) kb.loop(2, [&](const Affine&) { nest(depth - 1); });
  };
  nest(ir::kMaxLoopDepth);
  EXPECT_THAT(refusal([&] { nest(ir::kMaxLoopDepth + 1); }).what, HasSubstr("nested deeper"));
}

TEST(Builder, IsUsableAfterAnException) {
  KernelBuilder kb("k", trn2());
  const std::int64_t all = kb.sbuf_available();
  struct Odd {};
  EXPECT_THROW(kb.loop(4,
                       [&](const Affine&) {
                         const Ref t = kb.sbuf("t", DType::kF32, 128, {8}, 2);
                         fill(kb, t);
                         kb.scope([&] {
                           (void)kb.psum("p", DType::kF32, 128, {8});
                           throw Odd{};
                         });
                       }),
               Odd);
  EXPECT_EQ(kb.sbuf_available(), all);
  const Ref t = kb.sbuf("t", DType::kF32, 128, {8});
  kb.loop(8, [&](const Affine& i) { fill(kb, t.col(i)); });
  const ir::Program p = kb.finish();
  EXPECT_EQ(p.instruction_count(), 8) << "nothing of the broken loop is left";
  EXPECT_TRUE(ir::verify(p, trn2()).empty());
  EXPECT_EQ(ir::print(ir::parse(ir::print(p))), ir::print(p));
}

TEST(Builder, FinishEmptiesTheBuilder) {
  KernelBuilder kb("k", trn2());
  const std::int64_t all = kb.sbuf_available();
  kb.scope([&] {
    EXPECT_THAT(refusal([&] { (void)kb.finish(); }).what, HasSubstr("inside a loop or scope"));
  });
  fill(kb, kb.sbuf("t", DType::kF32, 128, {8}));
  EXPECT_EQ(kb.finish().body.size(), 1U);
  EXPECT_EQ(kb.sbuf_available(), all);
  const ir::Program second = kb.finish();
  EXPECT_EQ(second.name, "k");
  EXPECT_TRUE(second.body.empty() && second.buffers.empty());
}

// The text form holds all that a builder can make.
TEST(Builder, ProgramsPrintAndParseBackEqual) {
  KernelBuilder kb("round.trip", trn2());
  for (const char* value : {"1", " ", "two  spaces ", "a = b", "(", "]", "end"})
    kb.param(cat("p", static_cast<int>(value[0])), value);
  const Hbm x = kb.input("x", DType::kBf16, {2, 300, 40}), y = kb.output("y", DType::kF32, {});
  const Hbm scratch = kb.internal("scratch", DType::kF32, {300, 40});
  (void)y;
  kb.loop(2, [&](const Affine& b) {
    kb.tiles(300, 128, [&](const Affine&, const Affine& row, std::int64_t n) {
      const Ref in = kb.sbuf("in", DType::kBf16, n, {40}, 2),
                acc = kb.psum("acc", DType::kF32, n, {40});
      kb.emit(isa::DmaCopy{.dst = in, .src = x.view(x.at({b, row, 0}), 40, n, {{1, 40}})});
      kb.emit(isa::Activation{.dst = acc, .data = in, .scale = 0.1F, .fn = UnaryFn::kExp});
      const Ref out = kb.sbuf("out", DType::kF32, n, {40});
      kb.emit(isa::TensorCopy{.dst = out, .src = acc});
      kb.emit(
          isa::DmaCopy{.dst = scratch.view(scratch.at({row, 0}), 40, n, {{1, 40}}), .src = out});
    });
  });
  const ir::Program p = kb.finish();
  const ir::Program back = ir::parse(ir::print(p));
  EXPECT_EQ(ir::print(back), ir::print(p));
  EXPECT_EQ(back.params, p.params);
  EXPECT_EQ(back.buffers, p.buffers);
  EXPECT_EQ(back.extents, p.extents);
  EXPECT_EQ(back.exprs, p.exprs);
  EXPECT_TRUE(ir::verify(back, trn2()).empty());
}

}  // namespace
}  // namespace krait::dsl
