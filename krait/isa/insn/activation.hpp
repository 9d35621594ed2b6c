#pragma once

#include "krait/isa/accumulate.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = fn(data[p,i] * scale[p] + bias[p]). reduce_cmd adds the row to ScalarE's accumulator
/// register of the lane (reset to 0 first, unless it says reduce); reduce_res[p], if given, is the
/// register read out. Without a reduce_cmd the row sum alone is what reduce_res gets; the manual's
/// activation_reduce is that.
/// scale is a constant or [P, 1] f32, bias a constant or [P, 1] of any dtype but tf32; a bias of 0
/// is not added (so -0 stays -0). x*scale and +bias are rounded to f32 one after the other
/// (assumed), fn is correctly rounded (assumed: the tables' accuracy is not published); the sum
/// takes the f32 values before rounding to dst's dtype, in order.
/// Source: ISA32, SH32.
struct Activation {
  Tile dst, data;   // [P, F]
  Tile reduce_res;  // [P, 1], optional
  Operand scale = 1.0F;
  Operand bias;
  UnaryFn fn = UnaryFn::kCopy;
  ReduceCmd reduce_cmd = ReduceCmd::kDefault;

  static constexpr InsnInfo info{
      .name = "activation",
      .engine = Engine::kScalar,
      .summary = "a table function of a scaled and biased tile, optionally with its row sum",
      .formula = "dst[p,i] = fn(data[p,i] * scale[p] + bias[p]); reduce_res[p] = sum_i",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, N), plus MIN_II for the row sum"}};

  static constexpr auto fields() {
    using T = Activation;
    return std::tuple{out("dst", &T::dst),
                      in("data", &T::data),
                      out("reduce_res", &T::reduce_res),
                      operand("scale", &T::scale),
                      operand("bias", &T::bias),
                      attr("fn", &T::fn),
                      attr("reduce_cmd", &T::reduce_cmd)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_shape("dst", dst, "data", data);
    c.vector_operand("scale", scale, dst);
    if (bias.is_tile()) {
      c.per_partition("bias", bias.tile, dst);
      c.require(bias.tile.dtype != DType::kTf32, "operand-dtype", "bias must not be tf32",
                describe(bias), "keep it in f32, f16 or bf16");
    }
    c.require(bias.is_tile() || bias.value == 0 || c.machine().isa.activation_constant_bias,
              "activation-bias", "a constant bias other than 0 needs v3 or later", describe(bias),
              "put the constant into a [P, 1] tile (memset)");
    c.require(fn != UnaryFn::kReciprocal || c.machine().isa.activation_reciprocal_bias ||
                  (!bias.is_tile() && bias.value == 0),
              "activation-bias", "activation(reciprocal) takes no bias on this generation",
              describe(bias), "add the bias in an instruction before");
    check_reduce(
        c, Engine::kScalar, command(), reduce_res, dst,
        {ReduceCmd::kIdle, ReduceCmd::kReset, ReduceCmd::kReduce, ReduceCmd::kResetReduce});
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      const float s = m.load(scale, p), b = m.load(bias, p);
      const auto row = m.stage(dst, p);
      const auto argument = m.scratch(x.size());
      apply_row_scalar(AluOp::kMultiply, x, s, false, argument);
      if (b != 0) apply_row_scalar(AluOp::kAdd, argument, b, false, argument);
      apply_row(fn, argument, row);
      accumulate(m, Engine::kScalar, data.partition + p, command(), AluOp::kAdd, 0, row);
      m.store(dst, p, row);
      if (reduce_res.present())
        m.store1(reduce_res, p, m.accumulator(Engine::kScalar, data.partition + p));
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
};

}  // namespace krait::isa
