#include "krait/numerics/half_pi_reduction.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "krait/base/error.hpp"
#include "krait/numerics/rowmath_coefficients.hpp"

// Payne and Hanek's method. |x| = m 2^e with an integer m < 2^53. Of the binary expansion of 2/pi
// only the bits matter whose product with m 2^e is below 4; 192 of them leave an error below
// 2^(53 - 190). The closest that an f64 comes to a multiple of pi/2 leaves about 2^-62, so 75 bits
// remain.

namespace krait::numerics_detail {
namespace {

__extension__ using Wide = unsigned __int128;

struct Fixed192 {
  std::uint64_t word[3];  // most significant first; value = word / 2^190: two integer bits
};

/// 192 bits of 2/pi, the first of which has weight 2^1 after multiplication with 2^e.
Fixed192 window(int e) {
  // Bit i of the expansion (i = 0 has weight 1/2) gets weight 2^(e - 1 - i).
  const int first = e - 2;
  KRAIT_ASSERT(first >= -64);
  Fixed192 result{};
  for (int i = 0; i < 3; ++i) {
    const int start = first + 64 * i;
    const int index = start >= 0 ? start / 64 : -1;
    const int shift = start - 64 * index;
    const std::uint64_t high = index >= 0 ? kTwoOverPiBits[index] : 0;
    const std::uint64_t low = kTwoOverPiBits[index + 1];
    result.word[i] = shift == 0 ? high : (high << shift) | (low >> (64 - shift));
  }
  return result;
}

/// value * m modulo 4
Fixed192 times(const Fixed192& value, std::uint64_t m) {
  Fixed192 product{};
  Wide carry = 0;
  for (int i = 2; i >= 0; --i) {
    carry += Wide{value.word[i]} * m;
    product.word[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  return product;
}

void negate(Fixed192& value) {
  std::uint64_t carry = 1;
  for (int i = 2; i >= 0; --i) {
    value.word[i] = ~value.word[i] + carry;
    carry = carry != 0 && value.word[i] == 0 ? 1 : 0;
  }
}

/// The value of the top 64 bits from the first that is set.
double leading(const Fixed192& value) {
  for (int i = 0; i < 3; ++i) {
    if (value.word[i] == 0) continue;
    const int zeros = std::countl_zero(value.word[i]);
    std::uint64_t top = value.word[i] << zeros;
    if (zeros != 0 && i < 2) top |= value.word[i + 1] >> (64 - zeros);
    return std::ldexp(static_cast<double>(top), 2 - 64 * (i + 1) - zeros);
  }
  return 0;
}

}  // namespace

HalfPiRemainder reduce_half_pi(double x) {
  if (!std::isfinite(x)) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const auto bits = std::bit_cast<std::uint64_t>(std::fabs(x));
  const std::uint64_t m = (bits & 0xFFFFFFFFFFFFFULL) | 0x10000000000000ULL;
  const int e = static_cast<int>(bits >> 52) - 1075;
  Fixed192 turns = times(window(e), m);  // |x| / (pi/2), modulo 4
  std::uint64_t quadrant = turns.word[0] >> 62;
  turns.word[0] &= (std::uint64_t{1} << 62) - 1;
  const bool past_half = (turns.word[0] >> 61) != 0;  // nearer to the next multiple
  if (past_half) {
    turns.word[0] |= std::uint64_t{3} << 62;  // minus one
    negate(turns);
    quadrant += 1;
  }
  double r = leading(turns) * (kPiOver4Part1 * 2);
  if (past_half) r = -r;
  if (x < 0) return {-r, (0 - quadrant) & 3};
  return {r, quadrant & 3};
}

}  // namespace krait::numerics_detail
