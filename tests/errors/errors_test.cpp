// Full texts of messages. Every rule of the instruction checker and of the program verifier has a
// case here that breaks it, and the text that a user then reads is in golden/<area>.txt. A walk
// test compares the cases with the rules that the sources name.
//
// KRAIT_REWRITE_GOLDEN=1 errors_test      rewrites the files; review the diff like code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/dsl/builder.hpp"
#include "krait/ir/text.hpp"
#include "krait/machine/registry.hpp"
#include "tests/errors/rule_sites.hpp"

namespace krait::errors {
namespace {

using namespace isa;  // NOLINT(google-build-using-namespace): cases are instructions

struct Case {
  std::string name;  // what is done wrong
  std::string rule;  // empty: a message without a rule
  std::function<Report()> run;
};

// The Report of the UserError that fn throws. Anything else, above all an InternalError, fails.
template <class Fn>
Report thrown(Fn fn) {
  try {
    fn();
  } catch (const UserError& e) {
    return e.report();
  } catch (const InternalError& e) {
    ADD_FAILURE() << "an InternalError instead: " << e.what();
    return {};
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

struct Bench {
  dsl::KernelBuilder kb;
  explicit Bench(const char* machine) : kb("example", find_machine(machine)) {}
  Tile s = kb.sbuf("s", DType::kF32, 64, {32}), t = kb.sbuf("t", DType::kF32, 64, {16});
  Tile half = kb.sbuf("half", DType::kF32, 32, {32}), col = kb.sbuf("col", DType::kF32, 64, {1});
  Tile b = kb.sbuf("b", DType::kBf16, 64, {32}), bcol = kb.sbuf("bcol", DType::kBf16, 64, {1});
  Tile p = kb.psum("p", DType::kF32, 64, {32}), q = kb.psum("q", DType::kF32, 64, {32});
  Tile pt = kb.psum("pt", DType::kF32, 32, {64});
  dsl::Hbm x = kb.input("x", DType::kF32, {64, 32});
  Tile h = x.view(0, 32, 64, {{1, 32}});
  template <Instruction T>
  void emit(const T& insn) {
    kb.emit(insn, "example.cpp", 7);
  }
};

template <class Fn>
Case emits(std::string name, std::string rule, Fn fn, const char* machine = "trn2") {
  return {std::move(name), std::move(rule), [fn, machine] {
            Bench bench(machine);
            return thrown([&] { fn(bench); });
          }};
}

template <class Fn>
Tile changed(Tile t, Fn fn) {
  fn(t);
  return t;
}

// clang-format off
std::vector<Case> isa_cases() {
  return {
      // every tile
      emits("a tile of rank 0", "access-pattern", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.rank = 0; })}); }),
      emits("a tile larger than any memory", "access-pattern", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.dims[0].count = INT64_MAX; })}); }),
      emits("a step beyond int16", "access-pattern", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.dims[0] = {40000, 2}; })}); }),
      emits("a dimension without elements", "empty-tile", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.dims[0].count = 0; })}); }),
      emits("a start inside an element", "alignment", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.offset += 2; })}); }),
      emits("a 64-bit type on chip", "dtype", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.dtype = DType::kF64; })}); }),
      emits("a start partition off the grid", "partition-start", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.partition = 3, t.partitions = 8; })}); }),
      emits("DMA past the last partition", "partition-start", [](Bench& k) { k.emit(DmaCopy{.dst = changed(k.s, [](Tile& t) { t.partition = 100; }), .src = k.h}); }),
      emits("too many elements per partition", "free-size", [](Bench& k) { k.emit(Memset{.dst = changed(k.p, [](Tile& t) { t.dims[0].count = 4097; })}); }),
      // operands
      emits("a missing operand", "operand-missing", [](Bench& k) { k.emit(TensorCopy{.dst = k.s}); }),
      emits("a compute operand in HBM", "operand-space", [](Bench& k) { k.emit(TensorCopy{.dst = k.s, .src = k.h}); }),
      emits("a GpSimd operand in PSUM", "operand-space", [](Bench& k) { k.emit(Memset{.dst = k.p, .engine = Engine::kGpSimd}); }),
      emits("a product that is not in PSUM", "operand-space", [](Bench& k) { k.emit(NcMatmul{.dst = k.s, .stationary = k.s, .moving = k.s}); }),
      emits("different partitions", "same-partitions", [](Bench& k) { k.emit(TensorCopy{.dst = k.s, .src = k.half}); }),
      emits("different free sizes", "same-free-size", [](Bench& k) { k.emit(TensorCopy{.dst = k.s, .src = k.t}); }),
      emits("different dtypes", "same-dtype", [](Bench& k) { k.emit(TensorCopyPredicated{.dst = k.s, .src = k.b, .predicate = changed(k.s, [](Tile& t) { t.dtype = DType::kU32; })}); }),
      emits("two inputs in PSUM", "psum-operands", [](Bench& k) { k.emit(TensorTensor{.dst = k.s, .a = k.p, .b = k.q}); }),
      emits("a vector operand that is too wide", "per-partition-operand", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .operand0 = k.t}); }),
      emits("a vector operand in bf16", "operand-dtype", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .operand0 = k.bcol}); }),
      emits("a bias in tf32", "operand-dtype", [](Bench& k) { k.emit(Activation{.dst = k.s, .data = k.s, .bias = changed(k.col, [](Tile& t) { t.dtype = DType::kTf32; })}); }),
      emits("a mask in f32", "operand-dtype", [](Bench& k) { k.emit(TensorCopyPredicated{.dst = k.s, .src = k.s, .predicate = k.s}); }),
      // activation
      emits("a constant bias on v2", "activation-bias", [](Bench& k) { k.emit(Activation{.dst = k.s, .data = k.s, .bias = 0.5F}); }, "trn1"),
      emits("a biased reciprocal on v2", "activation-bias", [](Bench& k) { k.emit(Activation{.dst = k.s, .data = k.s, .bias = k.col, .fn = UnaryFn::kReciprocal}); }, "trn1"),
      // operators and engines
      emits("a comparison affine_select lacks", "alu-op", [](Bench& k) { AffineSelect i{.dst = k.s, .on_true = k.s, .cmp = AluOp::kLess}; i.pattern.dims[0] = {1, 32}; k.emit(i); }),
      emits("a unary operator on two tiles", "alu-op", [](Bench& k) { k.emit(TensorTensor{.dst = k.s, .a = k.s, .b = k.s, .op = AluOp::kAbs}); }),
      emits("an engine that cannot memset", "engine", [](Bench& k) { k.emit(Memset{.dst = k.s, .engine = Engine::kSync}); }),
      emits("an engine that cannot copy", "engine", [](Bench& k) { k.emit(TensorCopy{.dst = k.s, .src = k.s, .engine = Engine::kTensor}); }),
      emits("tensor_copy on ScalarE on v2", "engine", [](Bench& k) { k.emit(TensorCopy{.dst = k.s, .src = k.s, .engine = Engine::kScalar}); }, "trn1"),
      emits("tensor_scalar on SyncE", "engine", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .engine = Engine::kSync}); }),
      emits("tensor_scalar on ScalarE on v2", "engine", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .engine = Engine::kScalar}); }, "trn1"),
      emits("nc_transpose on ScalarE", "engine", [](Bench& k) { k.emit(NcTranspose{.dst = k.pt, .src = k.s, .engine = Engine::kScalar}); }),
      emits("rsqrt on VectorE", "engine-op", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .op0 = AluOp::kRsqrt}); }),
      emits("a form ScalarE lacks", "engine-op", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .op0 = AluOp::kMax, .engine = Engine::kScalar}); }),
      emits("a form GpSimdE lacks", "engine-op", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .engine = Engine::kGpSimd}); }),
      emits("rsqrt in a scan", "engine-op", [](Bench& k) { k.emit(TensorTensorScan{.dst = k.s, .a = k.s, .b = k.s, .op0 = AluOp::kRsqrt}); }),
      emits("rsqrt in scalar_tensor_tensor", "engine-op", [](Bench& k) { k.emit(ScalarTensorTensor{.dst = k.s, .data = k.s, .other = k.s, .op1 = AluOp::kRsqrt}); }),
      // what a generation lacks
      emits("range_select on v2", "generation", [](Bench& k) { k.emit(RangeSelect{.dst = k.s, .on_true = k.s, .bound0 = k.col, .bound1 = k.col}); }, "trn1"),
      emits("activate2 on v3", "generation", [](Bench& k) { k.emit(Activate2{.dst = k.s, .data = k.s}); }),
      emits("square on v3", "alu-generation", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .op0 = AluOp::kSquare}); }),
      emits("abs_max on v3", "alu-generation", [](Bench& k) { k.emit(TensorTensor{.dst = k.s, .a = k.s, .b = k.s, .op = AluOp::kAbsMax}); }),
      emits("relu as the second operator", "alu-op", [](Bench& k) { k.emit(TensorScalar{.dst = k.s, .data = k.s, .op1 = AluOp::kRelu}); }, "trn3"),
      emits("a pair of operators activate2 lacks", "engine-op", [](Bench& k) { k.emit(Activate2{.dst = k.s, .data = k.s, .op0 = AluOp::kMax}); }, "trn3"),
      emits("a slope for another function", "relu-param", [](Bench& k) { k.emit(Activate2{.dst = k.s, .data = k.s, .fn = UnaryFn::kExp, .relu_param = 0.5F}); }, "trn3"),
      emits("bits of floats", "bit-dtype", [](Bench& k) { k.emit(TensorTensor{.dst = k.s, .a = k.s, .b = k.s, .op = AluOp::kBitwiseAnd}); }),
      emits("half a bit pattern", "bit-operand", [](Bench& k) { const Tile i = changed(k.s, [](Tile& t) { t.dtype = DType::kI32; }); k.emit(TensorScalar{.dst = i, .data = i, .operand0 = 0.5F, .op0 = AluOp::kLeftShift}); }),
      emits("bits and arithmetic", "alu-class", [](Bench& k) { const Tile i = changed(k.s, [](Tile& t) { t.dtype = DType::kI32; }); k.emit(TensorScalar{.dst = i, .data = i, .op0 = AluOp::kBitwiseAnd, .op1 = AluOp::kAdd}); }),
      // accumulators
      emits("a reduce_cmd that ScalarE lacks", "reduce-cmd", [](Bench& k) { k.emit(Activation{.dst = k.s, .data = k.s, .reduce_cmd = ReduceCmd::kLoadReduce}); }),
      emits("reading an accumulator that idle leaves undefined", "reduce-cmd", [](Bench& k) { k.emit(TensorScalarReduce{.dst = k.s, .data = k.s, .reduce_res = k.col, .reduce_cmd = ReduceCmd::kIdle}); }),
      emits("a start value without load_reduce", "reduce-init", [](Bench& k) { k.emit(Exponential{.dst = k.s, .src = k.s, .reduce_init = 1}); }, "trn3"),
      emits("a range beyond what f32 counts", "range-start", [](Bench& k) { k.emit(RangeSelect{.dst = k.s, .on_true = k.s, .bound0 = k.col, .bound1 = k.col, .range_start = 1 << 24}); }),
      // searches, statistics, shuffles
      emits("nine largest", "eight-elements", [](Bench& k) { k.emit(Max8{.dst = k.t, .src = k.s}); }),
      emits("a search in seven elements", "search-size", [](Bench& k) { k.emit(Max8{.dst = changed(k.t, [](Tile& t) { t.dims[0].count = 8; }), .src = changed(k.s, [](Tile& t) { t.dims[0].count = 7; })}); }),
      emits("statistics of another shape", "bn-shape", [](Bench& k) { k.emit(BnStats{.dst = k.t, .data = k.s}); }),
      emits("statistics of a long row", "bn-size", [](Bench& k) { k.emit(BnStats{.dst = changed(k.t, [](Tile& t) { t.dims[0].count = 6; }), .data = changed(k.s, [](Tile& t) { t.dims[0].count = 513; })}); }),
      emits("statistics that are no triples", "bn-triples", [](Bench& k) { k.emit(BnAggr{.dst = changed(k.t, [](Tile& t) { t.dims[0].count = 2; }), .data = k.s}); }),
      emits("a lane of another quadrant", "shuffle-mask", [](Bench& k) { NcStreamShuffle i{.dst = k.s, .src = k.s}; i.mask.lane[4] = 40; k.emit(i); }),
      emits("lanes beyond the tile", "shuffle-lanes", [](Bench& k) { const Tile few = changed(k.s, [](Tile& t) { t.partitions = 8; }); k.emit(NcStreamShuffle{.dst = few, .src = few}); }),
      // random numbers
      emits("two seeds", "rng-state", [](Bench& k) { k.emit(SetRngSeed{.src_seeds = k.col}); }),
      emits("a state of another size", "rng-state", [](Bench& k) { k.emit(RandGetState{.dst = changed(k.s, [](Tile& t) { t.dtype = DType::kU32; })}); }),
      emits("an empty range", "rand-range", [](Bench& k) { k.emit(Rand2{.dst = k.s, .min = 2.0F, .max = 1.0F}); }, "trn3"),
      // MX
      emits("a pack where a value is needed", "dtype", [](Bench& k) { const Tile x4 = changed(k.s, [](Tile& t) { t.dtype = DType::kF8E5M2x4; }); k.emit(TensorScalar{.dst = x4, .data = x4}); }, "trn3"),
      emits("a pack on v3", "dtype", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.dtype = DType::kF8E5M2x4; })}); }),
      emits("unpacking by a copy", "packed-cast", [](Bench& k) { k.emit(TensorCopy{.dst = k.s, .src = changed(k.s, [](Tile& t) { t.dtype = DType::kF8E5M2x4; })}); }, "trn3"),
      emits("a pack of ones", "packed-value", [](Bench& k) { k.emit(Memset{.dst = changed(k.s, [](Tile& t) { t.dtype = DType::kF8E5M2x4; }), .value = 1}); }, "trn3"),
      emits("packs of another shape", "mx-shape", [](Bench& k) { k.emit(QuantizeMx{.dst = changed(k.s, [](Tile& t) { t.dtype = DType::kF8E5M2x4; }), .src = k.b, .dst_scale = changed(k.t, [](Tile& t) { t.dtype = DType::kU8; })}); }, "trn3"),
      emits("scales off their place", "mx-scale-place", [](Bench& k) { k.emit(QuantizeMx{.dst = changed(k.t, [](Tile& t) { t.dtype = DType::kF8E5M2x4, t.dims[0].count = 8; }), .src = k.b, .dst_scale = changed(k.t, [](Tile& t) { t.dtype = DType::kU8, t.dims[0].count = 8; }), .scale_offset = 2}); }, "trn3"),
      // iota
      emits("a pattern of another size", "iota-pattern", [](Bench& k) { k.emit(Iota{.dst = k.s}); }),
      emits("a pattern that does not encode", "iota-pattern", [](Bench& k) { Iota i{.dst = k.s}; i.pattern.dims[0] = {1, 40000}; k.emit(i); }),
      // DMA
      emits("DMA to PSUM", "dma-psum", [](Bench& k) { k.emit(DmaCopy{.dst = k.p, .src = k.h}); }),
      emits("hardware descriptors on v2", "dge-mode", [](Bench& k) { k.emit(DmaCopy{.dst = k.s, .src = k.h, .dge = DgeMode::kHardware}); }, "trn1"),
      emits("hardware descriptors from VectorE", "dge-engine", [](Bench& k) { k.emit(DmaCopy{.dst = k.s, .src = k.h, .ring = DmaRing::kVector, .dge = DgeMode::kHardware}); }),
      emits("software descriptors from SyncE", "dge-engine", [](Bench& k) { k.emit(DmaCopy{.dst = k.s, .src = k.h, .dge = DgeMode::kSoftware}); }),
      emits("a cast by hardware descriptors", "dge-cast", [](Bench& k) { k.emit(DmaCopy{.dst = k.b, .src = k.h, .dge = DgeMode::kHardware}); }),
      // reductions
      emits("more axes than dimensions", "reduce-axes", [](Bench& k) { k.emit(TensorReduce{.dst = k.col, .data = k.s, .axes = 2}); }),
      emits("an operator that does not reduce", "reduce-op", [](Bench& k) { k.emit(TensorReduce{.dst = k.col, .data = k.s, .op = AluOp::kEqual}); }),
      emits("a result of another size", "reduce-shape", [](Bench& k) { k.emit(TensorReduce{.dst = k.t, .data = k.s}); }),
      // TensorE
      emits("a stationary operand that is too wide", "matmul-size", [](Bench& k) { k.emit(NcMatmul{.dst = k.p, .stationary = changed(k.s, [](Tile& t) { t.dims[0].count = 129; }), .moving = k.s}); }),
      emits("a moving operand that is too wide", "matmul-size", [](Bench& k) { k.emit(NcMatmul{.dst = k.p, .stationary = k.s, .moving = changed(k.s, [](Tile& t) { t.dims[0].count = 513; })}); }),
      emits("a product of another shape", "matmul-shape", [](Bench& k) { k.emit(NcMatmul{.dst = k.p, .stationary = k.s, .moving = k.s}); }),
      emits("a bf16 result on v2", "matmul-dtype", [](Bench& k) { k.emit(NcMatmul{.dst = changed(k.p, [](Tile& t) { t.dtype = DType::kBf16, t.partitions = 32; }), .stationary = k.s, .moving = k.s}); }, "trn1"),
      emits("an integer product", "matmul-dtype", [](Bench& k) { const Tile i = changed(k.s, [](Tile& t) { t.dtype = DType::kI32; }); k.emit(NcMatmul{.dst = changed(k.p, [](Tile& t) { t.partitions = 32; }), .stationary = i, .moving = i}); }),
      emits("f32 times bf16", "matmul-dtype", [](Bench& k) { k.emit(NcMatmul{.dst = changed(k.p, [](Tile& t) { t.partitions = 32; }), .stationary = k.s, .moving = k.b}); }),
      emits("a transpose of another shape", "transpose-shape", [](Bench& k) { k.emit(NcTranspose{.dst = k.p, .src = k.s}); }),
      emits("a transpose too large for VectorE", "transpose-size", [](Bench& k) { k.emit(NcTranspose{.dst = k.pt, .src = k.s, .engine = Engine::kVector}); }),
      emits("a bf16 transpose on v2", "transpose-dtype", [](Bench& k) { k.emit(NcTranspose{.dst = changed(k.pt, [](Tile& t) { t.dtype = DType::kBf16; }), .src = k.b}); }, "trn1"),
  };
}

// What the verifier says of a program's text, after `change`.
Case verified(std::string name, std::string rule, std::string lines, std::function<void(ir::Program&)> change = {}) {
  return {std::move(name), std::move(rule), [lines, change] {
            ir::Program p = ir::parse("program example machine trn2\nbuffer 0 sbuf internal s f32 [128, 32] @64 x1\n"
                                      "buffer 1 psum internal a f32 [128, 512] @0 x2\n" + lines + "\nend\n");
            if (change) change(p);
            const auto problems = ir::verify(p, find_machine("trn2"));
            if (problems.empty()) {
              ADD_FAILURE() << "nothing was found";
              return Report{};
            }
            const auto& [v, where] = problems.front();
            return Report{cat(v.rule, ": ", v.what), where, v.got, v.fix};
          }};
}

std::vector<Case> ir_cases() {
  const auto first_tile = [](auto fn) {
    return [fn](ir::Program& p) {
      auto& insn = std::get<ir::Insn>(p.body[0].value);
      for_each_tile(*insn.def, insn.self(), [&](const FieldInfo&, Tile& t) { fn(t); });
    };
  };
  const std::string whole = "memset dst=sbuf.0[0+128]@64:f32{32*1}";
  return {
      verified("a buffer that is not declared", "reference", "memset dst=sbuf.9[0+128]@64:f32{32*1}"),
      verified("an offset that is not declared", "reference", whole, first_tile([](Tile& t) { t.expr = 9; })),
      verified("an index of no loop", "offset", "memset dst=sbuf.0[0+128]@(64 + 4*i3):f32{1*1}"),
      verified("an offset beyond any memory", "offset", "loop i0 1000000 {\nmemset dst=sbuf.0[0+128]@(64 + 281474976710656*i0):f32{1*1}\n}"),
      verified("a rotation that counts below 0", "offset", "loop i0 2 {\nmemset dst=sbuf.0[0+128]@(64 + 64*((-1 + 1*i0) mod 2)):f32{1*1}\n}"),
      verified("a turn inside an element", "alignment", "loop i0 2 {\nmemset dst=sbuf.0[0+128]@(64 + 2*i0):f32{1*1}\n}"),
      verified("a turn outside the buffer", "bounds", "loop i0 33 {\nmemset dst=sbuf.0[0+128]@(64 + 4*i0):f32{1*1}\n}"),
      verified("a tile across two banks", "psum-bank", "memset dst=psum.1[0+128]@1024:f32{512*1}"),
      verified("an index outside its loop", "loop-scope", "loop i0 2 {\n}\nmemset dst=sbuf.0[0+128]@(64 + 4*i0):f32{1*1}"),
      verified("a loop in itself", "loop-scope", "loop i0 2 {\n}", [](ir::Program& p) { ir::Node copy = p.body[0]; std::get<ir::Loop>(p.body[0].value).body.push_back(copy); }),
      verified("a loop without turns", "loop-extent", "loop i0 2 {\n}", [](ir::Program& p) { p.extents[0] = 0; }),
      verified("SBUF beyond its size", "capacity", "buffer 2 sbuf internal big f32 [128, 60000] @64 x1"),
      verified("PSUM beyond its size", "capacity", "buffer 2 psum internal big f32 [128, 512] @4096 x7"),
  };
}

Case parsed(std::string name, std::string text) {
  return {std::move(name), "", [text] { return thrown([&] { (void)ir::parse(text); }); }};
}

std::vector<Case> text_cases() {
  const std::string head = "program p machine trn2\n";
  std::string deep = head;
  for (int i = 0; i < 33; ++i) deep += cat("loop i", i, " 2 {\n");
  return {
      parsed("another header", "kernel p\n"),
      parsed("no end", head),
      parsed("an open loop", head + "loop i0 2 {\nend\n"),
      parsed("text behind the end", head + "end\nmore\n"),
      parsed("a stray brace", head + "}\nend\n"),
      parsed("a name with an equals sign", "program p=q machine trn2\nend\n"),
      parsed("a parameter twice", head + "param a = 1\nparam a = 2\nend\n"),
      parsed("a buffer of another form", head + "buffer 0 disk input x f32 [1]\nend\n"),
      parsed("a buffer of impossible size", head + "buffer 0 hbm input x f32 [-1]\nend\n"),
      parsed("an on-chip buffer of another shape", head + "buffer 0 sbuf internal x f32 [129, 1] @0 x1\nend\n"),
      parsed("an on-chip buffer outside any memory", head + "buffer 0 sbuf internal x f32 [1, 1] @999999999999 x1\nend\n"),
      parsed("a loop of another form", head + "loop 0 2 {\n}\nend\n"),
      parsed("a loop that runs too often", head + "loop i0 9999999999999 {\n}\nend\n"),
      parsed("a loop index twice", head + "loop i0 2 {\n}\nloop i0 2 {\n}\nend\n"),
      parsed("loops too deep", deep),
      parsed("a misspelled instruction", head + "tensor_cpy dst=none\nend\n"),
      parsed("a misspelled field", head + "memset dts=none\nend\n"),
      parsed("a field twice", head + "memset dst=none dst=none\nend\n"),
      parsed("a value that does not read", head + "memset dst=sbuf\nend\n"),
      parsed("a field without a value", head + "memset dst\nend\n"),
  };
}
// clang-format on

void compare(const std::string& area, const std::vector<Case>& cases) {
  std::string text;
  std::set<std::string> names;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(names.insert(c.name).second) << "two cases of one name";
    const Report report = c.run();
    EXPECT_FALSE(report.what.empty() || report.where.empty() || report.fix.empty())
        << report.text();
    // A text that ends early has no line to show; a broken rule has always something.
    EXPECT_TRUE(c.rule.empty() || !report.got.empty()) << report.text();
    EXPECT_TRUE(c.rule.empty() || report.what.starts_with(c.rule + ": ")) << report.text();
    text += cat("## ", c.name, "\n", report.text(), "\n\n");
  }
  const auto path =
      std::filesystem::path(KRAIT_SOURCE_DIR) / "tests/errors/golden" / (area + ".txt");
  if (std::getenv("KRAIT_REWRITE_GOLDEN") != nullptr) write_file_atomically(path, text);
  EXPECT_EQ(read_file(path), text);
}

std::set<std::string> covered(const std::vector<Case>& cases) {
  std::set<std::string> out;
  for (const Case& c : cases) out.insert(c.rule);
  return out;
}

TEST(Messages, OfTheInstructionChecker) {
  compare("isa", isa_cases());
}
TEST(Messages, OfTheVerifier) {
  compare("ir", ir_cases());
}
TEST(Messages, OfTheProgramText) {
  compare("text", text_cases());
}

TEST(Rules, OfTheInstructionCheckerHaveCases) {
  EXPECT_EQ(covered(isa_cases()), rules_of_folder("krait/isa"));
}
TEST(Rules, OfTheVerifierHaveCases) {
  EXPECT_EQ(covered(ir_cases()), rules_of_folder("krait/ir"));
}

TEST(Rules, OfAnInstructionAreInItsOwnTests) {
  EXPECT_EQ(untested_rules(), std::set<std::string>{});
}

TEST(Remedies, AreInEveryMessage) {
  for (const char* folder : {"krait", "apps"})
    EXPECT_EQ(without_remedy_in_folder(folder), std::set<std::string>{}) << folder;
}
TEST(Remedies, AreMissedHoweverTheyAreLeftOut) {
  EXPECT_EQ(without_remedy(R"(throw UserError(
      Report{cat("a", b), {}, x, {}}); throw MachineFault(Report{"b", "c", "d", ""});
      throw UserError(Report{"e", {}, cat(1, 2), "do f"}); throw UserError(Report{"g"});
      throw InternalError(Report{"h", {}, {}, {}});)")
                .size(),
            3U);
}

// The walk would be worthless if it overlooked a way to write a rule down.
TEST(Rules, AreFoundHoweverTheyAreWritten) {
  EXPECT_EQ(rules_in(R"(c.require(a(b, c) && d, "one", "x"); bad("two", cat("a, b")); v.push_back(
      {"three", 1}); add({"four"}); c.require(name, rule, "five"); require(s == ",", "six");)"),
            (std::set<std::string>{"one", "two", "three", "four", "six"}));
}

}  // namespace
}  // namespace krait::errors
