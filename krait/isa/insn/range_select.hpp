#pragma once

#include <cfloat>

#include "krait/base/text.hpp"
#include "krait/isa/accumulate.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"
#include "krait/isa/select.hpp"

namespace krait::isa {

/// x(i) = range_start + i in f32; dst[p,i] = comp0(x(i), bound0[p]) and comp1(x(i), bound1[p]) ?
/// on_true[p,i] : -3.4028235e38, the only fill the hardware has: it becomes -Inf in 16- and 8-bit
/// types. Elements of on_true keep every bit if dst has its dtype. max folds the f32 values onto
/// VectorE's accumulator of the lane; reduce_res[p], if given, is the accumulator. v3 and later.
/// Source: ISA32.
struct RangeSelect {
  static constexpr float kFill = -FLT_MAX;

  Tile dst, on_true;    // [P, F], float
  Tile bound0, bound1;  // [P, 1] f32
  Tile reduce_res;      // [P, 1], optional
  AluOp comp0 = AluOp::kGreaterEqual;
  AluOp comp1 = AluOp::kLess;
  std::int32_t range_start = 0;
  ReduceCmd reduce_cmd = ReduceCmd::kResetReduce;

  static constexpr InsnInfo info{
      .name = "range_select",
      .engine = Engine::kVector,
      .summary = "keep the elements whose index lies between two bounds, with the row maximum",
      .formula =
          "dst[p,i] = comp0(start+i, bound0[p]) and comp1(start+i, bound1[p]) ? on_true[p,i] "
          ": -3.4028235e38",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, N), printed for v3"}};

  static constexpr auto fields() {
    using T = RangeSelect;
    return std::tuple{out("dst", &T::dst),
                      in("on_true", &T::on_true),
                      in("bound0", &T::bound0),
                      in("bound1", &T::bound1),
                      out("reduce_res", &T::reduce_res),
                      attr("comp0", &T::comp0),
                      attr("comp1", &T::comp1),
                      attr("range_start", &T::range_start),
                      attr("reduce_cmd", &T::reduce_cmd)};
  }

  static RangeSelect sample(const SampleShape& s) {
    return {.dst = s.out(), .on_true = s.in(), .bound0 = s.other(1), .bound1 = s.other(1)};
  }

  void check(Checker& c) const {
    c.exists(c.machine().isa.range_select, "v3", "use iota and comparisons, then select_reduce");
    c.present("dst", dst), c.present("on_true", on_true);
    c.present("bound0", bound0), c.present("bound1", bound1);
    c.on_chip("dst", dst), c.on_chip("on_true", on_true);
    c.same_shape("dst", dst, "on_true", on_true);
    for (const Tile* t : {&dst, &on_true})
      c.require(is_float(t->dtype), "operand-dtype", "range_select takes float tiles", describe(*t),
                "convert it first (tensor_copy)");
    if (bound0.present()) c.vector_operand("bound0", bound0, dst);
    if (bound1.present()) c.vector_operand("bound1", bound1, dst);
    for (const AluOp op : {comp0, comp1})
      c.require(compares(op), "alu-op",
                "range_select compares with equal, less, less_equal, greater or greater_equal",
                attr_text(op), "turn the range around");
    constexpr std::int64_t kExact = std::int64_t{1} << 24;
    c.require(range_start > -kExact && range_start + dst.free_size() <= kExact, "range-start",
              "indices must stay within 2^24, where f32 holds every integer",
              cat("range_start = ", range_start, ", dst = ", describe(dst)),
              "subtract an offset from range_start and from both bounds");
    check_reduce(c, Engine::kVector, reduce_cmd, reduce_res, dst,
                 {ReduceCmd::kIdle, ReduceCmd::kReduce, ReduceCmd::kResetReduce});
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(on_true, p);
      const float low = m.load1(bound0, p), high = m.load1(bound1, p);
      const auto row = m.scratch(x.size());
      const auto keep = [&](std::size_t i) {
        const auto index = static_cast<float>(range_start + static_cast<std::int64_t>(i));
        return apply(comp0, index, low) != 0 && apply(comp1, index, high) != 0;
      };
      for (std::size_t i = 0; i < x.size(); ++i) row[i] = keep(i) ? x[i] : kFill;
      accumulate(m, Engine::kVector, on_true.partition + p, reduce_cmd, AluOp::kMax, 0, row);
      store_selected(m, dst, on_true, p, row, keep);
      if (reduce_res.present())
        m.store1(reduce_res, p, m.accumulator(Engine::kVector, on_true.partition + p));
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), s.vector_rates.base, {&dst, &on_true});
  }

 private:
  static bool compares(AluOp op) {
    return op == AluOp::kEqual || op == AluOp::kLess || op == AluOp::kLessEqual ||
           op == AluOp::kGreater || op == AluOp::kGreaterEqual;
  }
};

}  // namespace krait::isa
