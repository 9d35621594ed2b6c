#pragma once

// Time and size units. Simulated time is a 64-bit count of picoseconds; engine costs are cycles of
// that engine's clock and become picoseconds in one place (Clock::to_ps).

#include <cmath>
#include <compare>
#include <cstdint>

namespace krait {

/// Simulated time or duration, picoseconds.
struct Ps {
  std::int64_t value = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of the generated code for one
  constexpr auto operator<=>(const Ps&) const = default;
  constexpr Ps& operator+=(Ps other) {
    value += other.value;
    return *this;
  }
  [[nodiscard]] constexpr double ns() const { return static_cast<double>(value) * 1e-3; }
};
constexpr Ps operator+(Ps a, Ps b) {
  return Ps{a.value + b.value};
}
constexpr Ps operator-(Ps a, Ps b) {
  return Ps{a.value - b.value};
}
constexpr Ps operator*(Ps a, std::int64_t n) {
  return Ps{a.value * n};
}
constexpr Ps max(Ps a, Ps b) {
  return a < b ? b : a;
}
constexpr Ps min(Ps a, Ps b) {
  return b < a ? b : a;
}
/// Rounds to the nearest picosecond.
inline Ps from_ns(double ns) {
  return Ps{std::llround(ns * 1e3)};
}

/// A count of cycles of some engine's clock; fractions appear where a rate divides a size.
struct Cycles {
  double value = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of the generated code for one
  constexpr auto operator<=>(const Cycles&) const = default;
};
constexpr Cycles operator+(Cycles a, Cycles b) {
  return Cycles{a.value + b.value};
}
constexpr Cycles operator*(Cycles a, double n) {
  return Cycles{a.value * n};
}
constexpr Cycles max(Cycles a, Cycles b) {
  return a < b ? b : a;
}

/// A clock; converts cycles to picoseconds, rounding up so that no work is free.
struct Clock {
  double ghz = 1;
  [[nodiscard]] Ps to_ps(Cycles cycles) const {
    return Ps{static_cast<std::int64_t>(std::ceil(cycles.value * 1e3 / ghz - 1e-6))};
  }
};

constexpr std::uint64_t operator""_KiB(unsigned long long n) {
  return n * 1024;
}
constexpr std::uint64_t operator""_MiB(unsigned long long n) {
  return n * 1024 * 1024;
}
constexpr std::uint64_t operator""_GiB(unsigned long long n) {
  return n * 1024 * 1024 * 1024;
}

}  // namespace krait
