// The mathematics of rowmath: one vector of f64 in, one out. Included once for every instruction
// set.
//
// Only add, subtract, multiply, divide, square root, comparison and integer arithmetic: these give
// the same bits everywhere. No fused multiply-add. Errors are stated relative to the exact result,
// for arguments that are f32 values; NaN arguments may give anything here, row_map() puts NaN back.

#if defined(KRAIT_NUMERICS_ROWMATH_CORE) == defined(HWY_TARGET_TOGGLE)
#ifdef KRAIT_NUMERICS_ROWMATH_CORE
#undef KRAIT_NUMERICS_ROWMATH_CORE
#else
#define KRAIT_NUMERICS_ROWMATH_CORE
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "krait/numerics/half_pi_reduction.hpp"
#include "krait/numerics/rowmath_coefficients.hpp"

HWY_BEFORE_NAMESPACE();
namespace krait::numerics_detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using DBits = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VBits = hn::Vec<DBits>;
using M = hn::Mask<D>;
inline constexpr D kD{};
inline constexpr DBits kBits{};

HWY_INLINE V set(double x) {
  return hn::Set(kD, x);
}
HWY_INLINE VBits bits(V x) {
  return hn::BitCast(kBits, x);
}
HWY_INLINE V from_bits(VBits x) {
  return hn::BitCast(kD, x);
}
HWY_INLINE V clamp(V x, double low, double high) {
  return hn::Min(hn::Max(x, set(low)), set(high));
}
/// `y` where x >= limit, else `floor`: for functions that vanish on the far negative side.
HWY_INLINE V vanish_below(V x, double limit, double floor, V y) {
  return hn::IfThenElse(hn::Lt(x, set(limit)), set(floor), y);
}
/// x with the low `kDropped` mantissa bits cleared: 53 - kDropped significant bits.
template <int kDropped>
HWY_INLINE V upper_part(V x) {
  return from_bits(hn::And(bits(x), hn::Set(kBits, ~((std::uint64_t{1} << kDropped) - 1))));
}

/// Even and odd powers in two chains, x^2 between: half the latency, which bounds rows.
template <std::size_t kCount>
HWY_INLINE V polynomial(const double (&c)[kCount], V x) {
  const V square = hn::Mul(x, x);
  V first = set(c[kCount - 1]);  // powers of the parity of kCount - 1
  V second = set(c[kCount - 2]);
  for (std::size_t i = kCount - 2; i-- > 0;) {
    V& chain = (kCount - 1 - i) % 2 == 0 ? first : second;
    chain = hn::Add(hn::Mul(chain, square), set(c[i]));
  }
  if constexpr (kCount % 2 == 1) return hn::Add(first, hn::Mul(second, x));
  return hn::Add(second, hn::Mul(first, x));
}

/// Adding 1.5 * 2^52 rounds to an integer, whose two's complement then stands in the low bits.
inline constexpr double kRounder = 0x1.8p52;
// E^+-708 is normal in f64, and overflows or vanishes in f32.
inline constexpr double kExpLimit = 708;

/// e^(x + low) = 2^n (1 + tail).
struct ExpParts {
  VBits exponent;  // n << 52
  V tail;          // relative error below 2^-52 if low is 0
};

/// |x| <= kExpLimit, |low| < 2^-20 max(1, |x|). x - n ln2 is exact up to ln2's small second part.
HWY_INLINE ExpParts exp_parts(V x, V low) {
  const V shifted = hn::Add(hn::Mul(x, set(kLog2E)), set(kRounder));
  const V n = hn::Sub(shifted, set(kRounder));
  const V first = hn::Sub(x, hn::Mul(n, set(kLn2Part1)));
  const V r = hn::Sub(first, hn::Sub(hn::Mul(n, set(kLn2Part2)), low));
  const V tail = hn::Add(r, hn::Mul(hn::Mul(r, r), polynomial(kExpTail, r)));
  return {hn::ShiftLeft<52>(bits(shifted)), tail};
}

/// e^(x + low), error below 2^-51. The conditions of exp_parts.
HWY_INLINE V exp_sum(V x, V low) {
  const ExpParts parts = exp_parts(x, low);
  return from_bits(hn::Add(bits(hn::Add(parts.tail, set(1))), parts.exponent));
}

HWY_INLINE V exp_within(V x) {
  return exp_sum(x, hn::Zero(kD));
}
HWY_INLINE V exp_clamped(V x) {
  return exp_within(clamp(x, -kExpLimit, kExpLimit));
}

/// e^x - 1 for 0 <= x <= kExpLimit, error below 2^-51: for n = 0 the tail itself.
HWY_INLINE V expm1_within(V x) {
  const ExpParts parts = exp_parts(x, hn::Zero(kD));
  const V scale = from_bits(hn::Add(bits(set(1)), parts.exponent));
  return hn::Add(hn::Mul(parts.tail, scale), hn::Sub(scale, set(1)));
}

/// ln(1 + f) by 2 atanh(f / (2 + f)), for 1 + f in [sqrt(1/2), sqrt(2)]; error below 2^-51.
HWY_INLINE V log1p_reduced(V f) {
  const V s = hn::Div(f, hn::Add(f, set(2)));
  const V z = hn::Mul(s, s);
  return hn::Add(hn::Add(s, s), hn::Mul(hn::Mul(s, z), polynomial(kLogTail, z)));
}

/// ln x = n ln2 + ln m, m in [sqrt(1/2), sqrt(2)). Positive, finite, normal x; error below 2^-50.
HWY_INLINE V log_positive(V x) {
  constexpr std::uint64_t kOne = 0x3FF0000000000000ULL;
  constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDULL;
  const VBits moved = hn::Add(bits(x), hn::Set(kBits, kOne - kSqrtHalf));
  const VBits mantissa = hn::And(moved, hn::Set(kBits, 0x000FFFFFFFFFFFFFULL));
  const V m = from_bits(hn::Add(mantissa, hn::Set(kBits, kSqrtHalf)));
  const VBits field = hn::ShiftRight<52>(moved);  // biased; 2^52 + field as f64 by its bits
  const V n = hn::Sub(from_bits(hn::Or(field, bits(set(0x1p52)))), set(0x1p52 + 1023));
  const V log_m = log1p_reduced(hn::Sub(m, set(1)));
  return hn::Add(hn::Mul(n, set(kLn2Part1)), hn::Add(hn::Mul(n, set(kLn2Part2)), log_m));
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e), e = e^-|x|. For e > sqrt(2) - 1 the argument is halved.
HWY_INLINE V softplus(V x) {
  const V e = exp_clamped(hn::Neg(hn::Abs(x)));
  const M is_large = hn::Lt(set(kSqrt2 - 1), e);
  const V f = hn::IfThenElse(is_large, hn::Mul(hn::Sub(e, set(1)), set(0.5)), e);
  const V log = hn::Add(hn::IfThenElseZero(is_large, set(kLn2Part1 + kLn2Part2)), log1p_reduced(f));
  const V sum = hn::Add(hn::Max(x, hn::Zero(kD)), log);
  return vanish_below(x, -kExpLimit, 0.0, sum);
}

HWY_INLINE V sigmoid(V x) {
  const V y = hn::Div(set(1), hn::Add(set(1), exp_clamped(hn::Neg(x))));
  return vanish_below(x, -kExpLimit, 0.0, y);
}

/// x / (1 + e^-(y + low)): x times the sigmoid of a sum, |y| <= kExpLimit.
HWY_INLINE V times_sigmoid(V x, V y, V low) {
  return hn::Div(x, hn::Add(set(1), exp_sum(hn::Neg(y), hn::Neg(low))));
}

HWY_INLINE V silu(V x) {
  const V y = times_sigmoid(x, clamp(x, -kExpLimit, kExpLimit), hn::Zero(kD));
  return vanish_below(x, -kExpLimit, -0.0, y);
}

/// tanh(ln(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2), e = e^x; beyond 300 the ratio is 1.
HWY_INLINE V mish(V x) {
  const V e = exp_within(clamp(x, -kExpLimit, 300));
  const V n = hn::Mul(e, hn::Add(e, set(2)));
  return vanish_below(x, -kExpLimit, -0.0, hn::Mul(x, hn::Div(n, hn::Add(n, set(2)))));
}

/// From 22 up it is 1 in f64.
HWY_INLINE V tanh(V x) {
  const V t = expm1_within(clamp(hn::Mul(hn::Abs(x), set(2)), 0, 44));
  return hn::CopySign(hn::Div(t, hn::Add(t, set(2))), x);
}

/// The upper normal tail Q(a) = 1 - Phi(a), a >= 0, with a^2 / 2 <= kExpLimit given exactly.
HWY_INLINE V normal_tail(V a, V half_square) {
  const V inverse = hn::Div(set(1), hn::Add(a, set(2)));
  const V ratio = polynomial(kTailRatio, hn::Mul(hn::Sub(a, set(2)), inverse));
  return hn::Mul(hn::Mul(ratio, inverse), exp_within(hn::Neg(half_square)));
}

/// Below 1 a polynomial in x^2; from there 1 - 2 Q(x sqrt 2), which is 1 in f64 long before 26.
HWY_INLINE V erf(V x) {
  const V a = hn::Min(hn::Abs(x), set(26));
  const V square = hn::Mul(a, a);
  const V near = hn::Mul(a, polynomial(kErfRatio, square));
  const V tail = normal_tail(hn::Mul(a, set(kSqrt2)), square);
  const V far = hn::Sub(set(1), hn::Add(tail, tail));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, set(1)), near, far), x);
}

HWY_INLINE V gelu(V x) {
  constexpr double kLimit = 37.5;  // a^2 / 2 = 703; x Q(x) is 0 in f32 from 15 on
  const V a = hn::Min(hn::Abs(x), set(kLimit));
  const V tail = normal_tail(a, hn::Mul(hn::Mul(a, a), set(0.5)));
  const V phi = hn::IfThenElse(hn::Lt(x, hn::Zero(kD)), tail, hn::Sub(set(1), tail));
  return vanish_below(x, -kLimit, -0.0, hn::Mul(x, phi));
}

/// 1.702 x in two parts, the first exact: an error in the exponent is one of the result, not
/// relative.
HWY_INLINE V gelu_apprx_sigmoid(V x) {
  constexpr double kLimit = 415;  // 1.702 * 415 = 706
  const V within = clamp(x, -kLimit, kLimit);
  const V y = times_sigmoid(x, hn::Mul(within, set(kGeluSigmoidPart1)),
                            hn::Mul(within, set(kGeluSigmoidPart2)));
  return vanish_below(x, -kLimit, -0.0, y);
}

/// x / (1 + e^-y), y = 2 sqrt(2/pi) (x + 0.044715 x^3) = x (a + b x^2), again in two parts: x^2 has
/// 48 bits, split in 26 + 22; b is split in 26 + 53, the sum in 29 + the rest: high * x is exact.
HWY_INLINE V gelu_apprx_tanh(V x) {
  constexpr double kLimit = 20;  // y = 602
  const V within = clamp(x, -kLimit, kLimit);
  const V square = hn::Mul(within, within);
  const V square_high = upper_part<27>(square);
  const V square_low = hn::Sub(square, square_high);
  const V a = set(kGeluTanhLinearPart1);
  const V cubic = hn::Mul(square_high, set(kGeluTanhCubicPart1));
  const V cubic_low = hn::Add(hn::Mul(square_low, set(kGeluTanhCubicPart1)),
                              hn::Mul(square, set(kGeluTanhCubicPart2)));
  const V sum = hn::Add(a, cubic);  // Knuth's two-sum: sum + error = a + cubic exactly
  const V back = hn::Sub(sum, a);
  const V error = hn::Add(hn::Sub(a, hn::Sub(sum, back)), hn::Sub(cubic, back));
  const V low = hn::Add(error, hn::Add(cubic_low, set(kGeluTanhLinearPart2)));
  const V high = upper_part<24>(sum);
  const V rest = hn::Add(hn::Sub(sum, high), low);
  const V y = times_sigmoid(x, hn::Mul(high, within), hn::Mul(rest, within));
  return vanish_below(x, -kLimit, -0.0, y);
}

/// atan(a) = base + atan(t): t = a up to tan(pi/8), then (a - 1) / (a + 1) up to tan(3 pi/8),
/// then -1 / a.
HWY_INLINE V arctan(V x) {
  const V a = hn::Abs(x);
  const M is_middle = hn::Lt(set(kSqrt2 - 1), a);
  const M is_far = hn::Lt(set(kSqrt2 + 1), a);
  const V quarters = hn::IfThenElse(is_far, set(2), hn::IfThenElseZero(is_middle, set(1)));
  V above = hn::IfThenElse(is_middle, hn::Sub(a, set(1)), a);
  V below = hn::IfThenElse(is_middle, hn::Add(a, set(1)), set(1));
  above = hn::IfThenElse(is_far, set(-1), above);
  below = hn::IfThenElse(is_far, a, below);
  const V t = hn::Div(above, below);
  const V z = hn::Mul(t, t);
  const V small = hn::Add(hn::Mul(hn::Mul(t, z), polynomial(kAtanTail, z)),
                          hn::Mul(quarters, set(kPiOver4Part2)));
  return hn::CopySign(hn::Add(hn::Mul(quarters, set(kPiOver4Part1)), hn::Add(t, small)), x);
}

/// Overwrites the lanes of r and quadrant whose |x| is too large for the reduction by parts.
inline HWY_NOINLINE void reduce_large_lanes(V x, V& r, VBits& quadrant) {
  constexpr std::size_t kMaxLanes = hn::MaxLanes(D());
  HWY_ALIGN double xs[kMaxLanes], rs[kMaxLanes];
  HWY_ALIGN std::uint64_t quadrants[kMaxLanes];
  hn::Store(x, kD, xs);
  hn::Store(r, kD, rs);
  hn::Store(quadrant, kBits, quadrants);
  for (std::size_t i = 0; i < hn::Lanes(kD); ++i) {
    if (xs[i] >= -0x1p20 && xs[i] <= 0x1p20) continue;
    const HalfPiRemainder remainder = reduce_half_pi(xs[i]);
    rs[i] = remainder.r;
    quadrants[i] = remainder.quadrant;
  }
  r = hn::Load(kD, rs);
  quadrant = hn::Load(kBits, quadrants);
}

/// x - n pi/2 in parts of 33 bits: every product is exact, and each difference either cancels, then
/// it is exact, or does not, then its rounding is small beside it.
HWY_INLINE V sin(V x) {
  const V shifted = hn::Add(hn::Mul(x, set(kTwoOverPi)), set(kRounder));
  const V n = hn::Sub(shifted, set(kRounder));
  V r = hn::Sub(x, hn::Mul(n, set(kHalfPiPart1)));
  r = hn::Sub(r, hn::Mul(n, set(kHalfPiPart2)));
  r = hn::Sub(r, hn::Mul(n, set(kHalfPiPart3)));
  r = hn::Sub(r, hn::Mul(n, set(kHalfPiPart4)));
  VBits quadrant = bits(shifted);
  if (!hn::AllTrue(kD, hn::Le(hn::Abs(x), set(0x1p20)))) reduce_large_lanes(x, r, quadrant);

  const V z = hn::Mul(r, r);
  const V sine = hn::Add(r, hn::Mul(hn::Mul(r, z), polynomial(kSinTail, z)));
  const V cosine = hn::Add(hn::Sub(set(1), hn::Mul(z, set(0.5))),
                           hn::Mul(hn::Mul(z, z), polynomial(kCosTail, z)));
  const VBits odd = hn::And(quadrant, hn::Set(kBits, 1U));
  const VBits negative = hn::ShiftLeft<62>(hn::And(quadrant, hn::Set(kBits, 2U)));
  const M is_odd = hn::RebindMask(kD, hn::Eq(odd, hn::Set(kBits, 1U)));
  const V y = from_bits(hn::Xor(bits(hn::IfThenElse(is_odd, cosine, sine)), negative));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(kD)), x, y);  // keeps -0
}

HWY_INLINE V exp(V x) {
  const V infinity = set(std::numeric_limits<double>::infinity());
  const V y = hn::IfThenElse(hn::Lt(set(kExpLimit), x), infinity, exp_clamped(x));
  return vanish_below(x, -kExpLimit, 0.0, y);
}

HWY_INLINE V log(V x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  V y = hn::IfThenElse(hn::Lt(x, set(kInfinity)), log_positive(x), x);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(kD)), set(-kInfinity), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(kD)), set(std::numeric_limits<double>::quiet_NaN()), y);
}

HWY_INLINE V sign(V x) {
  const V minus = hn::IfThenElseZero(hn::Lt(x, hn::Zero(kD)), set(-1));
  return hn::IfThenElse(hn::Lt(hn::Zero(kD), x), set(1), minus);
}

}  // namespace krait::numerics_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, once an instruction set
