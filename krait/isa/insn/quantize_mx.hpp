#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// Packs src into MX values with a scale for each group of 8 partitions x 4 consecutive elements:
///   X = floor(log2(amax)) - (Emax - 1), Emax = 8 for f8e4m3fn, 15 for f8e5m2, amax over the group;
///   dst = src / 2^X rounded to nearest even, four to an element, the first in the low byte;
///   dst_scale = X + 127 (f8e8m0's code), 0 for a group of zeros and where X would be below -127.
/// NaN and Inf do not count in amax and convert on their own (assumed). One binade more headroom
/// than OCP's sample algorithm, so that nothing overflows.
///
/// Partition 32q + scale_offset + g of dst_scale holds the scales of src's partitions 32q + 8g to
/// 32q + 8g + 7; its other partitions keep what they hold. v4. Source: ISA32, A4, MX.
struct QuantizeMx {
  Tile dst;        // [P, F/4] f8e5m2_x4 or f8e4m3fn_x4; SBUF
  Tile src;        // [P, F] bf16 or f16, P a multiple of 32, F of 4; SBUF
  Tile dst_scale;  // [P, F/4] u8 or f8e8m0, or [4, F/4] for P = 32; SBUF, dst's quadrants
  std::int32_t scale_offset = 0;  // 0, 4, 8 or 12: which of four scales a quadrant shares

  static constexpr InsnInfo info{
      .name = "quantize_mx",
      .engine = Engine::kVector,
      .summary = "16-bit floats to MX f8 with a scale a group of 32",
      .formula = "dst[p,i] = src[p,i] / 2^X; X = floor(log2(max |src| of the group)) - (Emax - 1)",
      .cost_source = {Evidence::kDocumented, "A4: 4 elements of src a lane and cycle"},
      .packed = true};

  static constexpr auto fields() {
    using T = QuantizeMx;
    return std::tuple{out("dst", &T::dst), in("src", &T::src), out("dst_scale", &T::dst_scale),
                      attr("scale_offset", &T::scale_offset)};
  }
  static QuantizeMx sample(const SampleShape& s) {
    const std::int64_t packs = (s.n + 3) / 4;
    return {.dst = s.other(packs, s.dst_dtype.value_or(DType::kF8E4M3Fnx4)),
            .src = s.other(4 * packs, s.src_dtype.value_or(DType::kBf16)),
            .dst_scale = s.other(packs, DType::kU8)};
  }

  void check(Checker& c) const;
  /// dst_scale keeps the partitions between the scales.
  [[nodiscard]] bool accumulates() const { return dst_scale.partitions != 4; }
  void execute(Memory& m) const;

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, src.free_size(), s.vector_rates.quantize_mx, {&dst, &src});
  }
};

}  // namespace krait::isa
