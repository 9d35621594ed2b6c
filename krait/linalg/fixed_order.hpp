#pragma once

// Matrix products whose result is the same bits on every CPU and for any blocking:
//   c[m,n] (+)= sum over k ascending of fma(a[k,m], b[k,n])       f32, one fma chain an element
// This is what the simulated Tensor engine computes (stationary a: [K,M], moving b: [K,N]).

#include <cstddef>
#include <span>

namespace krait {

/// c[m*ldc + n] = (accumulate ? c : 0), then c = fma(a[k*lda + m], b[k*ldb + n], c) for k = 0..K-1.
/// Without accumulate the chain starts at +0. Any sizes, also 0. No allocation.
void matmul_fixed_order(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                        const float* b, std::size_t ldb, float* c, std::size_t ldc, bool accumulate);

}  // namespace krait
