#pragma once

#include "krait/isa/accumulate.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = exp(src[p,i] - max_value[p]), the difference rounded to f32, exp correctly rounded
/// (assumed, as for activation). reduce_cmd adds the row, before it is rounded to dst's dtype, to
/// VectorE's accumulator of the lane; load_reduce starts it from reduce_init; reduce_res[p], if
/// given, is the accumulator. v4. Source: ISA32, A4.
struct Exponential {
  Tile dst, src;      // [P, F]
  Tile reduce_res;    // [P, 1] of a float type, optional
  Operand max_value;  // [P, 1] f32 or constant
  ReduceCmd reduce_cmd = ReduceCmd::kIdle;
  float reduce_init = 0;

  static constexpr InsnInfo info{
      .name = "exponential",
      .engine = Engine::kVector,
      .summary = "exp after subtracting a row's maximum, optionally with the row sum",
      .formula = "dst[p,i] = exp(src[p,i] - max_value[p]); reduce_res[p] = sum_i",
      .cost_source = {Evidence::kDocumented,
                      "A4: 4 elements a lane and cycle; reading the sum assumed"}};

  static constexpr auto fields() {
    using T = Exponential;
    return std::tuple{out("dst", &T::dst),
                      in("src", &T::src),
                      out("reduce_res", &T::reduce_res),
                      operand("max_value", &T::max_value),
                      attr("reduce_cmd", &T::reduce_cmd),
                      attr("reduce_init", &T::reduce_init)};
  }

  void check(Checker& c) const {
    c.exists(c.machine().isa.exponential, "v4", "use activation exp with a bias");
    c.present("dst", dst), c.present("src", src);
    c.on_chip("dst", dst), c.on_chip("src", src);
    c.same_shape("dst", dst, "src", src);
    c.vector_operand("max_value", max_value, dst);
    c.require(takes(dst.dtype) && dst.dtype != DType::kU32, "operand-dtype",
              "exponential writes f32, tf32, 16-bit floats, f8e4m3, f8e5m2, i32 and short integers",
              describe(dst), "write f32 and convert it (tensor_copy)");
    c.require(takes(src.dtype) && src.dtype != DType::kTf32, "operand-dtype",
              "exponential reads f32, 16-bit floats, f8e4m3, f8e5m2 and integers", describe(src),
              "convert it first (tensor_copy)");
    c.require(!reduce_res.present() || (takes(reduce_res.dtype) && is_float(reduce_res.dtype)),
              "operand-dtype", "reduce_res must be f32, tf32, bf16, f16, f8e4m3 or f8e5m2",
              describe(reduce_res), "keep it in f32");
    c.require(reduce_init == 0 || reduce_cmd == ReduceCmd::kLoadReduce, "reduce-init",
              "reduce_init counts with reduce_cmd = load_reduce only", attr_text(reduce_init),
              "use load_reduce, or leave it 0");
    check_reduce(
        c, Engine::kVector, reduce_cmd, reduce_res, dst,
        {ReduceCmd::kIdle, ReduceCmd::kReduce, ReduceCmd::kResetReduce, ReduceCmd::kLoadReduce});
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const int lane = src.partition + p;
      const auto x = m.load(src, p);
      const float top = m.load(max_value, p);
      const auto row = m.stage(dst, p);
      apply_row_scalar(AluOp::kSubtract, x, top, false, row);
      apply_row(UnaryFn::kExp, row, row);
      accumulate(m, Engine::kVector, lane, reduce_cmd, AluOp::kAdd, reduce_init, row);
      m.store(dst, p, row);
      if (reduce_res.present()) m.store1(reduce_res, p, m.accumulator(Engine::kVector, lane));
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const auto& r = s.vector_rates;
    Timing t = vector_time(s, dst.free_size(), r.exponential, {&dst, &src});
    if (reduce_res.present()) t.occupancy = t.occupancy + r.exponential_accumulator_read.value;
    return t;
  }

 private:
  static bool takes(DType t) {
    return t != DType::kF8E3M4 && t != DType::kF8E4M3Fn && t != DType::kF8E8M0 &&
           t != DType::kF4E2M1;
  }
};

}  // namespace krait::isa
