#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"
#include "krait/isa/iota_pattern.hpp"

namespace krait::isa {

/// dst[p,i] = offset + p * multiplier + sum over d of index_d(i) * step_d, in 32-bit integers, then
/// converted to dst's dtype. Source: ISA32.
struct Iota {
  Tile dst;  // [P, F], SBUF
  IotaPattern pattern;

  static constexpr InsnInfo info{
      .name = "iota",
      .engine = Engine::kGpSimd,
      .summary = "an affine function of partition and position",
      .formula = "dst[p,i] = offset + p*multiplier + sum_d index_d*step_d",
      .cost_source = {Evidence::kDocumented, "ISA26: 150 + N"}};

  static constexpr auto fields() {
    using T = Iota;
    return std::tuple{out("dst", &T::dst), attr("pattern", &T::pattern)};
  }

  static Iota sample(const SampleShape& s) {
    return {.dst = s.out(), .pattern = counting_pattern(s.n)};
  }

  void check(Checker& c) const {
    c.present("dst", dst);
    c.in_sbuf("dst", dst);
    check_pattern(c, pattern, dst);
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto row = m.scratch_ints(static_cast<std::size_t>(dst.free_size()));
      for_each_value(pattern, p, [&](std::size_t i, std::int32_t v) { row[i] = v; });
      m.store_ints(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return gpsimd_time(s, dst.free_size(), s.gpsimd.base_rate);
  }
};

}  // namespace krait::isa
