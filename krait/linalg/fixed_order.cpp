#include "krait/numerics/hwy_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/linalg/fixed_order.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "krait/linalg/fixed_order.hpp"

// A tile of c, kRows x kVectors vectors, stays in registers while k runs over a block; then it is
// stored and the next block of k continues the same chains from memory, which changes no bit.
// Columns of b are packed a panel at a time: rows of b that lie a power of two apart fall into few
// cache sets.

HWY_BEFORE_NAMESPACE();
namespace krait::linalg_detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Product {
  std::size_t m, n, k;
  const T* a;  // [k, m], rows lda apart
  std::size_t lda;
  const T* b;  // [k, n], rows ldb apart
  std::size_t ldb;
  T* c;  // [m, n], rows ldc apart
  std::size_t ldc;
  bool accumulate;
};

template <class T>
void clear(const Product<T>& p) {
  for (std::size_t i = 0; i < p.m; ++i) std::fill_n(p.c + i * p.ldc, p.n, T{0});
}

#if HWY_NATIVE_FMA

// Enough independent chains to fill two FMA pipes of latency 4 to 5, few enough registers: 32
// vector registers hold 24 sums, 2 of b and one of a; 16 hold 12.
inline constexpr std::size_t kVectors = 2;
inline constexpr std::size_t kRows = HWY_MAX_BYTES == 64 ? 12 : 6;
inline constexpr std::size_t kBlockK = 128;  // a packed panel is 16 KiB with 64-byte vectors

/// c[0..kTileRows) x [0..kTileVectors vectors) += a^T b over k; the last vector has `mask` lanes.
template <std::size_t kTileRows, std::size_t kTileVectors, bool kMasked, class T>
HWY_INLINE void tile(const Product<T>& p, hn::Mask<hn::ScalableTag<T>> mask) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const auto load = [&](const T* from, std::size_t j) HWY_ATTR {
    if (kMasked && j + 1 == kTileVectors) return hn::MaskedLoad(mask, d, from + j * lanes);
    return hn::LoadU(d, from + j * lanes);
  };
  V sum[kTileRows][kTileVectors];
  for (std::size_t i = 0; i < kTileRows; ++i) {
    for (std::size_t j = 0; j < kTileVectors; ++j) {
      sum[i][j] = p.accumulate ? load(p.c + i * p.ldc, j) : hn::Zero(d);
    }
  }
  const T* a = p.a;
  const T* b = p.b;
  for (std::size_t k = 0; k < p.k; ++k, a += p.lda, b += p.ldb) {
    V right[kTileVectors];
    for (std::size_t j = 0; j < kTileVectors; ++j) right[j] = load(b, j);
    for (std::size_t i = 0; i < kTileRows; ++i) {
      const V left = hn::Set(d, a[i]);
      for (std::size_t j = 0; j < kTileVectors; ++j) {
        sum[i][j] = hn::MulAdd(left, right[j], sum[i][j]);
      }
    }
  }
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  for (std::size_t i = 0; i < kTileRows; ++i) {
    for (std::size_t j = 0; j < kTileVectors; ++j) {
      T* to = p.c + i * p.ldc + j * lanes;
      const V v = hn::IfThenElse(hn::Eq(sum[i][j], sum[i][j]), sum[i][j], nan);
      if (kMasked && j + 1 == kTileVectors) {
        hn::BlendedStore(v, mask, d, to);
      } else {
        hn::StoreU(v, d, to);
      }
    }
  }
}

/// All rows of one panel of columns, in tiles of kTileRows, then half as many, down to 1.
template <std::size_t kTileRows, std::size_t kTileVectors, bool kMasked, class T>
HWY_NOINLINE void panel(Product<T> p, std::size_t columns) {
  const hn::ScalableTag<T> d;
  const std::size_t in_last = columns - (kTileVectors - 1) * hn::Lanes(d);
  const auto mask = hn::FirstN(d, in_last);
  while (p.m >= kTileRows) {
    tile<kTileRows, kTileVectors, kMasked>(p, mask);
    p.m -= kTileRows;
    p.a += kTileRows;
    p.c += kTileRows * p.ldc;
  }
  if constexpr (kTileRows > 1) {
    if (p.m != 0) panel<kTileRows / 2, kTileVectors, kMasked>(p, columns);
  }
}

template <class T>
void any_panel(const Product<T>& p, std::size_t columns) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  if (columns == kVectors * lanes) {
    panel<kRows, kVectors, false>(p, columns);
  } else if (columns > lanes) {
    panel<kRows, kVectors, true>(p, columns);
  } else if (columns == lanes) {
    panel<kRows, 1, false>(p, columns);
  } else {
    panel<kRows, 1, true>(p, columns);
  }
}

template <class T>
void multiply(Product<T> whole) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  HWY_ALIGN T packed[kBlockK * kVectors * HWY_MAX_BYTES / sizeof(T)];  // [k, kVectors * lanes]
  for (std::size_t k = 0; k < whole.k; k += kBlockK) {
    Product<T> p = whole;
    p.k = std::min(kBlockK, whole.k - k);
    p.a += k * whole.lda;
    p.b += k * whole.ldb;
    p.accumulate = whole.accumulate || k != 0;
    for (std::size_t n = 0; n < whole.n; n += kVectors * lanes) {
      const std::size_t columns = std::min(kVectors * lanes, whole.n - n);
      Product<T> part = p;
      part.b += n;
      part.c += n;
      if (whole.m > 2 * kRows) {  // packing pays from the third tile on
        part.ldb = kVectors * lanes;
        for (std::size_t i = 0; i < p.k; ++i) {
          std::memcpy(packed + i * part.ldb, p.b + i * p.ldb + n, columns * sizeof(T));
        }
        part.b = packed;
      }
      any_panel(part, columns);
    }
  }
}

#else  // no fused multiply-add: the C library's, which rounds once too

template <class T>
void multiply(const Product<T>& p) {
  for (std::size_t i = 0; i < p.m; ++i) {
    T* c = p.c + i * p.ldc;
    if (!p.accumulate) std::fill_n(c, p.n, T{0});
    for (std::size_t k = 0; k < p.k; ++k) {
      const T left = p.a[k * p.lda + i];
      const T* b = p.b + k * p.ldb;
      for (std::size_t n = 0; n < p.n; ++n) c[n] = std::fma(left, b[n], c[n]);
    }
    for (std::size_t n = 0; n < p.n; ++n) {
      if (std::isnan(c[n])) c[n] = std::numeric_limits<T>::quiet_NaN();
    }
  }
}

#endif

template <class T>
void multiply_any(const Product<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k != 0) {
    multiply(p);
  } else if (!p.accumulate) {
    clear(p);
  }
}

void multiply_f32(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                  const float* b, std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  multiply_any(Product<float>{m, n, k, a, lda, b, ldb, c, ldc, accumulate});
}

void multiply_f64(std::size_t m, std::size_t n, std::size_t k, const double* a, std::size_t lda,
                  const double* b, std::size_t ldb, double* c, std::size_t ldc, bool accumulate) {
  multiply_any(Product<double>{m, n, k, a, lda, b, ldb, c, ldc, accumulate});
}

}  // namespace krait::linalg_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "krait/numerics/cpu_target.hpp"

namespace krait {
namespace linalg_detail {
namespace {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

}  // namespace
}  // namespace linalg_detail

void matmul_fixed_order(std::size_t m, std::size_t n, std::size_t k, const float* a,
                        std::size_t lda, const float* b, std::size_t ldb, float* c, std::size_t ldc,
                        bool accumulate) {
  using namespace linalg_detail;
  apply_cpu_override();
  HWY_DYNAMIC_DISPATCH(multiply_f32)(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

void matmul_fixed_order_f64(std::size_t m, std::size_t n, std::size_t k, const double* a,
                            std::size_t lda, const double* b, std::size_t ldb, double* c,
                            std::size_t ldc, bool accumulate) {
  using namespace linalg_detail;
  apply_cpu_override();
  HWY_DYNAMIC_DISPATCH(multiply_f64)(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

}  // namespace krait
#endif  // HWY_ONCE
