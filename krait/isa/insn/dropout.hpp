#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"
#include "krait/isa/select.hpp"

namespace krait::isa {

/// dst[p,i] = 0 with probability prob[p], else data[p,i], bit for bit; the kept elements are not
/// scaled. prob >= 1 drops all, prob <= 0 none. Draws one value an element from VectorE's
/// generators: which elements fall is ours, not the machine's, whose generator is not public
/// (engine_state.hpp). Source: ISA32.
struct Dropout {
  Tile dst, data;  // [P, F], one dtype
  Operand prob;    // constant or [P, 1]: f32 if data is of integers, any float else

  static constexpr InsnInfo info{
      .name = "dropout",
      .engine = Engine::kVector,
      .summary = "set elements to 0 at random (our generator, not the machine's)",
      .formula = "dst[p,i] = uniform() < prob[p] ? 0 : data[p,i]",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, N)"}};

  static constexpr auto fields() {
    using T = Dropout;
    return std::tuple{out("dst", &T::dst), in("data", &T::data), operand("prob", &T::prob)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_shape("dst", dst, "data", data);
    c.same_dtype("dst", dst, "data", data);
    if (!prob.is_tile()) return;
    c.per_partition("prob", prob.tile, dst);
    c.require(prob.tile.dtype == DType::kF32 || (is_float(data.dtype) && is_float(prob.tile.dtype)),
              "operand-dtype", "prob must be f32, or any float type if data is of floats",
              describe(prob), "keep it in f32");
  }

  void execute(Memory& m) const {
    std::vector<std::uint32_t> random(static_cast<std::size_t>(dst.free_size()));
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      const float limit = m.load(prob, p);
      m.rng(Engine::kVector).draw(data.partition + p, random);
      const auto drop = [&](std::size_t i) { return unit_interval(random[i]) < limit; };
      const auto row = m.scratch(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) row[i] = drop(i) ? 0 : x[i];
      store_selected(m, dst, data, p, row, [&](std::size_t i) { return !drop(i); });
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), s.vector_rates.base, {&dst, &data});
  }
};

}  // namespace krait::isa
