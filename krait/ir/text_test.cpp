#include "krait/ir/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"

namespace krait::ir {
namespace {

// Every node kind, every buffer space and kind, every field kind (tiles, absent tiles, operands of
// both forms, every attribute type), constant, affine and rotating offsets, nested loops.
constexpr const char* kAll = R"(program every.thing-1 machine trn2
  param chunk = 128
  param note = two  spaces, (brackets [ and = signs
  buffer 0 hbm input u bf16 [1, 256, 512]
  buffer 1 hbm output y f32 []
  buffer 2 hbm internal t i32 [0, 7]
  buffer 3 sbuf internal du f32 [128, 512] @1024 x2
  buffer 4 psum internal acc f32 [128, 512] @2048 x1
  loop i0 4 {
    dma_copy dst=sbuf.3[0+128]@(1024 + 2048*((0 + 1*i0) mod 2)):f32{512*1} src=hbm.0[128/512]@(0 + 1024*i0):bf16{512*1} ring=gpsimd dge=software
    loop i2 3 {
      activation dst=psum.4[32+32]@2048:f32{2*8,8*1} data=sbuf.3[0+32]@(1024 + 4*i0 + -8*i2):f32{16*-1} reduce_res=none scale=0.3 bias=sbuf.3[0+32]@1024:f32{1*1} fn=softplus reduce_cmd=default
    }
    iota dst=sbuf.3[0+1]@1024:i32{6*1} pattern=(-3,2,2*5,3*-1)
  }
  nc_matmul dst=psum.4[0+128]@2048:f32{512*1} stationary=sbuf.3[0+128]@1024:f32{128*1} moving=sbuf.3[0+128]@1024:f32{512*1} accumulate=true onezero=false
  tensor_scalar dst=sbuf.3[0+128]@1024:f32{512*1} data=sbuf.3[0+128]@1024:f32{512*1} operand0=-inf operand1=1e-45 op0=max op1=bypass reverse0=true reverse1=false engine=VectorE
end
)";

std::string refusal(std::string_view text) {
  try {
    (void)parse(text);
  } catch (const UserError& e) {
    EXPECT_FALSE(e.report().where.empty() || e.report().fix.empty()) << e.what();
    return e.report().what;
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

// A program of the smallest form around `lines`.
std::string around(const std::string& lines) {
  return "program p machine trn2\nbuffer 0 sbuf internal a f32 [128, 8] @0 x1\n" + lines +
         "\nend\n";
}

TEST(Text, EveryKindOfNodeAndFieldReadsBack) {
  const Program program = parse(kAll);
  EXPECT_EQ(print(program), kAll);
  const Program again = parse(print(program));
  EXPECT_EQ(again.buffers, program.buffers);
  EXPECT_EQ(again.exprs, program.exprs);
  EXPECT_EQ(again.extents, program.extents);
  EXPECT_EQ(again.params, program.params);
  EXPECT_EQ(program.params.at("note"), "two  spaces, (brackets [ and = signs");
}

TEST(Text, EveryInstructionReadsBack) {
  for (const isa::InsnDef* def : isa::instructions()) {
    Program p;
    p.name = "p", p.machine = "trn1";
    Insn insn;
    insn.def = def;
    insn.object.resize(def->size);
    def->init(insn.self());
    for (const isa::FieldInfo& field : def->fields) {  // a tile in every place that takes one
      if (field.role == isa::Role::kAttr) continue;
      isa::Tile tile;
      tile.partitions = 3, tile.dims[0] = {2, 5}, tile.offset = 12;
      *reinterpret_cast<isa::Tile*>(insn.object.data() + field.offset) = tile;
    }
    p.body.emplace_back().value = std::move(insn);
    const std::string text = print(p);
    const Program back = parse(text);
    EXPECT_EQ(print(back), text);
    ASSERT_EQ(back.body.size(), 1U);
    EXPECT_EQ(back.body[0].insn()->def, def);
  }
}

TEST(Text, BlankLinesAndIndentationDoNotMatter) {
  std::string loose = "\n\n";
  for (const char c : std::string_view(kAll)) loose += c == '\n' ? "\n\n" : std::string(1, c);
  EXPECT_EQ(print(parse(loose)), kAll);
}

// The text must end with "end": every shorter piece is refused, at whatever byte it stops.
TEST(Text, EveryTruncationIsRefused) {
  const std::string_view text(kAll);
  const std::size_t whole = text.size() - 1;  // without the last newline it is complete
  for (std::size_t n = 0; n < whole; ++n) (void)refusal(text.substr(0, n));
  EXPECT_EQ(print(parse(text.substr(0, whole))), kAll);
}

// A changed byte gives a UserError or a program that the verifier can judge and that reads back.
TEST(Text, MutationsNeverDoWorse) {
  const std::string_view alphabet("0123456789-+*(){}[]@:=., \nxi\0\xFF", 29);
  const CounterRng rng(7);
  std::uint64_t draw = 0;
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text(kAll);
    for (int k = 0; k <= round % 3; ++k)
      text[rng.bits(draw) % text.size()] = alphabet[rng.bits(draw + 1) % alphabet.size()],
                            draw += 2;
    Program program;
    try {
      program = parse(text);
    } catch (const UserError&) {
      continue;
    }
    ++accepted;
    const std::string printed = print(program);
    ASSERT_EQ(print(parse(printed)), printed);
    for (const MachineSpec* machine : machines()) (void)verify(program, *machine);
  }
  EXPECT_GT(accepted, 100) << "mutations in numbers and names stay programs";
}

TEST(Text, HugeNumbersAreRefused) {
  for (const char* n : {"99999999999999999999", "9223372036854775807", "-9223372036854775808"}) {
    (void)refusal(around(cat("loop i0 ", n, " {\n}")));
    (void)refusal(around(cat("loop i", n, " 2 {\n}")));
    (void)refusal(around(cat("buffer 1 hbm input b f32 [", n, "]")));
    (void)refusal(around(cat("buffer 1 hbm input b f32 [65536, 65536, 65536, ", n, "]")));
    (void)refusal(around(cat("buffer 1 sbuf internal b f32 [128, ", n, "] @0 x1")));
    (void)refusal(around(cat("buffer 1 sbuf internal b f32 [128, 8] @", n, " x1")));
    (void)refusal(around(cat("buffer 1 sbuf internal b f32 [128, 8] @0 x", n)));
    (void)refusal(around(cat("memset dst=sbuf.0[0+1]@", n, ":f32{1*1}")));
    (void)refusal(around(cat("memset dst=sbuf.0[0+1]@0:f32{1*", n, "}")));
    (void)refusal(around(cat("memset dst=sbuf.0[0+", n, "]@0:f32{1*1}")));
    (void)refusal(around(cat("memset dst=sbuf.", n, "[0+1]@0:f32{1*1}")));
    (void)refusal(around(cat("memset dst=sbuf.0[0+1]@(", n, "*i0):f32{1*1}")));
    (void)refusal(around(cat("tensor_reduce axes=", n)));
  }
}

TEST(Text, LoopsNestToALimit) {
  const auto nested = [](std::size_t depth) {
    std::string open, close;
    for (std::size_t d = 0; d < depth; ++d) open += cat("loop i", d, " 2 {\n"), close += "}\n";
    return around(open + close);
  };
  EXPECT_EQ(parse(nested(kMaxLoopDepth)).extents.size(), kMaxLoopDepth);
  EXPECT_THAT(refusal(nested(kMaxLoopDepth + 1)), ::testing::HasSubstr("nested too deep"));
  EXPECT_THAT(refusal(nested(60000)), ::testing::HasSubstr("nested too deep"));
  EXPECT_THAT(refusal(around("memset dst=" + std::string(100000, '('))),
              ::testing::HasSubstr("cannot read"));
}

TEST(Text, SaysTheLineAndTheNearestName) {
  try {
    (void)parse(around("memste dst=none"));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.report().where, "line 3");
    EXPECT_EQ(e.report().got, "memste dst=none");
    EXPECT_THAT(e.report().fix, ::testing::HasSubstr("memset"));
  }
}

}  // namespace
}  // namespace krait::ir
