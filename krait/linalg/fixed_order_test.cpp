// Against the definition, one std::fma chain an element, bit by bit, on every instruction set.
#include "krait/linalg/fixed_order.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/numerics/each_target.hpp"

namespace krait {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 2, 3, 5, 16, 17, 31, 64, 65, 127, 128, 129};

std::uint64_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

void multiply(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
              const float* b, std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  matmul_fixed_order(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
void multiply(std::size_t m, std::size_t n, std::size_t k, const double* a, std::size_t lda,
              const double* b, std::size_t ldb, double* c, std::size_t ldc, bool accumulate) {
  matmul_fixed_order_f64(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

/// Operands with rows `pad` elements longer than needed; the padding of c must survive.
template <class T>
struct Problem {
  std::size_t m, n, k, pad;
  bool accumulate;
  std::vector<T> a, b, c;

  Problem(std::size_t rows, std::size_t columns, std::size_t depth, std::size_t padding, bool add)
      : m(rows), n(columns), k(depth), pad(padding), accumulate(add) {
    fill(a, k * lda(), 1);
    fill(b, k * ldb(), 2);
    fill(c, m * ldb(), 3);
  }
  [[nodiscard]] std::size_t lda() const { return m + pad; }
  [[nodiscard]] std::size_t ldb() const { return n + pad; }

  /// Nine decades, so that every rounding of the chain and its order matter.
  static void fill(std::vector<T>& values, std::size_t count, std::uint64_t stream) {
    const CounterRng rng(7, stream);
    values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double scale = std::ldexp(1.0, static_cast<int>(rng.bits(2 * i) % 31) - 15);
      values[i] = static_cast<T>((2 * rng.uniform(2 * i + 1) - 1) * scale);
    }
  }

  [[nodiscard]] std::vector<T> expected() const {
    std::vector<T> want = c;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        T sum = accumulate ? c[i * ldb() + j] : T{0};
        for (std::size_t l = 0; l < k; ++l) sum = std::fma(a[l * lda() + i], b[l * ldb() + j], sum);
        want[i * ldb() + j] = sum;
      }
    }
    return want;
  }

  [[nodiscard]] std::vector<T> computed() const {
    std::vector<T> got = c;
    multiply(m, n, k, a.data(), lda(), b.data(), ldb(), got.data(), ldb(), accumulate);
    return got;
  }
};

template <class T>
void expect_same_bits(const std::vector<T>& got, const std::vector<T>& want, const Problem<T>& p) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(bits(got[i]), bits(want[i])) << p.m << " x " << p.n << " x " << p.k << ", element "
                                           << i << (p.accumulate ? ", added" : "");
  }
}

template <class T>
void check(const Problem<T>& p) {
  const std::vector<T> want = p.expected();
  for_each_target([&] { expect_same_bits(p.computed(), want, p); });
}

TEST(MatmulFixedOrder, EqualsTheFmaChainForMixedSizes) {
  std::size_t count = 0;
  for (const std::size_t m : kSizes) {
    for (const std::size_t n : kSizes) {
      for (const std::size_t k : kSizes) check(Problem<float>(m, n, k, 0, ++count % 2 == 0));
    }
  }
}

TEST(MatmulFixedOrder, TakesLongerRowsAndLeavesThePadding) {
  for (const std::size_t size : kSizes) {
    for (const bool accumulate : {false, true}) {
      check(Problem<float>(size, 129, 65, 1, accumulate));
      check(Problem<float>(129, size, 65, 7, accumulate));
      check(Problem<float>(65, 129, size, 16, accumulate));
    }
  }
}

TEST(MatmulFixedOrder, DepthsBeyondOneBlockContinueTheChain) {
  for (const std::size_t k : {255, 256, 257, 1000}) {
    for (const bool accumulate : {false, true}) check(Problem<float>(37, 70, k, 3, accumulate));
  }
}

TEST(MatmulFixedOrder, DoubleHasTheSameOrder) {
  for (const std::size_t m : {0, 1, 5, 17, 33}) {
    for (const std::size_t n : {0, 1, 7, 16, 65}) {
      for (const std::size_t k : {0, 1, 16, 129}) {
        for (const bool accumulate : {false, true}) check(Problem<double>(m, n, k, 2, accumulate));
      }
    }
  }
}

TEST(MatmulFixedOrder, WithoutAccumulateOldValuesDoNotMatter) {
  Problem<float> p(17, 33, 20, 0, false);
  const std::vector<float> want = p.expected();
  for (float& c : p.c) c = std::numeric_limits<float>::quiet_NaN();
  for_each_target([&] { expect_same_bits(p.computed(), want, p); });
}

TEST(MatmulFixedOrder, ZeroDepthClearsOrKeeps) {
  for_each_target([&] {
    for (const float x : Problem<float>(5, 9, 0, 0, false).computed())
      EXPECT_EQ(bits(x), bits(0.0F));
    const Problem<float> kept(5, 9, 0, 0, true);
    expect_same_bits(kept.computed(), kept.c, kept);
  });
}

/// Each special operand reaches its own row or column; NaN results are the canonical NaN.
TEST(MatmulFixedOrder, NanAndInfFollowIeeeAndNanIsCanonical) {
  for (const std::size_t n : {3, 16, 40, 129}) {
    Problem<float> p(15, n, 9, 1, true);
    const float inf = std::numeric_limits<float>::infinity();
    p.a[4 * p.lda() + 2] = std::bit_cast<float>(0x7F812345U);  // row 2: a signalling NaN
    p.a[1 * p.lda() + 5] = inf;                                // row 5: +-Inf, or NaN where b is 0
    p.b[1 * p.ldb() + 1] = 0.0F;
    p.b[7 * p.ldb() + 0] = -inf;                               // column 0
    p.c[9 * p.ldb() + 2] = std::bit_cast<float>(0xFFC54321U);  // one old value
    p.c[10 * p.ldb() + 2] = inf;
    std::vector<float> want = p.expected();
    for (std::size_t i = 0; i < p.m; ++i) {
      for (std::size_t j = 0; j < p.n; ++j) {
        float& x = want[i * p.ldb() + j];
        if (std::isnan(x)) x = std::bit_cast<float>(0x7FC00000U);
      }
    }
    ASSERT_TRUE(std::isnan(want[2 * p.ldb() + 2]) && std::isnan(want[5 * p.ldb() + 1]));
    ASSERT_TRUE(std::isinf(want[5 * p.ldb() + 2]) && std::isinf(want[0]));
    for_each_target([&] { expect_same_bits(p.computed(), want, p); });
  }
}

TEST(MatmulFixedOrder, SubnormalsAndSignedZerosAreKept) {
  Problem<float> p(3, 35, 2, 0, false);
  for (float& x : p.a) x *= 0x1p-70F;
  for (float& x : p.b) x *= 0x1p-70F;
  check(p);
  Problem<float> zeros(2, 20, 1, 0, true);
  for (float& x : zeros.a) x = -0.0F;
  for (float& x : zeros.b) x = 0.0F;
  for (float& x : zeros.c) x = -0.0F;
  for_each_target([&] {
    for (const float x : zeros.computed()) ASSERT_EQ(bits(x), bits(-0.0F));
  });
}

}  // namespace
}  // namespace krait
