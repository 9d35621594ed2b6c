#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[f,p] = src[p,f]. TensorE: up to 128 x 128, SBUF to PSUM; VectorE: up to 32 x 32.
/// TensorE before v3 multiplies by the identity, so one NaN or Inf spreads over its row of dst;
/// later generations and VectorE move bits. Source: ISA32, A3.
struct NcTranspose {
  Tile dst, src;  // [F, P], [P, F]; one dtype
  Engine engine = Engine::kTensor;

  static constexpr InsnInfo info{
      .name = "nc_transpose",
      .engine = Engine::kTensor,
      .summary = "transpose partitions and free axis",
      .formula = "dst[f,p] = src[p,f]",
      .cost_source = {
          Evidence::kDocumented,
          "A2 A3 ISA26: max(P, 64) cycles a pass on TensorE, as nc_matmul (ISA26 prints "
          "max(P, min(64, F))); max(MIN_II, N) on VectorE"}};

  static constexpr auto fields() {
    using T = NcTranspose;
    return std::tuple{out("dst", &T::dst), in("src", &T::src), attr("engine", &T::engine)};
  }

  static NcTranspose sample(const SampleShape& s) {
    const DType dtype = s.dst_dtype.value_or(s.src_dtype.value_or(s.dtype));
    return {.dst = sample_tile(s.dst.value_or(Space::kPsum), dtype, s.n, s.partitions),
            .src = s.in()};
  }

  void check(Checker& c) const;
  [[nodiscard]] Engine engine_of() const { return engine; }
  void execute(Memory& m) const;

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    if (engine == Engine::kVector)
      return vector_time(s, src.free_size(), s.vector_rates.base, {&dst, &src});
    const bool f32 = src.element_bytes() == 4;
    Timing out = tensor_time(s, src.free_size(), src.partitions,
                             f32 ? s.tensor.passes_f32_transpose : s.tensor.passes, 1);
    out.macs = std::int64_t{src.partitions} * src.partitions * src.free_size();
    return out;
  }

 private:
  void move_bits(Memory& m) const;
  void multiply(Memory& m) const;
};

}  // namespace krait::isa
