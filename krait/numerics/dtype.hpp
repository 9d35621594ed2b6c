#pragma once

// The element types of tensors and tiles. Layouts: neuron ISA tables; sources in docs/sources.md.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace krait {

enum class DType : std::uint8_t {
  kF64,
  kF32,
  kTf32,      // 1-8-10 in a 32-bit container
  kBf16,      // 1-8-7
  kF16,       // 1-5-10
  kF8E4M3,    // 1-4-3, bias 7, IEEE-like: exponent 15 is Inf/NaN, largest finite 240
  kF8E5M2,    // 1-5-2, bias 15, Inf, largest finite 57344
  kF8E3M4,    // 1-3-4, bias 3, IEEE-like: exponent 7 is Inf/NaN, largest finite 15.5
  kF8E4M3Fn,  // 1-4-3 OCP, no Inf, NaN = S.1111.111, largest finite 448
  kF8E8M0,    // scale: 2^(bits-127), 0xFF = NaN
  kF4E2M1,    // in a byte's low nibble: 0, .5, 1, 1.5, 2, 3, 4, 6 and negatives
  kI64,
  kI32,
  kU32,
  kI16,
  kU16,
  kI8,
  kU8,
  // Four values of an MX group in one element, the first in the low bits. A pack has no value of
  // its own: it decodes to NaN, encodes to 0, and is moved as bits (element_of names what it
  // holds).
  kF8E5M2x4,
  kF8E4M3Fnx4,
  kF4E2M1x4,
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;         // "bf16": IR text, CLI, docs
  std::string_view safetensors;  // "BF16", empty if that format has no such type
  std::uint8_t size;             // bytes of one element in memory
  bool is_float;
  std::uint8_t exponent_bits;  // floats only
  std::uint8_t mantissa_bits;  // stored bits; floats only
};

/// All types, in enumeration order.
[[nodiscard]] std::span<const DTypeInfo> dtypes();
[[nodiscard]] const DTypeInfo& info(DType dtype);
[[nodiscard]] std::string_view name(DType dtype);
[[nodiscard]] std::size_t size_of(DType dtype);
[[nodiscard]] bool is_float(DType dtype);
/// One of the x4 packs.
[[nodiscard]] bool is_packed(DType dtype);
/// The type of a pack's four values; any other type itself.
[[nodiscard]] DType element_of(DType dtype);
/// By `name`; nothing if unknown.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);

}  // namespace krait
