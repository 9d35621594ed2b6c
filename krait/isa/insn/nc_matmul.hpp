#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[m,n] (+)= sum over k of stationary[k,m] * moving[k,n]:
/// k ascending, one f32 fused multiply-add chain an element (the array's own order is not
/// published); operands are exact in f32. Accumulating onto PSUM that no product has started is
/// undefined and reported. Source: ISA32, A2.
struct NcMatmul {
  Tile dst;         // [M, N] f32, one PSUM bank
  Tile stationary;  // [K, M], SBUF, K and M <= 128
  Tile moving;      // [K, N], SBUF, N <= 512 (v4: 4096)
  bool accumulate = false;
  bool onezero = false;  // a promise that one f32 operand holds only 0 and 1: fewer passes; a
                         // broken one is reported

  static constexpr InsnInfo info{.name = "nc_matmul",
                                 .engine = Engine::kTensor,
                                 .summary = "matrix product on the systolic array, into PSUM",
                                 .formula = "dst[m,n] (+)= sum_k stationary[k,m] * moving[k,n]",
                                 .cost_source = {Evidence::kDocumented,
                                                 "A2 KO AGENT: max(N, 64) cycles a pass, f32 4 "
                                                 "passes; 8 cycles more a pass measured on v3"}};

  static constexpr auto fields() {
    using T = NcMatmul;
    return std::tuple{out("dst", &T::dst), in("stationary", &T::stationary),
                      in("moving", &T::moving), attr("accumulate", &T::accumulate),
                      attr("onezero", &T::onezero)};
  }

  static NcMatmul sample(const SampleShape& s) {
    return {.dst = sample_tile(s.dst.value_or(Space::kPsum), s.dst_dtype.value_or(DType::kF32), s.m,
                               s.n),
            .stationary = s.in(s.m),
            .moving = s.other()};
  }

  void check(Checker& c) const;
  [[nodiscard]] bool accumulates() const { return accumulate; }
  void execute(Memory& m) const;

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const bool f32 = stationary.dtype == DType::kF32;
    const auto& t = s.tensor;
    const double passes = f32 ? (onezero ? t.passes_f32_onezero : t.passes_f32) : t.passes;
    const int instructions = f32 && !onezero ? t.instructions_f32.value : 1;
    Timing out = tensor_time(s, stationary.free_size(), moving.free_size(), passes, instructions);
    out.macs = std::int64_t{stationary.partitions} * stationary.free_size() * moving.free_size();
    return out;
  }
};

}  // namespace krait::isa
