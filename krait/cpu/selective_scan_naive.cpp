// The naive form of the selective scan: what an eager framework does with the public reference, one
// operator a pass. Each pass is vectorised and runs on all threads; temporaries that a framework
// could reuse are reused, and nothing is allocated or touched first inside the call. Passes and
// what they write:
//
//    1  delta + bias                                   [batch, dim, length]
//    2  softplus                                       in place
//    3  dt * u                                         [batch, dim, length]
//    4  B, C to time-major order                       [batch, groups, length, d_state] each
//    5  dA  = dt (x) A                                 [batch, dim, length, d_state]
//    6  exp                                            in place
//    7  dBu = (dt u) (x) B                             [batch, dim, length, d_state]
//    8  for each token: h = dA[t] * h; h = h + dBu[t]; y[t] = sum over states of C[t] h    (3
//    passes) 9  y + D * u                                      in place
//   10  silu(z)                                        [batch, dim, length]
//   11  y * silu(z)                                    out

#include <algorithm>
#include <cstdint>

#include "krait/cpu/compiled/loops.hpp"

namespace krait {
namespace {

using Args = SelectiveScanArgs<float>;
using compiled::Loops;
using std::int64_t;

constexpr int64_t kRowsATask = 64;

/// The arrays of the list above. `h`: [batch, dim, d_state]
struct Arrays {
  float *da, *dbu, *dt, *du, *h, *b, *c;
};

int64_t plane(const Args& s) {
  return s.batch * s.dim * s.length;
}
int64_t packed_floats(const Args& s) {
  return s.batch * s.groups * s.length * s.d_state;
}

Arrays cut(const Args& s, float* p) {
  const auto take = [&p](int64_t n) { return p += n, p - n; };
  Arrays a{};
  a.da = take(plane(s) * s.d_state), a.dbu = take(plane(s) * s.d_state);
  a.dt = take(plane(s)), a.du = take(plane(s));
  a.h = take(s.batch * s.dim * s.d_state);
  a.b = take(packed_floats(s)), a.c = take(packed_floats(s));
  return a;
}

/// One pass: body(row) for every (batch, channel) row.
template <class Body>
void pass(const Args& s, ThreadPool& pool, const Body& body) {
  const int64_t rows = s.batch * s.dim, tasks = (rows + kRowsATask - 1) / kRowsATask;
  pool.run(static_cast<std::size_t>(tasks), [&](std::size_t task, std::size_t) {
    const int64_t first = static_cast<int64_t>(task) * kRowsATask;
    for (int64_t row = first; row < std::min(first + kRowsATask, rows); ++row) body(row);
  });
}

/// The states of the row's channel at token 0, and how far apart tokens are.
struct States {
  const float* p;
  int64_t step;
};
States states_of(const Args& s, BcKind kind, const float* constant, const float* packed,
                 int64_t row) {
  const int64_t batch = row / s.dim, e = row % s.dim;
  if (kind == BcKind::kConstant) return {constant + e * s.d_state, 0};
  const int64_t group = e / (s.dim / s.groups);
  return {packed + (batch * s.groups + group) * s.length * s.d_state, s.d_state};
}

void pack(const Args& s, const Loops& loops, BcKind kind, const float* in, ThreadPool& pool,
          float* out) {
  if (kind == BcKind::kConstant) return;
  pool.run(static_cast<std::size_t>(s.batch * s.groups), [&](std::size_t i, std::size_t) {
    const int64_t at = static_cast<int64_t>(i) * s.length * s.d_state;
    loops.pack(in + at, s.d_state, s.length, out + at);
  });
}

/// Passes 1 to 7.
void discretise(const Args& s, const Loops& loops, ThreadPool& pool, const Arrays& w) {
  const int64_t length = s.length, n = s.d_state;
  pass(s, pool, [&](int64_t row) {
    const float bias = s.delta_bias ? s.delta_bias[row % s.dim] : 0;
    loops.add_scalar(s.delta + row * length, bias, length, w.dt + row * length);
  });
  if (s.delta_softplus)
    pass(s, pool, [&](int64_t row) { loops.softplus(length, w.dt + row * length); });
  pass(s, pool, [&](int64_t row) {
    const int64_t at = row * length;
    loops.multiply(w.dt + at, s.u + at, length, w.du + at);
  });
  pack(s, loops, s.b_kind, s.b, pool, w.b);
  pack(s, loops, s.c_kind, s.c, pool, w.c);
  pass(s, pool, [&](int64_t row) {
    const float* a = s.a + row % s.dim * n;
    loops.outer(w.dt + row * length, a, 0, length, n, w.da + row * length * n);
  });
  pass(s, pool, [&](int64_t row) { loops.exp(length * n, w.da + row * length * n); });
  pass(s, pool, [&](int64_t row) {
    const States b = states_of(s, s.b_kind, s.b, w.b, row);
    loops.outer(w.du + row * length, b.p, b.step, length, n, w.dbu + row * length * n);
  });
}

/// Pass 8, three operators a token. y goes to `out`.
void recur(const Args& s, const Loops& loops, ThreadPool& pool, const Arrays& w) {
  const int64_t n = s.d_state;
  for (int64_t t = 0; t < s.length; ++t) {
    pass(s, pool, [&](int64_t row) {
      float* h = w.h + row * n;
      loops.multiply(w.da + (row * s.length + t) * n, h, n, h);
    });
    pass(s, pool,
         [&](int64_t row) { loops.add(w.dbu + (row * s.length + t) * n, n, w.h + row * n); });
    pass(s, pool, [&](int64_t row) {
      const States c = states_of(s, s.c_kind, s.c, w.c, row);
      s.out[row * s.length + t] = loops.dot(c.p + t * c.step, w.h + row * n, n);
    });
  }
}

/// Passes 9 to 11.
void finish(const Args& s, const Loops& loops, ThreadPool& pool, const Arrays& w) {
  const int64_t length = s.length;
  if (s.d)
    pass(s, pool, [&](int64_t row) {
      loops.scale_add(s.u + row * length, s.d[row % s.dim], length, s.out + row * length);
    });
  if (!s.z) return;
  pass(s, pool, [&](int64_t row) { loops.silu(s.z + row * length, length, w.dt + row * length); });
  pass(s, pool, [&](int64_t row) {
    const int64_t at = row * length;
    loops.multiply(w.dt + at, s.out + at, length, s.out + at);
  });
}

}  // namespace

std::size_t selective_scan_naive_scratch(const Args& s) {
  return static_cast<std::size_t>(plane(s) * (2 * s.d_state + 2) + s.batch * s.dim * s.d_state +
                                  2 * packed_floats(s));
}

const char* selective_scan_naive(const Args& s, ThreadPool& pool, float* scratch) {
  const Loops& loops = compiled::loops();
  const Arrays w = cut(s, scratch);
  const int64_t states = s.batch * s.dim * s.d_state;
  if (s.initial_state)
    std::copy_n(s.initial_state, states, w.h);
  else
    std::fill_n(w.h, states, 0.0F);
  discretise(s, loops, pool, w);
  recur(s, loops, pool, w);
  finish(s, loops, pool, w);
  if (s.last_state) std::copy_n(w.h, states, s.last_state);
  return loops.level;
}

}  // namespace krait
