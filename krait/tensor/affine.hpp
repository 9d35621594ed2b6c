#pragma once

// Index expressions over loop indices: constant + sum of coefficient * index, and an optional
// rotation stride * (count mod modulus) for pools whose buffers rotate over loop iterations. Loop
// indices run 0 .. extent-1; extents are constants.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krait {

struct AffineTerm {
  std::uint16_t loop = 0;  // loop id, unique in a program
  std::int64_t coefficient = 0;
  bool operator==(const AffineTerm&) const = default;
};

/// constant + sum of terms; terms are sorted by loop, no zero coefficients.
struct Affine {
  std::int64_t constant = 0;
  std::vector<AffineTerm> terms;

  Affine() = default;
  Affine(std::int64_t value)
      : constant(value) {}  // NOLINT(google-explicit-constructor): an integer is one
  static Affine index(std::uint16_t loop) {
    Affine out;
    out.terms.push_back({loop, 1});
    return out;
  }
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  /// The value at loop indices `at[loop]`.
  [[nodiscard]] std::int64_t eval(std::span<const std::int64_t> at) const {
    std::int64_t value = constant;
    for (const AffineTerm& term : terms) value += term.coefficient * at[term.loop];
    return value;
  }
  /// Smallest and largest value over 0 <= index < extents[loop].
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(
      std::span<const std::int64_t> extents) const;
  bool operator==(const Affine&) const = default;
};

[[nodiscard]] Affine operator+(const Affine& a, const Affine& b);
[[nodiscard]] Affine operator-(const Affine& a, const Affine& b);
[[nodiscard]] Affine operator*(const Affine& a, std::int64_t factor);
[[nodiscard]] inline Affine operator*(std::int64_t factor, const Affine& a) {
  return a * factor;
}

/// An affine offset plus, for a rotating pool, stride * (count mod modulus).
struct Offset {
  Affine base;
  Affine count;
  std::int64_t modulus = 1;  // 1: no rotation
  std::int64_t stride = 0;

  [[nodiscard]] bool is_constant() const { return base.is_constant() && modulus == 1; }
  [[nodiscard]] std::int64_t eval(std::span<const std::int64_t> at) const {
    const std::int64_t value = base.eval(at);
    return modulus == 1 ? value : value + stride * (count.eval(at) % modulus);
  }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(
      std::span<const std::int64_t> extents) const;
  bool operator==(const Offset&) const = default;
};

/// "4096 + 512*i0 + 2048*((i0*8 + i1) mod 2)"; parse_offset reads it back.
[[nodiscard]] std::string to_string(const Affine& affine);
[[nodiscard]] std::string to_string(const Offset& offset);
[[nodiscard]] std::optional<Offset> parse_offset(std::string_view text);

}  // namespace krait
