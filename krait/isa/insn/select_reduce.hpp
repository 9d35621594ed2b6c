#pragma once

#include "krait/isa/accumulate.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"
#include "krait/isa/select.hpp"

namespace krait::isa {

/// dst[p,i] = predicate[p,i] != 0 (== 0 if reversed) ? on_true[p,i] : on_false[p]. Elements of
/// on_true keep every bit if dst has its dtype. max folds the f32 values onto VectorE's accumulator
/// of the lane as reduce_cmd says; reduce_res[p], if given, is the accumulator. Source: ISA32.
struct SelectReduce {
  Tile dst, predicate, on_true;  // [P, F]; predicate i8, u8, i16 or u16
  Tile reduce_res;               // [P, 1], optional
  Operand on_false;
  ReduceCmd reduce_cmd = ReduceCmd::kIdle;
  bool reverse = false;

  static constexpr InsnInfo info{
      .name = "select_reduce",
      .engine = Engine::kVector,
      .summary = "choose between a tile and a scalar by a mask, optionally with the row maximum",
      .formula = "dst[p,i] = predicate[p,i] ? on_true[p,i] : on_false[p]; reduce_res[p] = max_i",
      .cost_source = {Evidence::kAssumed,
                      "ISA26: never printed; N or 2N as tensor_copy_predicated"}};

  static constexpr auto fields() {
    using T = SelectReduce;
    return std::tuple{out("dst", &T::dst),
                      in("predicate", &T::predicate),
                      in("on_true", &T::on_true),
                      out("reduce_res", &T::reduce_res),
                      operand("on_false", &T::on_false),
                      attr("reduce_cmd", &T::reduce_cmd),
                      attr("reverse", &T::reverse)};
  }

  static SelectReduce sample(const SampleShape& s) {
    return {.dst = s.out(), .predicate = s.other(s.n, DType::kU8), .on_true = s.in()};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("predicate", predicate), c.present("on_true", on_true);
    c.on_chip("dst", dst), c.on_chip("predicate", predicate), c.on_chip("on_true", on_true);
    c.same_shape("dst", dst, "predicate", predicate);
    c.same_shape("dst", dst, "on_true", on_true);
    c.not_both_psum("predicate", predicate, "on_true", on_true);
    if (on_false.is_tile()) c.per_partition("on_false", on_false.tile, dst);
    const DType mask = predicate.dtype, t = on_true.dtype;
    c.require(mask == DType::kI8 || mask == DType::kU8 || mask == DType::kI16 ||
                  mask == DType::kU16 || !predicate.present(),
              "operand-dtype", "predicate must be an 8- or 16-bit integer tile",
              describe(predicate), "write the mask as u8");
    c.require(t != DType::kTf32 && t != DType::kI32 && t != DType::kU32, "operand-dtype",
              "on_true must not be tf32 or a 32-bit integer", describe(on_true),
              "use f32, or tensor_copy_predicated");
    c.require(!reduce_res.present() || is_float(reduce_res.dtype), "operand-dtype",
              "reduce_res must have a float dtype", describe(reduce_res), "keep it in f32");
    check_reduce(c, Engine::kVector, reduce_cmd, reduce_res, dst,
                 {ReduceCmd::kIdle, ReduceCmd::kReduce, ReduceCmd::kResetReduce});
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto mask = m.load(predicate, p), x = m.load(on_true, p);
      const float other = m.load(on_false, p);
      const auto row = m.scratch(x.size());
      const auto keep = m.scratch(x.size());  // the mask may lie where dst is written
      for (std::size_t i = 0; i < x.size(); ++i) {
        keep[i] = (mask[i] != 0) != reverse ? 1.0F : 0.0F;
        row[i] = keep[i] != 0 ? x[i] : other;
      }
      accumulate(m, Engine::kVector, on_true.partition + p, reduce_cmd, AluOp::kMax, 0, row);
      store_selected(m, dst, on_true, p, row, [&](std::size_t i) { return keep[i] != 0; });
      if (reduce_res.present())
        m.store1(reduce_res, p, m.accumulator(Engine::kVector, on_true.partition + p));
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const bool one_psum = predicate.in_psum() != on_true.in_psum();
    const auto& r = s.vector_rates;
    return vector_time(s, dst.free_size(),
                       one_psum ? r.select_reduce_one_psum : r.select_reduce_sbuf,
                       {&dst, &predicate, &on_true});
  }
};

}  // namespace krait::isa
