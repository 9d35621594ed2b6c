// Vector exp, softplus and SiLU for f32; a per-target header (no #pragma once: Highway includes it
// once for every instruction set).
//
// Polynomials are minimax fits by the Remez exchange, in relative error of the function:
//   2^r       on [0, 1]: constant term 1 (so 2^0 is exactly 1); degree 5: 8.3e-8, degree 6: 2.0e-9
//   2^r       on [-1/2, 1/2]: degree 5 with constant term 1, 9.2e-8
//   e^r       on [-ln2/2, ln2/2]: degree 6 with terms 1 + r, 3.1e-9
//   log1p(w)  on [0, 1]: w P(w), P of degree 8 with constant term 1, 3.3e-8
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

/// p * 2^n for integral n; inf for n >= 128, 0 for n <= -127. AVX3: 2^floor(n), exact also
/// outside.
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
/// m - floor(m), in [0, 1]; 0 for infinite m. One instruction; vscalefps takes the floor itself.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V above_floor(D /*d*/, V m) {
  constexpr int kFloorQuiet = 0x09;  // no fraction bits kept, round down, no inexact exception
  return V{_mm512_reduce_ps(m.raw, kFloorQuiet)};
}

/// 2^m, relative error 2.4e-7. Seven instructions on two ports; nearest rounding needs eight, and a
/// table of 32 powers of two (add, subtract twice, permute, two steps, product, scale) also eight,
/// of which the permute has one port.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_fast(D d, V m) {
  const V r = above_floor(d, m);
  V p = hn::MulAdd(hn::Set(d, 0.001867130738F), r, hn::Set(d, 0.009017028598F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.05579991467F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.2401644496F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931513119F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  return scale_by_power(d, p, m);
}

/// e^-|x|, relative error 1.2e-7 where it is at least 2^-126.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_minus_abs(D d, V x) {
  // Below, the result is 0; the clamp keeps the second part of the product small.
  x = at_least(d, -110, hn::Or(x, hn::SignBit(d)));
  const V log2e = hn::Set(d, 1.44269502F);
  const V m = hn::Mul(x, log2e);
  const V low = hn::MulAdd(x, hn::Set(d, 1.92596303e-8F), hn::MulSub(x, log2e, m));
  const V r = hn::Add(above_floor(d, m), low);
  V p = hn::MulAdd(hn::Set(d, 0.0002161291754F), r, hn::Set(d, 0.001246784563F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.009675451663F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.05548528057F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.2402293056F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931470444F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  return scale_by_power(d, p, m);
}

/// 1 / x for 1 <= x <= 2, relative error 1.2e-7: a 14-bit estimate and one Newton step. A
/// 512-bit vdivps takes 9 to 10 cycles.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal(D d, V x) {
  const V q = hn::ApproximateReciprocal(x);
  return hn::MulAdd(q, hn::NegMulAdd(x, q, hn::Set(d, 1.0F)), q);
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

/// e^-|x|, relative error 1.2e-7 where it is at least 2^-126: the argument is reduced with a
/// two-part ln 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_minus_abs(D d, V x) {
  // Below, the result is 0; the clamp keeps n * ln 2 exact.
  x = at_least(d, -110, hn::Neg(hn::Abs(x)));
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

template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal(D d, V x) {
  return hn::Div(hn::Set(d, 1.0F), x);
}
#endif

/// log1p(e^x), relative error 3e-7 also for very negative x: max(x, 0) + log1p(e^-|x|). Beyond
/// x = 20 the second part is below half an ulp of x, so the result is x, as the definition asks.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V softplus(D d, V x) {
  const V w = exp_minus_abs(d, x);
  V p = hn::MulAdd(hn::Set(d, 0.005364829596F), w, hn::Set(d, -0.03006581202F));
  p = hn::MulAdd(p, w, hn::Set(d, 0.07920456554F));
  p = hn::MulAdd(p, w, hn::Set(d, -0.1375380473F));
  p = hn::MulAdd(p, w, hn::Set(d, 0.1915365603F));
  p = hn::MulAdd(p, w, hn::Set(d, -0.2485716396F));
  p = hn::MulAdd(p, w, hn::Set(d, 0.3332132266F));
  p = hn::MulAdd(p, w, hn::Set(d, -0.4999964797F));
  p = hn::MulAdd(p, w, hn::Set(d, 1.0F));
  return hn::MulAdd(p, w, at_least(d, 0, x));
}

/// x / (1 + e^-x); below 0 as x e^x / (e^x + 1), so that nothing overflows: -0 once e^x is 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V silu(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  const V w = exp_minus_abs(d, x);
  const V gate =
      hn::Mul(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), w, one), reciprocal(d, hn::Add(one, w)));
  return hn::Mul(x, gate);
}

}  // namespace krait::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
