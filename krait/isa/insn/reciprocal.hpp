#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = 1 / data[p,i] in f32, rounded once. More accurate and slower than
/// activation(reciprocal). Source: ISA32.
struct Reciprocal {
  Tile dst, data;  // [P, F]

  static constexpr InsnInfo info{.name = "reciprocal",
                                 .engine = Engine::kVector,
                                 .summary = "element-wise 1/x",
                                 .formula = "dst[p,i] = 1 / data[p,i]",
                                 .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, 8N)"}};

  static constexpr auto fields() {
    using T = Reciprocal;
    return std::tuple{out("dst", &T::dst), in("data", &T::data)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_shape("dst", dst, "data", data);
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      const auto row = m.stage(dst, p);
      apply_row_scalar(AluOp::kReciprocal, x, 0, false, row);
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), s.vector_rates.reciprocal, {&dst, &data});
  }
};

}  // namespace krait::isa
