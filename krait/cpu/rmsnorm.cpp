// The hand-written RMSNorm. A group is read twice, the second time from L1 or L2: once for the sum
// of squares (with the gate first, x * silu(z) is left in out on the way), once to scale. Bound by
// memory: while a group is scaled, the next one's lines are asked for, so that reading goes on
// while L1 is written; without that it was up to 1.3 times as slow as the compiler's plain loop.

// clang-format off: this order is part of Highway's scheme
#include "krait/numerics/hwy_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/cpu/rmsnorm.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "krait/cpu/vec_math-inl.hpp"
// clang-format on

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "krait/cpu/rmsnorm.hpp"
#include "krait/cpu/target_name.hpp"
#include "krait/numerics/cpu_target.hpp"

HWY_BEFORE_NAMESPACE();
namespace krait::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
constexpr std::int64_t kSums = 64;  // partial sums: four AVX-512 adds in flight hide their latency
static_assert(kSums % kLanes == 0);

/// A vector of up to kLanes floats; lanes past `count` are 0 (so they add nothing).
HWY_INLINE V load_some(const float* p, std::int64_t count) {
  if (count >= kLanes) return hn::LoadU(D(), p);
  alignas(64) float padded[kLanes] = {};
  std::copy_n(p, count, padded);
  return hn::Load(D(), padded);
}
HWY_INLINE void store_some(V v, std::int64_t count, float* p) {
  if (count >= kLanes) return hn::StoreU(v, D(), p);
  alignas(64) float padded[kLanes];
  hn::Store(v, D(), padded);
  std::copy_n(padded, count, p);
}

/// Folds kSums partial sums 32 -> 16 -> .. -> 1.
float fold(float* sums) {
  for (std::int64_t half = kSums / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

/// p + offset, null if p is.
template <class T>
HWY_INLINE T* at_offset(T* p, std::int64_t offset) {
  return p ? p + offset : nullptr;
}

/// x^2 of up to kLanes floats onto `sum`; with the gate, x * silu(z) is left in out.
template <bool kGate>
HWY_INLINE V squared(const float* x, const float* z, std::int64_t count, float* out, V sum) {
  V v = load_some(x, count);
  if constexpr (kGate) {
    v = hn::Mul(v, silu(D(), load_some(z, count)));
    store_some(v, count, out);
  }
  return hn::Add(sum, hn::Mul(v, v));  // not fused: the same bits on every target
}

/// Sum of x^2 over n floats; with z, x is x * silu(z), which is left in out. Whole blocks know
/// their size, so that their loop has no branch a vector.
template <bool kGate>
float sum_of_squares(const float* x, const float* z, std::int64_t n, float* out) {
  const D d;
  constexpr std::int64_t kVectors = kSums / kLanes;
  V sums[kVectors];
  for (V& s : sums) s = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (std::int64_t k = 0; k < kVectors; ++k) {
      const std::int64_t at = i + k * kLanes;
      sums[k] = squared<kGate>(x + at, at_offset(z, at), kLanes, at_offset(out, at), sums[k]);
    }
  for (std::int64_t k = 0; i < n; ++k, i += kLanes)
    sums[k] = squared<kGate>(x + i, at_offset(z, i), n - i, at_offset(out, i), sums[k]);
  alignas(64) float partial[kSums];
  for (std::int64_t k = 0; k < kVectors; ++k) hn::Store(sums[k], d, partial + k * kLanes);
  return fold(partial);
}

/// out = x * rstd * weight * silu(z) of up to kLanes floats, the last two if given.
template <bool kWeight, bool kGate>
HWY_INLINE void scale_some(const float* x, V rstd, const float* weight, const float* z,
                           std::int64_t count, float* out) {
  V v = hn::Mul(load_some(x, count), rstd);
  if constexpr (kWeight) v = hn::Mul(v, load_some(weight, count));
  if constexpr (kGate) v = hn::Mul(v, silu(D(), load_some(z, count)));
  store_some(v, count, out);
}

template <bool kWeight, bool kGate>
void scale(const float* x, float rstd, const float* weight, const float* z, std::int64_t n,
           float* out, const float* ahead) {
  const V r = hn::Set(D(), rstd);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hwy::Prefetch(ahead + i);
    scale_some<kWeight, kGate>(x + i, r, at_offset(weight, i), at_offset(z, i), kLanes, out + i);
  }
  if (i < n)
    scale_some<kWeight, kGate>(x + i, r, at_offset(weight, i), at_offset(z, i), n - i, out + i);
}

/// `ahead`: the group that is read next, its lines are asked for while this one is scaled.
void norm_group(const RmsNormArgs<float>& s, std::int64_t first, const float* ahead) {
  const std::int64_t n = s.group_size;
  const float *x = s.x + first, *z = s.z ? s.z + first : nullptr;
  const float* weight = s.weight ? s.weight + first % s.width : nullptr;
  float* out = s.out + first;
  const bool gate_first = z && !s.norm_before_gate, gate_last = z && s.norm_before_gate;
  const float squares = gate_first ? sum_of_squares<true>(x, z, n, out)
                                   : sum_of_squares<false>(x, nullptr, n, nullptr);
  const float rstd = 1 / std::sqrt(squares / static_cast<float>(n) + s.eps);
  const float* from = gate_first ? out : x;
  if (weight && gate_last)
    scale<true, true>(from, rstd, weight, z, n, out, ahead);
  else if (weight)
    scale<true, false>(from, rstd, weight, nullptr, n, out, ahead);
  else if (gate_last)
    scale<false, true>(from, rstd, nullptr, z, n, out, ahead);
  else
    scale<false, false>(from, rstd, nullptr, nullptr, n, out, ahead);
}

void norm_rows(const RmsNormArgs<float>& s, std::int64_t first, std::int64_t count) {
  const std::int64_t end = (first + count) * s.width;
  for (std::int64_t i = first * s.width; i < end; i += s.group_size)
    norm_group(s, i, s.x + (i + s.group_size < end ? i + s.group_size : i));
}

const char* norm_target() {
  return target_name(HWY_TARGET);
}

}  // namespace
}  // namespace krait::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace krait {
namespace {

HWY_EXPORT(norm_rows);
HWY_EXPORT(norm_target);

// Floats a task: 64 KiB, long enough to pay for handing it out, short enough for even shares.
constexpr std::int64_t kFloatsATask = 16LL * 1024;

}  // namespace

const char* rmsnorm(const RmsNormArgs<float>& s, ThreadPool& pool) {
  apply_cpu_override();
  const std::int64_t rows = std::max<std::int64_t>(1, kFloatsATask / s.width);
  const std::int64_t tasks = (s.rows + rows - 1) / rows;
  pool.run(static_cast<std::size_t>(tasks), [&](std::size_t task, std::size_t) {
    const std::int64_t first = static_cast<std::int64_t>(task) * rows;
    HWY_DYNAMIC_DISPATCH(norm_rows)(s, first, std::min(rows, s.rows - first));
  });
  return HWY_DYNAMIC_DISPATCH(norm_target)();
}

}  // namespace krait
#endif  // HWY_ONCE
