// Are exp, softplus and SiLU of the hand-written scan as accurate as promised? The scan itself
// shows each alone when the rest of its formula is made trivial.

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "krait/cpu/ref/scalar.hpp"
#include "krait/cpu/selective_scan.hpp"
#include "krait/numerics/cpu_target.hpp"

namespace krait {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Evenly spaced points, and the two ends.
std::vector<float> points(float low, float high, int count) {
  std::vector<float> v(static_cast<std::size_t>(count) + 1);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = low + (high - low) * static_cast<float>(i) / static_cast<float>(count);
  return v;
}

/// One channel a point, one state, one token: every field a vector of one value a channel.
struct Scan {
  std::vector<float> u, delta, a, c, d, z, initial;
  bool softplus = false;

  std::vector<float> run() {
    ThreadPool pool(1);
    std::vector<float> out(u.size()), ones(u.size(), 1.0F);
    SelectiveScanArgs<float> s{.dim = static_cast<std::int64_t>(u.size()), .length = 1};
    s.b_kind = s.c_kind = BcKind::kConstant, s.delta_softplus = softplus;
    s.u = u.data(), s.delta = delta.data(), s.a = a.data();
    s.b = ones.data(), s.c = ones.data();
    s.d = d.empty() ? nullptr : d.data(), s.z = z.empty() ? nullptr : z.data();
    s.initial_state = initial.empty() ? nullptr : initial.data();
    s.out = out.data();
    std::vector<float> scratch(selective_scan_scratch(s, 1));
    selective_scan(s, pool, scratch.data());
    return out;
  }
};

std::vector<float> all(std::size_t n, float v) {
  return std::vector<float>(n, v);
}

/// h = exp(1 * x) * 1 + 0
std::vector<float> exp_by_scan(const std::vector<float>& x) {
  const std::size_t n = x.size();
  Scan s;
  s.u = all(n, 0);
  s.delta = all(n, 1);
  s.a = x;
  s.initial = all(n, 1);
  return s.run();
}
/// h = exp(0) * 0 + softplus(x) * 1 * 1
std::vector<float> softplus_by_scan(const std::vector<float>& x) {
  const std::size_t n = x.size();
  Scan s;
  s.u = all(n, 1);
  s.delta = x;
  s.a = all(n, 0);
  s.softplus = true;
  return s.run();
}
/// (0 + 1 * 1) * silu(x)
std::vector<float> silu_by_scan(const std::vector<float>& x) {
  const std::size_t n = x.size();
  Scan s;
  s.u = all(n, 1);
  s.delta = all(n, 0);
  s.a = all(n, 0);
  s.d = all(n, 1);
  s.z = x;
  return s.run();
}

/// f of each point is exactly the value beside it.
void expect_values(std::vector<float> (*f)(const std::vector<float>&),
                   std::initializer_list<std::pair<float, float>> table) {
  for (const auto& [point, value] : table)
    EXPECT_EQ(f(std::vector<float>(17, point)), std::vector<float>(17, value)) << point;
}

template <class Body>
void on_each_target(const Body& body) {
  for (const std::string& name : available_cpu_targets()) {
    const ScopedCpuTarget forced(name);
    SCOPED_TRACE("target " + name);
    body();
  }
}

TEST(VecMath, DecayHasTheErrorOfItsPolynomialItsRoundingsAndItsArgument) {
  on_each_target([] {
    const std::vector<float> x = points(-86, 3, 200000), got = exp_by_scan(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::exp(static_cast<double>(x[i]));
      // AVX3: polynomial 5.3e-8, table entry, polynomial and product rounded, 3 * 2^-24: 2.4e-7.
      // Others: polynomial 9.2e-8, last step rounded once or (without a fused multiply-add) twice:
      // less. x * log2(e) is rounded twice (the factor and the product): 2 * 2^-24 of |x|.
      const double bound = 2.4e-7 + std::abs(static_cast<double>(x[i])) * 0x1p-23;
      ASSERT_LE(std::abs(got[i] - want), bound * want) << x[i];
    }
  });
}

TEST(VecMath, DecayEndsAtZeroOneAndInfinity) {
  on_each_target([] {
    expect_values(
        exp_by_scan,
        {{0, 1}, {-0.0F, 1}, {-110, 0}, {-1e4F, 0}, {-1e30F, 0}, {100, kInf}, {1e30F, kInf}});
  });
}

TEST(VecMath, SoftplusHasRelativeError3em7AlsoForVeryNegativeInputs) {
  on_each_target([] {
    const std::vector<float> x = points(-86, 25, 200000), got = softplus_by_scan(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = ref::softplus(static_cast<double>(x[i]));
      ASSERT_LE(std::abs(got[i] - want), 3e-7 * want) << x[i];
    }
    expect_values(softplus_by_scan, {{-200, 0}, {-1e30F, 0}, {1e30F, 1e30F}});
  });
}

TEST(VecMath, SiluHasRelativeError3em7) {
  on_each_target([] {
    const std::vector<float> x = points(-86, 90, 200000), got = silu_by_scan(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = ref::silu(static_cast<double>(x[i]));
      ASSERT_LE(std::abs(got[i] - want), 3e-7 * std::abs(want)) << x[i];
    }
    expect_values(silu_by_scan, {{0, 0}, {-1000, 0}, {1000, 1000}});
  });
}

}  // namespace
}  // namespace krait
