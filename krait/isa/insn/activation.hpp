#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = fn(data[p,i] * scale[p] + bias[p]);  reduce_res[p] = sum over i, if given.
/// scale is a constant or [P, 1] f32, bias a constant or [P, 1] of any dtype but tf32; a bias of 0
/// is not added (so -0 stays -0). x*scale and +bias are rounded to f32 one after the other
/// (assumed), fn is correctly rounded (assumed: the tables' accuracy is not published); the sum
/// takes the f32 values before rounding to dst's dtype, in order. Source: ISA32,
/// SH32.
struct Activation {
  Tile dst, data;   // [P, F]
  Tile reduce_res;  // [P, 1], optional
  Operand scale = 1.0F;
  Operand bias;
  UnaryFn fn = UnaryFn::kCopy;

  static constexpr InsnInfo info{
      .name = "activation",
      .engine = Engine::kScalar,
      .summary = "a table function of a scaled and biased tile, optionally with its row sum",
      .formula = "dst[p,i] = fn(data[p,i] * scale[p] + bias[p]); reduce_res[p] = sum_i",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, N), plus MIN_II for the row sum"}};

  static constexpr auto fields() {
    using T = Activation;
    return std::tuple{
        out("dst", &T::dst),         in("data", &T::data),      out("reduce_res", &T::reduce_res),
        operand("scale", &T::scale), operand("bias", &T::bias), attr("fn", &T::fn)};
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
    if (reduce_res.present()) c.per_partition("reduce_res", reduce_res, dst);
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
      const float sum = reduce_res.present() ? reduce_row(AluOp::kAdd, row, 0) : 0;
      m.store(dst, p, row);
      if (reduce_res.present()) m.store1(reduce_res, p, sum);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const bool narrow = is_16bit(dst.dtype, s) && is_16bit(data.dtype, s);
    const double rate = narrow ? s.scalar_rates.activation_16bit_rate : s.scalar_rates.base_rate;
    Timing t = scalar_time(s, dst.free_size(), rate, {&dst, &data});
    if (reduce_res.present()) t.occupancy = t.occupancy + s.scalar_rates.accumulator_read.value;
    t.needs_table = fn != UnaryFn::kCopy && fn != UnaryFn::kSquare && fn != UnaryFn::kAbs &&
                    fn != UnaryFn::kRelu && fn != UnaryFn::kSign;
    t.table = fn;
    return t;
  }
};

}  // namespace krait::isa
