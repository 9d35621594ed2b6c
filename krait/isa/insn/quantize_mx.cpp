#include "krait/isa/insn/quantize_mx.hpp"

#include <algorithm>
#include <cmath>

#include "krait/base/text.hpp"

namespace krait::isa {
namespace {

constexpr int kGroupPartitions = 8, kPack = 4, kQuadrant = 32, kBias = 127;

// X of a group whose largest finite magnitude is amax, kept within what a scale can say.
int scale_exponent(float amax, DType element) {
  if (amax == 0) return -kBias;
  const int largest = element == DType::kF8E5M2 ? 15 : 8;
  return std::max(std::ilogb(amax) - (largest - 1), -kBias);
}

// Exact in f64: src has 11 significant bits.
std::uint32_t pack(std::span<const float> x, int exponent, DType element) {
  std::uint32_t out = 0;
  for (std::size_t k = 0; k < kPack; ++k) {
    const auto scaled = static_cast<float>(std::ldexp(static_cast<double>(x[k]), -exponent));
    out |= static_cast<std::uint32_t>(encode(element, scaled)) << (8 * k);
  }
  return out;
}

}  // namespace

void QuantizeMx::check(Checker& c) const {
  c.exists(c.machine().isa.quantize_mx, "v4", "v4 alone multiplies MX values; use f8 or bf16");
  c.present("dst", dst), c.present("src", src), c.present("dst_scale", dst_scale);
  c.in_sbuf("dst", dst), c.in_sbuf("src", src), c.in_sbuf("dst_scale", dst_scale);
  c.require(src.dtype == DType::kBf16 || src.dtype == DType::kF16, "operand-dtype",
            "quantize_mx takes bf16 and f16", describe(src), "convert it first (tensor_copy)");
  c.require(dst.dtype == DType::kF8E5M2x4 || dst.dtype == DType::kF8E4M3Fnx4, "operand-dtype",
            "quantize_mx writes f8e5m2_x4 or f8e4m3fn_x4", describe(dst), "use one of them");
  c.require(dst_scale.dtype == DType::kU8 || dst_scale.dtype == DType::kF8E8M0, "operand-dtype",
            "scales are u8 or f8e8m0", describe(dst_scale), "use u8");
  if (!dst.present() || !src.present() || !dst_scale.present()) return;
  c.same_partitions("dst", dst, "src", src);
  c.require(src.partitions % kQuadrant == 0 && src.free_size() % kPack == 0, "mx-shape",
            "src needs whole quadrants and a free size that is a multiple of 4", describe(src),
            "pad it with zeros");
  c.require(4 * dst.free_size() == src.free_size() && dst_scale.free_size() == dst.free_size(),
            "mx-shape", "dst and dst_scale have a quarter of src's elements a partition",
            cat("src = ", describe(src), ", dst = ", describe(dst),
                ", dst_scale = ", describe(dst_scale)),
            "give both a quarter of src's free size");
  const bool four = dst_scale.partitions == 4 && src.partitions == kQuadrant && scale_offset == 0;
  c.require(four || dst_scale.partitions == src.partitions, "mx-scale-place",
            "dst_scale covers src's partitions, or 4 for one quadrant at scale_offset 0",
            cat("src = ", describe(src), ", dst_scale = ", describe(dst_scale),
                ", scale_offset = ", scale_offset),
            "declare as many partitions as src has");
  c.require(dst_scale.partition == dst.partition, "mx-scale-place",
            "dst_scale must lie in the quadrants of dst",
            cat("dst starts at partition ", dst.partition, ", dst_scale at ", dst_scale.partition),
            "start both at the same partition");
  c.require(scale_offset == 0 || scale_offset == 4 || scale_offset == 8 || scale_offset == 12,
            "mx-scale-place", "scale_offset is 0, 4, 8 or 12", attr_text(scale_offset), "use 0");
}

void QuantizeMx::execute(Memory& m) const {
  const auto packs = static_cast<std::size_t>(dst.free_size());
  const DType element = element_of(dst.dtype);
  std::vector<std::uint32_t> row(packs);
  std::vector<int> exponents(packs);
  Memory::Bits codes;
  codes.bytes.resize(packs);
  for (int first = 0; first < src.partitions; first += kGroupPartitions) {
    std::vector<float> amax(packs, 0);
    for (int p = first; p < first + kGroupPartitions; ++p) {
      m.begin_row();
      const auto x = m.load(src, p);
      for (std::size_t i = 0; i < x.size(); ++i)
        if (std::isfinite(x[i])) amax[i / kPack] = std::max(amax[i / kPack], std::fabs(x[i]));
    }
    for (std::size_t i = 0; i < packs; ++i) {
      exponents[i] = scale_exponent(amax[i], element);
      codes.bytes[i] = static_cast<std::byte>(exponents[i] + kBias);
    }
    for (int p = first; p < first + kGroupPartitions; ++p) {
      m.begin_row();
      const auto x = m.load(src, p);
      for (std::size_t i = 0; i < packs; ++i)
        row[i] = pack(x.subspan(i * kPack, kPack), exponents[i], element);
      m.store_words(dst, p, row);
    }
    const int group = first % kQuadrant / kGroupPartitions;
    m.store_bits(dst_scale, first / kQuadrant * kQuadrant + scale_offset + group, codes);
  }
}

}  // namespace krait::isa
