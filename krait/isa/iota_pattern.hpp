#pragma once

// What iota and affine_select share: checking and walking an IotaPattern.

#include "krait/isa/checker.hpp"
#include "krait/isa/field.hpp"

namespace krait::isa {

/// 0, 1, .. n - 1 on every partition: what samples use.
inline IotaPattern counting_pattern(std::int64_t n) {
  IotaPattern out;
  out.dims[0] = {.step = 1, .count = n};
  return out;
}

inline void check_pattern(Checker& c, const IotaPattern& pattern, const Tile& dst) {
  bool encodable = pattern.rank >= 1 && pattern.rank <= kMaxFreeDims;
  for (std::size_t d = 0; encodable && d < pattern.rank; ++d)
    encodable = pattern.dims[d].count >= 1 && pattern.dims[d].count <= 32767 &&
                pattern.dims[d].step >= INT32_MIN && pattern.dims[d].step <= INT32_MAX;
  c.require(encodable, "iota-pattern",
            "the pattern needs 1 to 4 dimensions, counts of 1 to 32767, 32-bit steps",
            attr_text(pattern), "split the instruction or drop dimensions");
  c.require(!encodable || pattern.size() == dst.free_size(), "iota-pattern",
            "the pattern must have as many positions as dst has elements per partition",
            attr_text(pattern) + ", dst = " + describe(dst),
            "multiply the pattern's counts out to dst's size");
}

/// Calls fn(i, value) for every position of partition p, in order. 32-bit wrap-around.
template <class Fn>
void for_each_value(const IotaPattern& pattern, int p, Fn fn) {
  const std::int64_t start = pattern.offset + std::int64_t{p} * pattern.multiplier;
  const auto n = static_cast<std::size_t>(pattern.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t value = start;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = pattern.rank; d-- > 0;) {
      value += rest % pattern.dims[d].count * pattern.dims[d].step;
      rest /= pattern.dims[d].count;
    }
    fn(i, static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
  }
}

}  // namespace krait::isa
