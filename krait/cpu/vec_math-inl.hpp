// Vector exp, softplus and SiLU for f32; a per-target header (no #pragma once: Highway includes it
// once for every instruction set).
//
// Polynomials are minimax fits by the Remez exchange, in relative error of the function:
//   2^r       on [-1/2, 1/2]: degree 5 with constant term 1, 9.2e-8     (so 2^0 is exactly 1)
//   e^r       on [-ln2/2, ln2/2]: degree 6 with terms 1 + r, 3.1e-9
//   atanh(s)  on [0, 1/3]: s + s^3 P(s^2), P of degree 3, 4.6e-9
// On SCALAR and SSE4 MulAdd rounds twice, so the last bits differ there from AVX2 and AVX3; AVX3
// scales by vscalefps, which keeps results below 2^-126 where the others give 0.

#if defined(KRAIT_CPU_VEC_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KRAIT_CPU_VEC_MATH_INL
#undef KRAIT_CPU_VEC_MATH_INL
#else
#define KRAIT_CPU_VEC_MATH_INL
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace krait::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Clamps that keep NaN. x86 returns the second operand when one is NaN; Highway's scalar target
/// the other one.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, float low, V x) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, low)), hn::Set(d, low), x);
#else
  return hn::Max(hn::Set(d, low), x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, float high, V x) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, high)), hn::Set(d, high), x);
#else
  return hn::Min(hn::Set(d, high), x);
#endif
}

/// p * 2^n for integral n; inf for n >= 128, 0 for n <= -127. AVX3: 2^floor(n), exact
/// also outside.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scale_by_power(D d, V p, V n) {
#if HWY_TARGET <= HWY_AVX3
  (void)d;
  return V{_mm512_scalef_ps(p.raw, n.raw)};
#else
  const hn::RebindToSigned<D> di;
  const V clamped = at_most(d, 128, at_least(d, -127, n));
  const auto exponent = hn::Add(hn::ConvertTo(di, clamped), hn::Set(di, 127));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(exponent)));
#endif
}

#if HWY_TARGET <= HWY_AVX3
// clang-format off
alignas(64) inline constexpr float kPowersOfTwo[32] = {  // 2^(k/32)
    1.0F, 1.0218972F, 1.04427373F, 1.06714046F, 1.09050775F, 1.1143868F,
    1.13878858F, 1.1637249F, 1.18920708F, 1.21524739F, 1.24185777F, 1.26905096F,
    1.29683959F, 1.32523668F, 1.35425556F, 1.38390994F, 1.41421354F, 1.44518077F,
    1.47682619F, 1.50916445F, 1.54221082F, 1.5759809F, 1.61049032F, 1.64575553F,
    1.68179286F, 1.71861935F, 1.75625217F, 1.79470909F, 1.8340081F, 1.87416768F,
    1.91520655F, 1.95714414F,
};
// clang-format on

/// 2^m = 2^floor(n) * 2^(k/32) * 2^r with n = m rounded to a multiple of 1/32, k = 32 n mod 32 and
/// |r| <= 1/64. Two multiply-adds and a two-register permute instead of five multiply-adds: the
/// scan is bound by the multiply-add pipes, and this took 8 % off its time. Adding 1.5 * 2^18
/// leaves k in the low five bits, all that vpermt2ps reads. Beyond |m| = 2^17 those bits are wrong
/// and do not matter: the scaling gives 0 or inf.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_fast(D d, V m) {
  const V magic = hn::Set(d, 393216.0F);
  const V shifted = hn::Add(m, magic);
  const V n = hn::Sub(shifted, magic);
  const V r = hn::Sub(m, n);
  const V table{_mm512_permutex2var_ps(hn::Load(d, kPowersOfTwo).raw,
                                       _mm512_castps_si512(shifted.raw),
                                       hn::Load(d, kPowersOfTwo + 16).raw)};
  V p = hn::MulAdd(hn::Set(d, 0.240226497F), r, hn::Set(d, 0.69315733F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  return scale_by_power(d, hn::Mul(p, table), n);
}
#else
/// 2^m, relative error 2.4e-7. For decays, whose exponent dt * A * log2(e) is one product.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_fast(D d, V m) {
  const V n = hn::Round(m);
  const V r = hn::Sub(m, n);
  V p = hn::MulAdd(hn::Set(d, 0.001326472707F), r, hn::Set(d, 0.009671512606F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.05550733743F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.2402224209F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931469776F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  return scale_by_power(d, p, n);
}
#endif

/// e^x, relative error 1.2e-7 for |x| < 87: the argument is reduced with a two-part ln 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_accurate(D d, V x) {
  // Outside, the result is 0 or inf anyway; the clamp keeps n * ln 2 exact and inf - inf away.
  x = at_most(d, 110, at_least(d, -110, x));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504089F)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);  // exact: 10 bits of ln 2
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  V p = hn::MulAdd(hn::Set(d, 0.00138146102F), r, hn::Set(d, 0.00836870980F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416683874F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665207F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.499999935F));
  p = hn::MulAdd(p, hn::Mul(r, r), r);
  return scale_by_power(d, hn::Add(p, hn::Set(d, 1.0F)), n);
}

/// log1p(e^x) for x <= 20, else x; relative error about 3e-7 also for very negative x:
///   max(x, 0) + log1p(e^-|x|),   log1p(w) = 2 atanh(w / (w + 2))
template <class D, class V = hn::Vec<D>>
HWY_INLINE V softplus(D d, V x) {
  const V w = exp_accurate(d, hn::Neg(hn::Abs(x)));
  const V s = hn::Div(w, hn::Add(w, hn::Set(d, 2.0F)));
  const V q = hn::Mul(s, s);
  V p = hn::MulAdd(hn::Set(d, 0.140122294F), q, hn::Set(d, 0.139995706F));
  p = hn::MulAdd(p, q, hn::Set(d, 0.200108495F));
  p = hn::MulAdd(p, q, hn::Set(d, 0.333332066F));
  const V atanh = hn::MulAdd(hn::Mul(s, q), p, s);
  const V sum = hn::Add(at_least(d, 0, x), hn::Add(atanh, atanh));
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 20.0F)), x, sum);
}

/// x / (1 + e^-x); -0 once e^-x overflows.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V silu(D d, V x) {
  return hn::Div(x, hn::Add(hn::Set(d, 1.0F), exp_accurate(d, hn::Neg(x))));
}

}  // namespace krait::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
