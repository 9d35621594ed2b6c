#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = src[p,i]; equal dtypes bit for bit, else through f32. Source: ISA32.
/// VectorE always; ScalarE from v3 on (v2: use activation copy); GpSimdE within SBUF.
struct TensorCopy {
  Tile dst, src;  // [P, F]
  Engine engine = Engine::kVector;

  static constexpr InsnInfo info{
      .name = "tensor_copy",
      .engine = Engine::kVector,
      .summary = "copy within SBUF and PSUM, with cast",
      .formula = "dst[p,i] = src[p,i]",
      .cost_source = {Evidence::kDocumented,
                      "ISA26: max(MIN_II, N); fast modes A3; GpSimdE 150 + N assumed"},
      .packed = true};

  static constexpr auto fields() {
    using T = TensorCopy;
    return std::tuple{out("dst", &T::dst), in("src", &T::src), attr("engine", &T::engine)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("src", src);
    c.on_chip("dst", dst), c.on_chip("src", src);
    c.same_shape("dst", dst, "src", src);
    c.no_packed_cast("dst", dst, "src", src);
    c.require(engine == Engine::kVector || engine == Engine::kScalar || engine == Engine::kGpSimd,
              "engine", "tensor_copy runs on VectorE, ScalarE or GpSimdE", attr_text(engine),
              "use VectorE");
    c.require(engine != Engine::kScalar || c.machine().isa.scalar_tensor_copy, "engine",
              "ScalarE has no tensor_copy before v3", std::string(c.machine().name()),
              "use activation with fn=copy");
    if (engine == Engine::kGpSimd) c.in_sbuf("dst", dst), c.in_sbuf("src", src);
  }

  [[nodiscard]] Engine engine_of() const { return engine; }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) m.copy_row(dst, p, src, p);
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const std::int64_t n = dst.free_size();
    if (engine == Engine::kGpSimd) return gpsimd_time(s, n, s.gpsimd.base_rate);
    if (engine == Engine::kVector)
      return vector_time(s, n, vector_copy_rate(s, dst, src), {&dst, &src});
    const bool narrow = is_16bit(dst.dtype, s) && is_16bit(src.dtype, s);
    return scalar_time(s, n, narrow ? s.scalar_rates.copy_16bit_rate : s.scalar_rates.base_rate,
                       {&dst, &src});
  }
};

}  // namespace krait::isa
