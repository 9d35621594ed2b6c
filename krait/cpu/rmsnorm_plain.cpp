// The compiler and naive forms of RMSNorm. The naive passes, each over the whole array:
//   silu(z) -> g;  if the gate comes first, x * g -> out takes the place of x
//   x^2 -> s;  (mean + eps)^(-1/2) per group of s -> r;  x * r -> out;  out * weight -> out
//   if the gate comes last, out * g -> out

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "krait/cpu/compiled/loops.hpp"

namespace krait {
namespace {

using Args = RmsNormArgs<float>;
using compiled::Loops;
using std::int64_t;

constexpr int64_t kFloatsATask = 16LL * 1024;  // 64 KiB: several hundred tasks for a large array

/// body(first, count) over blocks of whole rows; the blocks depend on the shape alone.
template <class Body>
void over_rows(const Args& s, ThreadPool& pool, const Body& body) {
  const int64_t rows = std::max<int64_t>(1, kFloatsATask / s.width);
  const int64_t tasks = (s.rows + rows - 1) / rows;
  pool.run(static_cast<std::size_t>(tasks), [&](std::size_t task, std::size_t) {
    const int64_t first = static_cast<int64_t>(task) * rows;
    body(first, std::min(rows, s.rows - first));
  });
}

/// One elementwise pass: body(offset, floats).
template <class Body>
void pass(const Args& s, ThreadPool& pool, const Body& body) {
  over_rows(s, pool, [&](int64_t first, int64_t count) { body(first * s.width, count * s.width); });
}

/// Calls body(first float, group index) for every group of a block of rows.
template <class Body>
void groups(const Args& s, ThreadPool& pool, const Body& body) {
  pass(s, pool, [&](int64_t at, int64_t n) {
    for (int64_t i = at; i < at + n; i += s.group_size) body(i, i / s.group_size);
  });
}

}  // namespace

const char* rmsnorm_compiled(const Args& s, ThreadPool& pool) {
  const Loops& loops = compiled::loops();
  over_rows(s, pool, [&](int64_t first, int64_t count) { loops.rmsnorm_rows(s, first, count); });
  return loops.level;
}

std::size_t rmsnorm_naive_scratch(const Args& s) {
  return static_cast<std::size_t>(2 * s.rows * s.width + s.rows * s.width / s.group_size);
}

const char* rmsnorm_naive(const Args& s, ThreadPool& pool, float* scratch) {
  const Loops& loops = compiled::loops();
  const int64_t size = s.rows * s.width, n = s.group_size;
  float *whole = scratch, *gate_values = scratch + size, *rstd = scratch + 2 * size;
  const bool gate_first = s.z && !s.norm_before_gate, gate_last = s.z && s.norm_before_gate;
  if (s.z)  // before out is written: it may be z
    pass(s, pool, [&](int64_t at, int64_t m) { loops.silu(s.z + at, m, gate_values + at); });
  if (gate_first)
    pass(s, pool,
         [&](int64_t at, int64_t m) { loops.multiply(s.x + at, gate_values + at, m, s.out + at); });
  const float* x = gate_first ? s.out : s.x;

  pass(s, pool, [&](int64_t at, int64_t m) { loops.multiply(x + at, x + at, m, whole + at); });
  groups(s, pool, [&](int64_t i, int64_t g) {
    const float sum = loops.sum(whole + i, n);
    rstd[g] = 1 / std::sqrt(sum / static_cast<float>(n) + s.eps);
  });
  groups(s, pool,
         [&](int64_t i, int64_t g) { loops.multiply_scalar(x + i, rstd[g], n, s.out + i); });
  if (s.weight)
    groups(s, pool, [&](int64_t i, int64_t) {
      loops.multiply(s.out + i, s.weight + i % s.width, n, s.out + i);
    });
  if (gate_last)
    pass(s, pool, [&](int64_t at, int64_t m) {
      loops.multiply(s.out + at, gate_values + at, m, s.out + at);
    });
  return loops.level;
}

}  // namespace krait
