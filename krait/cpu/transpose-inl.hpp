// Moves between channel-major rows in memory and vectors of one token with channels in lanes; a
// per-target header. Four tokens at a time: the 128-bit pieces of rows k, k+4, k+8, .. form vector
// k, then a 4 x 4 transpose inside each 128-bit block puts channel 4*block + k into place.

#if defined(KRAIT_CPU_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KRAIT_CPU_TRANSPOSE_INL
#undef KRAIT_CPU_TRANSPOSE_INL
#else
#define KRAIT_CPU_TRANSPOSE_INL
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace krait::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

/// v[i] = token i of one channel.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void load_transposed(D d, const float* row, std::int64_t /*stride*/, V (&v)[4]) {
  for (int i = 0; i < 4; ++i) v[i] = hn::LoadU(d, row + i);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D /*d*/, V (&/*v*/)[4]) {}

#else

using Block = hn::Full128<float>;

/// A 4 x 4 transpose inside each 128-bit block.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D d, V (&v)[4]) {
  const hn::Repartition<double, D> d64;
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, v[0], v[1]));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, v[2], v[3]));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, v[0], v[1]));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(d64, low01, low23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(d64, high01, high23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23));
}

/// The 128-bit pieces of rows 0, 4, 8, .. as one vector.
template <class D>
HWY_INLINE hn::Vec<D> gather_blocks(D d, const float* p, std::int64_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    (void)stride;
    return hn::LoadU(d, p);
  } else {
    const hn::Half<D> dh;
    constexpr std::int64_t kUpper = static_cast<std::int64_t>(hn::MaxLanes(dh));
    return hn::Combine(d, gather_blocks(dh, p + kUpper * stride, stride),
                       gather_blocks(dh, p, stride));
  }
}

/// v[i], lane j = rows[j * stride + i] for i < 4.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void load_transposed(D d, const float* rows, std::int64_t stride, V (&v)[4]) {
  for (std::int64_t k = 0; k < 4; ++k) v[k] = gather_blocks(d, rows + k * stride, stride);
  transpose_blocks(d, v);
}

#endif

}  // namespace krait::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
