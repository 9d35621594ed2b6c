#pragma once

#include <algorithm>

#include "krait/base/text.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = value, rounded to dst's dtype. VectorE, or GpSimdE within SBUF. Source: ISA32.
struct Memset {
  Tile dst;  // [P, F]
  float value = 0;
  Engine engine = Engine::kVector;

  static constexpr InsnInfo info{
      .name = "memset",
      .engine = Engine::kVector,
      .summary = "fill with a constant",
      .formula = "dst[p,i] = value",
      .cost_source = {Evidence::kDocumented,
                      "ISA26: N/2 if value 0 and 16-bit, else N (v2); later rates assumed"},
      .packed = true};

  static constexpr auto fields() {
    using T = Memset;
    return std::tuple{out("dst", &T::dst), attr("value", &T::value), attr("engine", &T::engine)};
  }

  void check(Checker& c) const {
    c.present("dst", dst);
    c.on_chip("dst", dst);
    c.require(engine == Engine::kVector || engine == Engine::kGpSimd, "engine",
              "memset runs on VectorE or GpSimdE", attr_text(engine), "use VectorE");
    if (engine == Engine::kGpSimd) c.in_sbuf("dst", dst);
    c.require(value == 0 || !is_packed(dst.dtype), "packed-value", "packs can be set to 0 only",
              cat("value = ", value, ", dst = ", describe(dst)), "use quantize_mx");
  }

  [[nodiscard]] Engine engine_of() const { return engine; }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto row = m.stage(dst, p);
      std::fill(row.begin(), row.end(), value);
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    if (engine == Engine::kGpSimd) return gpsimd_time(s, dst.free_size(), s.gpsimd.base_rate);
    const auto& r = s.vector_rates;
    const bool narrow = is_16bit(dst.dtype, s) && (value == 0 || !r.memset_16bit_needs_zero);
    return vector_time(s, dst.free_size(), narrow ? r.memset_16bit : r.memset_32bit, {&dst});
  }
};

}  // namespace krait::isa
