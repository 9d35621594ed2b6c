#pragma once

#include "krait/isa/accumulate.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// reg = op1(op0(src[p,i], imm0[p]), reg), and dst[p,i] = reg, for i in order: the new value is
/// op1's left operand. reg is VectorE's accumulator of the lane: reset_reduce starts it from op1's
/// identity, load_reduce from imm1, reduce keeps it. It stays f32; dst is rounded. Source: ISA32.
struct TensorScalarCumulative {
  Tile dst, src;  // [P, F]
  Operand imm0, imm1;
  AluOp op0 = AluOp::kMultiply;
  AluOp op1 = AluOp::kAdd;
  ReduceCmd reduce_cmd = ReduceCmd::kResetReduce;

  static constexpr InsnInfo info{
      .name = "tensor_scalar_cumulative",
      .engine = Engine::kVector,
      .summary = "an operation with a scalar, accumulated along the free axis",
      .formula = "dst[p,i] = op1(op0(src[p,i], imm0[p]), dst[p,i-1])",
      .cost_source = {Evidence::kAssumed,
                      "ISA26: never printed; 2N as tensor_tensor_scan, which is as serial"}};

  static constexpr auto fields() {
    using T = TensorScalarCumulative;
    return std::tuple{out("dst", &T::dst),
                      in("src", &T::src),
                      operand("imm0", &T::imm0),
                      operand("imm1", &T::imm1),
                      attr("op0", &T::op0),
                      attr("op1", &T::op1),
                      attr("reduce_cmd", &T::reduce_cmd)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("src", src);
    c.on_chip("dst", dst), c.on_chip("src", src);
    c.same_shape("dst", dst, "src", src);
    c.vector_operand("imm0", imm0, dst), c.vector_operand("imm1", imm1, dst);
    c.vector_op("op0", op0);
    c.require(accumulates_with(op1), "reduce-op",
              "tensor_scalar_cumulative accumulates with add, subtract, multiply, max or min",
              attr_text(op1), "use tensor_tensor_scan");
    for (const Tile* t : {&dst, &src})
      c.require(takes(t->dtype), "operand-dtype",
                "tensor_scalar_cumulative takes f32, 16-bit, f8 and 8- and 16-bit integer tiles",
                describe(*t), "convert it first (tensor_copy)");
    check_reduce(c, Engine::kVector, reduce_cmd, Tile{}, dst,
                 {ReduceCmd::kReduce, ReduceCmd::kResetReduce, ReduceCmd::kLoadReduce});
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const int lane = src.partition + p;
      const auto x = m.load(src, p);
      const float s = m.load(imm0, p);
      float reg = reduce_cmd == ReduceCmd::kReduce       ? m.accumulator(Engine::kVector, lane)
                  : reduce_cmd == ReduceCmd::kLoadReduce ? m.load(imm1, p)
                                                         : identity(op1);
      const auto row = m.stage(dst, p);
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = reg = apply(op1, apply(op0, x[i], s), reg);
      m.set_accumulator(Engine::kVector, lane, reg);
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), s.vector_rates.scalar_cumulative, {&dst, &src});
  }

 private:
  static bool accumulates_with(AluOp op) {
    return op == AluOp::kAdd || op == AluOp::kSubtract || op == AluOp::kMultiply ||
           op == AluOp::kMax || op == AluOp::kMin;
  }
  static bool takes(DType t) {
    return t == DType::kF32 || t == DType::kBf16 || t == DType::kF16 || t == DType::kF8E4M3 ||
           t == DType::kF8E5M2 || t == DType::kF8E4M3Fn || t == DType::kI8 || t == DType::kU8 ||
           t == DType::kI16 || t == DType::kU16;
  }
};

}  // namespace krait::isa
