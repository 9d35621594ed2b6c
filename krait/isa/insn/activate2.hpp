#pragma once

#include "krait/isa/accumulate.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// t = op1(op0(data, imm0), imm1), each swapped if reversed and rounded to f32; dst = fn(t).
/// (op0, op1) is one of (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass),
/// (subtract, bypass), (bypass, bypass). fn = relu with relu_param r is the manual's prelu: t, or
/// r * t where t < 0. reduce_op folds the row, before it is rounded, onto ScalarE's accumulator of
/// the lane, the register that activation uses; reduce_cmd as there. v4. Source: ISA32.
struct Activate2 {
  Tile dst, data;   // [P, F]
  Tile reduce_res;  // [P, 1], optional
  Operand imm0, imm1;
  AluOp op0 = AluOp::kBypass;
  AluOp op1 = AluOp::kBypass;
  bool reverse0 = false;
  bool reverse1 = false;
  UnaryFn fn = UnaryFn::kCopy;
  float relu_param = 0;
  AluOp reduce_op = AluOp::kAdd;
  ReduceCmd reduce_cmd = ReduceCmd::kDefault;

  static constexpr InsnInfo info{
      .name = "activate2",
      .engine = Engine::kScalar,
      .summary = "two operations with scalars, a table function, and a choice of reductions",
      .formula =
          "dst[p,i] = fn(op1(op0(data[p,i], imm0[p]), imm1[p])); reduce_res[p] = reduce_op_i",
      .cost_source = {
          Evidence::kDerived,
          "ISA26: activation's max(MIN_II, N), plus MIN_II for reduce_res; none for v4"}};

  static constexpr auto fields() {
    using T = Activate2;
    return std::tuple{out("dst", &T::dst),
                      in("data", &T::data),
                      out("reduce_res", &T::reduce_res),
                      operand("imm0", &T::imm0),
                      operand("imm1", &T::imm1),
                      attr("op0", &T::op0),
                      attr("op1", &T::op1),
                      attr("reverse0", &T::reverse0),
                      attr("reverse1", &T::reverse1),
                      attr("fn", &T::fn),
                      attr("relu_param", &T::relu_param),
                      attr("reduce_op", &T::reduce_op),
                      attr("reduce_cmd", &T::reduce_cmd)};
  }

  void check(Checker& c) const {
    c.exists(c.machine().isa.activate2, "v4", "use activation");
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_shape("dst", dst, "data", data);
    if (imm0.is_tile()) c.per_partition("imm0", imm0.tile, dst);
    if (imm1.is_tile()) c.per_partition("imm1", imm1.tile, dst);
    if (imm0.is_tile() && imm1.is_tile()) c.same_dtype("imm0", imm0.tile, "imm1", imm1.tile);
    c.require(legal_pair(), "engine-op", "activate2 has no such pair of operators",
              attr_text(op0) + ", " + attr_text(op1),
              "use (multiply, add), (multiply, subtract), (multiply), (add), (subtract) or none");
    c.require(relu_param == 0 || fn == UnaryFn::kRelu, "relu-param",
              "relu_param belongs to fn = relu", attr_text(fn), "leave it 0");
    c.require(reduce_op == AluOp::kAdd || reduce_op == AluOp::kMax || reduce_op == AluOp::kMin ||
                  reduce_op == AluOp::kAbsMax || reduce_op == AluOp::kAbsMin,
              "reduce-op", "activate2 reduces with add, max, min, abs_max or abs_min",
              attr_text(reduce_op), "use tensor_reduce");
    check_reduce(
        c, Engine::kScalar, command(), reduce_res, dst,
        {ReduceCmd::kIdle, ReduceCmd::kReset, ReduceCmd::kReduce, ReduceCmd::kResetReduce});
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const int lane = data.partition + p;
      const auto x = m.load(data, p);
      const float a = m.load(imm0, p), b = m.load(imm1, p);
      const auto row = m.stage(dst, p);
      const auto argument = m.scratch(x.size());
      apply_row_scalar(op0, x, a, reverse0 && op0 != AluOp::kBypass, argument);
      if (op1 != AluOp::kBypass) apply_row_scalar(op1, argument, b, reverse1, argument);
      apply_function(argument, row);
      accumulate(m, Engine::kScalar, lane, command(), reduce_op, 0, row);
      m.store(dst, p, row);
      if (reduce_res.present()) m.store1(reduce_res, p, m.accumulator(Engine::kScalar, lane));
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const bool narrow = is_16bit(dst.dtype, s) && is_16bit(data.dtype, s);
    const double rate = narrow ? s.scalar_rates.activation_16bit_rate : s.scalar_rates.base_rate;
    Timing t = scalar_time(s, dst.free_size(), rate, {&dst, &data});
    if (reduce_res.present()) t.occupancy = t.occupancy + s.scalar_rates.accumulator_read.value;
    t.needs_table = loads_table(fn);
    t.table = fn;
    return t;
  }

 private:
  [[nodiscard]] ReduceCmd command() const {
    if (reduce_cmd != ReduceCmd::kDefault) return reduce_cmd;
    return reduce_res.present() ? ReduceCmd::kResetReduce : ReduceCmd::kIdle;
  }
  [[nodiscard]] bool legal_pair() const {
    if (op1 == AluOp::kBypass)
      return op0 == AluOp::kMultiply || op0 == AluOp::kAdd || op0 == AluOp::kSubtract ||
             op0 == AluOp::kBypass;
    return op0 == AluOp::kMultiply && (op1 == AluOp::kAdd || op1 == AluOp::kSubtract);
  }
  void apply_function(std::span<const float> argument, std::span<float> row) const {
    if (relu_param == 0) return apply_row(fn, argument, row);
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = argument[i] >= 0 ? argument[i] : relu_param * argument[i];
  }
};

}  // namespace krait::isa
