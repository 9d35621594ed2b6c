#pragma once

#include "krait/isa/accumulate.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = y[p,i] = op0(data[p,i], operand0[p]); reduce_op folds y onto VectorE's accumulator of
/// the lane as reduce_cmd says; reduce_res[p], if given, is the accumulator, negated if wanted.
/// f32, left to right, before y is rounded to dst's dtype. Source: ISA32.
struct TensorScalarReduce {
  Tile dst, data;   // [P, F]
  Tile reduce_res;  // [P, 1], optional
  Operand operand0;
  AluOp op0 = AluOp::kMultiply;
  AluOp reduce_op = AluOp::kAdd;
  ReduceCmd reduce_cmd = ReduceCmd::kResetReduce;
  bool negate = false;

  static constexpr InsnInfo info{
      .name = "tensor_scalar_reduce",
      .engine = Engine::kVector,
      .summary = "one operation with a per-partition scalar, and a reduction of its result",
      .formula = "dst[p,i] = op0(data[p,i], operand0[p]); reduce_res[p] = reduce_op over i of it",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, N) + MIN_II"}};

  static constexpr auto fields() {
    using T = TensorScalarReduce;
    return std::tuple{out("dst", &T::dst),
                      in("data", &T::data),
                      out("reduce_res", &T::reduce_res),
                      operand("operand0", &T::operand0),
                      attr("op0", &T::op0),
                      attr("reduce_op", &T::reduce_op),
                      attr("reduce_cmd", &T::reduce_cmd),
                      attr("negate", &T::negate)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_shape("dst", dst, "data", data);
    c.vector_operand("operand0", operand0, dst);
    c.vector_op("op0", op0);
    c.require(reduce_op == AluOp::kAdd || reduce_op == AluOp::kMultiply ||
                  reduce_op == AluOp::kMax || reduce_op == AluOp::kMin,
              "reduce-op", "tensor_scalar_reduce reduces with add, multiply, max or min",
              attr_text(reduce_op), "use tensor_scalar, then tensor_reduce");
    check_reduce(c, Engine::kVector, reduce_cmd, reduce_res, dst,
                 {ReduceCmd::kIdle, ReduceCmd::kReduce, ReduceCmd::kResetReduce});
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      const float s = m.load(operand0, p);
      const auto row = m.stage(dst, p);
      apply_row_scalar(op0, x, s, false, row);
      accumulate(m, Engine::kVector, data.partition + p, reduce_cmd, reduce_op, 0, row);
      m.store(dst, p, row);
      if (!reduce_res.present()) continue;
      const float total = m.accumulator(Engine::kVector, data.partition + p);
      m.store1(reduce_res, p, negate ? -total : total);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    Timing t = vector_time(s, dst.free_size(), s.vector_rates.base, {&dst, &data});
    if (reduce_res.present()) t.occupancy = t.occupancy + s.vector_rates.accumulator_read.value;
    return t;
  }
};

}  // namespace krait::isa
