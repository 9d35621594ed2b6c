#pragma once

// Selective scan problems for tests: owned arrays, random inputs, the forms under test, and a
// running error bound.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/cpu/ref/selective_scan.hpp"
#include "krait/cpu/selective_scan.hpp"

namespace krait::test {

struct ScanShape {
  std::int64_t batch = 1, dim = 1, d_state = 1, length = 1, groups = 1;
  BcKind b_kind = BcKind::kPerToken, c_kind = BcKind::kPerToken;
  bool softplus = true, skip = true, gate = true, bias = true, initial = true;

  [[nodiscard]] std::string text() const {
    const auto n = [](std::int64_t v) { return std::to_string(v) + " "; };
    return "batch dim d_state length groups = " + n(batch) + n(dim) + n(d_state) + n(length) +
           n(groups) + (b_kind == BcKind::kConstant ? "b const " : "") +
           (c_kind == BcKind::kConstant ? "c const " : "");
  }
};

/// Arrays of a problem; absent inputs are empty. Outputs are filled with NaN.
template <class T>
struct ScanProblem {
  ScanShape shape;
  std::vector<T> u, delta, a, b, c, d, z, bias, initial, out, last;

  [[nodiscard]] SelectiveScanArgs<T> args() {
    const auto maybe = [](const std::vector<T>& v) { return v.empty() ? nullptr : v.data(); };
    SelectiveScanArgs<T> s{.batch = shape.batch, .dim = shape.dim, .d_state = shape.d_state};
    s.length = shape.length, s.groups = shape.groups;
    s.b_kind = shape.b_kind, s.c_kind = shape.c_kind, s.delta_softplus = shape.softplus;
    s.u = u.data(), s.delta = delta.data(), s.a = a.data(), s.b = b.data(), s.c = c.data();
    s.d = maybe(d), s.z = maybe(z), s.delta_bias = maybe(bias), s.initial_state = maybe(initial);
    s.out = out.data(), s.last_state = last.data();
    return s;
  }

  void poison() {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const auto plane = static_cast<std::size_t>(shape.batch * shape.dim);
    out.assign(plane * static_cast<std::size_t>(shape.length), nan);
    last.assign(plane * static_cast<std::size_t>(shape.d_state), nan);
  }

  template <class To>
  [[nodiscard]] ScanProblem<To> as() const {
    const auto to = [](const std::vector<T>& v) { return std::vector<To>(v.begin(), v.end()); };
    ScanProblem<To> p{shape, to(u), to(delta), to(a),       to(b), to(c),
                      to(d), to(z), to(bias),  to(initial), {},    {}};
    p.poison();
    return p;
  }
};

inline std::vector<float> normals(std::int64_t count, std::uint64_t seed, std::uint64_t stream,
                                  float scale = 1, float shift = 0) {
  std::vector<float> v(static_cast<std::size_t>(count));
  fill_normal(v, seed, stream, scale, shift);
  return v;
}

/// Inputs as a trained model has them: A in -(0.2 .. 16), dt mostly 0.01 .. 2.
inline ScanProblem<float> random_problem(const ScanShape& s, std::uint64_t seed) {
  const std::int64_t plane = s.batch * s.dim * s.length, states = s.dim * s.d_state;
  const std::int64_t tokens = s.batch * s.groups * s.d_state * s.length;
  ScanProblem<float> p{.shape = s};
  p.u = normals(plane, seed, 0);
  p.delta = normals(plane, seed, 1, 1, -1);
  p.a.resize(static_cast<std::size_t>(states));
  fill_uniform(p.a, seed, 2, -16, -0.2F);
  p.b = normals(s.b_kind == BcKind::kConstant ? states : tokens, seed, 3);
  p.c = normals(s.c_kind == BcKind::kConstant ? states : tokens, seed, 4);
  if (s.skip) p.d = normals(s.dim, seed, 5);
  if (s.gate) p.z = normals(plane, seed, 6, 2);
  if (s.bias) p.bias = normals(s.dim, seed, 7);
  if (!s.softplus) {  // dt must be positive, or the decay is growth
    for (float& v : p.delta) v = 0.2F * std::abs(v);
    for (float& v : p.bias) v = 0.1F * std::abs(v);
  }
  if (s.initial) p.initial = normals(s.batch * states, seed, 8);
  p.poison();
  return p;
}

struct ScanForm {
  std::string name;
  std::function<std::string(const SelectiveScanArgs<float>&, ThreadPool&)> run;  // returns what ran
};

/// The f32 forms with scratch of exactly the promised size, poisoned with NaN.
inline std::vector<ScanForm> scan_forms() {
  using Args = SelectiveScanArgs<float>;
  const auto scratch = [](std::size_t n) {
    return std::vector<float>(n, std::numeric_limits<float>::quiet_NaN());
  };
  return {{"ref",
           [](const Args& s, ThreadPool&) {
             ref::selective_scan(s);
             return std::string("ref");
           }},
          {"naive",
           [=](const Args& s, ThreadPool& pool) {
             auto work = scratch(selective_scan_naive_scratch(s));
             return std::string(selective_scan_naive(s, pool, work.data()));
           }},
          {"compiled",
           [=](const Args& s, ThreadPool& pool) {
             auto work = scratch(selective_scan_compiled_scratch(s, pool.threads()));
             return std::string(selective_scan_compiled(s, pool, work.data()));
           }},
          {"custom", [=](const Args& s, ThreadPool& pool) {
             auto work = scratch(selective_scan_scratch(s, pool.threads()));
             return std::string(selective_scan(s, pool, work.data()));
           }}};
}

/// What f32 arithmetic may be off by, per element, by running error analysis in f64.
struct ScanBounds {
  std::vector<double> out, last;
};

/// With eps = 2^-24 the relative errors granted are
///   softplus 8 eps, and |x| eps for the rounding of its argument x
///   exp 8 eps (libmvec: 4 ulp), and |dt A| 3 eps for that of its argument
///   a product or sum 1 eps; silu 12 eps (exp, sum, quotient)
/// They are carried through the recurrence with all signs taken as the worst: m is the state of
/// absolute values, e its error.   e[t] = decay * e[t-1] + (errors of this step) * m[t]
inline ScanBounds scan_bounds(ScanProblem<double> p) {
  constexpr double kEps = 0x1p-24, kTiny = 1e-30;  // kTiny: states that underflow in f32
  const SelectiveScanArgs<double> s = p.args();
  const std::int64_t N = s.d_state, L = s.length;
  ScanBounds bounds{std::vector<double>(p.out.size()), std::vector<double>(p.last.size())};
  std::vector<double> m(static_cast<std::size_t>(N)), e(m.size());
  for (std::int64_t row = 0; row < s.batch * s.dim; ++row) {
    const std::int64_t ch = row % s.dim, batch = row / s.dim;
    const std::int64_t group = batch * s.groups + ch / (s.dim / s.groups);
    const auto bc = [&](BcKind kind, const double* v, std::int64_t n, std::int64_t t) {
      return std::abs(kind == BcKind::kConstant ? v[ch * N + n] : v[(group * N + n) * L + t]);
    };
    for (std::int64_t n = 0; n < N; ++n) {
      m[static_cast<std::size_t>(n)] = s.initial_state ? std::abs(s.initial_state[row * N + n]) : 0;
      e[static_cast<std::size_t>(n)] = 0;
    }
    for (std::int64_t t = 0; t < L; ++t) {
      const double x = s.delta[row * L + t] + (s.delta_bias ? s.delta_bias[ch] : 0);
      const double dt = s.delta_softplus ? ref::softplus(x) : x;
      const double dt_error = s.delta_softplus ? (8 + std::abs(x)) * kEps : kEps;
      const double u = std::abs(s.u[row * L + t]);
      double y = 0, y_error = 0;
      for (std::int64_t n = 0; n < N; ++n) {
        double &mag = m[static_cast<std::size_t>(n)], &err = e[static_cast<std::size_t>(n)];
        const double exponent = dt * s.a[ch * N + n], decay = std::exp(exponent);
        const double decay_error = 10 * kEps + std::abs(exponent) * (dt_error + 3 * kEps);
        const double input = std::abs(dt) * u * bc(s.b_kind, s.b, n, t);
        err = decay * (err + decay_error * mag) + input * (dt_error + 4 * kEps);
        mag = decay * mag + input;
        err += 2 * kEps * mag + kTiny;
        const double c = bc(s.c_kind, s.c, n, t);
        y += c * mag;
        y_error += c * err;
      }
      y_error += static_cast<double>(N + 1) * kEps * y;
      if (s.d) {
        y += std::abs(s.d[ch]) * u;
        y_error += 2 * kEps * y;
      }
      if (s.z) {
        const double gate = std::abs(ref::silu(s.z[row * L + t]));
        y_error = gate * (y_error + 14 * kEps * y);
      }
      bounds.out[static_cast<std::size_t>(row * L + t)] = y_error + kTiny;
    }
    for (std::int64_t n = 0; n < N; ++n)
      bounds.last[static_cast<std::size_t>(row * N + n)] = e[static_cast<std::size_t>(n)] + kTiny;
  }
  return bounds;
}

/// Index of the first element outside its bound (NaN counts), or -1.
inline std::ptrdiff_t first_outside(const std::vector<float>& got, const std::vector<double>& want,
                                    const std::vector<double>& bound) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(static_cast<double>(got[i]) - want[i]) <= bound[i]))
      return static_cast<std::ptrdiff_t>(i);
  return -1;
}

}  // namespace krait::test
