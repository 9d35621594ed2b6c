#pragma once

#include "krait/base/text.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = uniform in [min[p], max[p]]: min + u * (max - min) in f32 with u of 24 random bits in
/// [0, 1), never above max before it is rounded to dst's dtype. v4. The values are ours, not the
/// machine's: XORWOW, with constants that no page prints (engine_state.hpp). Source: ISA32.
struct Rand2 {
  Tile dst;  // [P, F]
  Operand min = 0.0F, max = 1.0F;

  static constexpr InsnInfo info{
      .name = "rand2",
      .engine = Engine::kVector,
      .summary = "uniform random numbers of a range (our generator, not the machine's)",
      .formula = "dst[p,i] = min[p] + uniform() * (max[p] - min[p])",
      .cost_source = {Evidence::kDocumented, "A4: four 32-bit values a lane and cycle"}};

  static constexpr auto fields() {
    using T = Rand2;
    return std::tuple{out("dst", &T::dst), operand("min", &T::min), operand("max", &T::max)};
  }

  void check(Checker& c) const {
    c.exists(c.machine().isa.rand2, "v4", "use rng and scale its bits (tensor_scalar)");
    c.present("dst", dst);
    c.on_chip("dst", dst);
    c.vector_operand("min", min, dst), c.vector_operand("max", max, dst);
    const DType t = dst.dtype;
    c.require(
        t != DType::kF8E3M4 && t != DType::kF8E4M3Fn && t != DType::kF8E8M0 && t != DType::kF4E2M1,
        "operand-dtype", "rand2 writes f32, tf32, 16-bit floats, f8e4m3, f8e5m2 or integers",
        describe(dst), "write f32 and convert it (tensor_copy)");
    c.require(min.is_tile() || max.is_tile() || min.value < max.value, "rand-range",
              "min must lie below max", cat("min = ", min.value, ", max = ", max.value),
              "swap them");
  }

  void execute(Memory& m) const {
    std::vector<std::uint32_t> random(static_cast<std::size_t>(dst.free_size()));
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const float low = m.load(min, p), high = m.load(max, p), width = high - low;
      m.rng(Engine::kVector).draw(dst.partition + p, random);
      const auto row = m.scratch(random.size());
      for (std::size_t i = 0; i < row.size(); ++i) {
        const float offset = unit_interval(random[i]) * width;
        row[i] = std::min(low + offset, high);
      }
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), s.vector_rates.rand2, {&dst});
  }
};

}  // namespace krait::isa
