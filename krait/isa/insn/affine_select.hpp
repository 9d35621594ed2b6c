#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"
#include "krait/isa/iota_pattern.hpp"
#include "krait/isa/select.hpp"

namespace krait::isa {

/// v(p,i) = the iota pattern;  dst[p,i] = cmp(v, 0) ? on_true[p,i] : on_false. Elements of on_true
/// keep every bit if dst has its dtype, else they go through f32. Source: ISA32.
struct AffineSelect {
  Tile dst, on_true;  // [P, F], SBUF
  IotaPattern pattern;
  AluOp cmp = AluOp::kEqual;  // equal, not_equal, greater, greater_equal
  float on_false = 0;

  static constexpr InsnInfo info{
      .name = "affine_select",
      .engine = Engine::kGpSimd,
      .summary = "keep elements where an affine function compares true with 0",
      .formula = "dst[p,i] = cmp(pattern(p,i), 0) ? on_true[p,i] : on_false",
      .cost_source = {Evidence::kDocumented, "ISA26: 150 + N"}};

  static constexpr auto fields() {
    using T = AffineSelect;
    return std::tuple{out("dst", &T::dst), in("on_true", &T::on_true), attr("pattern", &T::pattern),
                      attr("cmp", &T::cmp), attr("on_false", &T::on_false)};
  }

  static AffineSelect sample(const SampleShape& s) {
    return {.dst = s.out(), .on_true = s.in(), .pattern = counting_pattern(s.n)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("on_true", on_true);
    c.in_sbuf("dst", dst), c.in_sbuf("on_true", on_true);
    c.same_shape("dst", dst, "on_true", on_true);
    check_pattern(c, pattern, dst);
    c.require(cmp == AluOp::kEqual || cmp == AluOp::kNotEqual || cmp == AluOp::kGreater ||
                  cmp == AluOp::kGreaterEqual,
              "alu-op", "affine_select compares with equal, not_equal, greater or greater_equal",
              attr_text(cmp), "negate the pattern for less and less_equal");
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(on_true, p);
      const auto row = m.scratch(x.size()), keep = m.scratch(x.size());
      for_each_value(pattern, p, [&](std::size_t i, std::int32_t v) {
        keep[i] = apply(cmp, static_cast<float>(v), 0);
        row[i] = keep[i] != 0 ? x[i] : on_false;
      });
      store_selected(m, dst, on_true, p, row, [&](std::size_t i) { return keep[i] != 0; });
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return gpsimd_time(s, dst.free_size(), s.gpsimd.base_rate);
  }
};

}  // namespace krait::isa
