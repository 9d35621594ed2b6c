#pragma once

// Matrix products whose result is the same bits on every CPU and for any blocking:
//   c[m,n] (+)= sum over k ascending of fma(a[k,m], b[k,n])       one fma chain an element
// This is what the simulated Tensor engine computes (stationary a: [K,M], moving b: [K,N]); the
// order is our decision, as no document gives one. A NaN result is the canonical quiet NaN,
// 0x7FC00000 (f64: 0x7FF8000000000000): which operand's payload survives an fma differs between
// CPUs. c must not overlap a or b.

#include <cstddef>

namespace krait {

/// c[m*ldc + n] = (accumulate ? c : 0), then c = fma(a[k*lda + m], b[k*ldb + n], c) for k = 0..K-1.
/// Without accumulate the chain starts at +0. Any sizes, also 0; with K = 0 and accumulate, c is
/// left as it is. No allocation; about 16 KiB of stack.
/// @param a  [k, m] f32, rows lda >= m apart
/// @param b  [k, n] f32, rows ldb >= n apart
/// @param c  [m, n] f32, rows ldc >= n apart
void matmul_fixed_order(std::size_t m, std::size_t n, std::size_t k, const float* a,
                        std::size_t lda, const float* b, std::size_t ldb, float* c, std::size_t ldc,
                        bool accumulate);

/// The same in f64.
void matmul_fixed_order_f64(std::size_t m, std::size_t n, std::size_t k, const double* a,
                            std::size_t lda, const double* b, std::size_t ldb, double* c,
                            std::size_t ldc, bool accumulate);

}  // namespace krait
