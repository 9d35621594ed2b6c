#pragma once

// Exact argument reduction for sin at large arguments. Internal.

#include <cstdint>

namespace krait::numerics_detail {

struct HalfPiRemainder {
  double r;                ///< in [-pi/4, pi/4], relative error below 2^-51; NaN for Inf and NaN
  std::uint64_t quadrant;  ///< 0 to 3
};

/// x = (4 k + quadrant) pi/2 + r for some integer k. For 2^20 <= |x|; any f64.
[[nodiscard]] HalfPiRemainder reduce_half_pi(double x);

}  // namespace krait::numerics_detail
