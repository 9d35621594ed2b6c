// The compiler form of the selective scan: B and C are put into time-major order first (the layout
// pass of a graph compiler), then one fused nest a channel, vectorised over the states of a token.

#include <algorithm>
#include <cstdint>

#include "krait/cpu/compiled/loops.hpp"

namespace krait {
namespace {

using Args = SelectiveScanArgs<float>;
using compiled::Loops;

constexpr std::int64_t kChannelsATask = 16;

std::int64_t packed_floats(const Args& s) {
  return s.batch * s.groups * s.length * s.d_state;
}
std::int64_t worker_floats(const Args& s) {
  return 2 * s.length + s.d_state;
}

/// Packs every (batch, group) of a per-token B or C; returns `in` itself if it is constant.
const float* packed(const Args& s, const Loops& loops, BcKind kind, const float* in,
                    ThreadPool& pool, float* out) {
  if (kind == BcKind::kConstant) return in;
  const std::int64_t block = s.length * s.d_state;
  pool.run(static_cast<std::size_t>(s.batch * s.groups), [&](std::size_t i, std::size_t) {
    const std::int64_t at = static_cast<std::int64_t>(i) * block;
    loops.pack(in + at, s.d_state, s.length, out + at);
  });
  return out;
}

/// Where a channel's states of the first token lie.
const float* states_of(const Args& s, BcKind kind, const float* p, std::int64_t batch,
                       std::int64_t e) {
  if (kind == BcKind::kConstant) return p + e * s.d_state;
  const std::int64_t group = e / (s.dim / s.groups);
  return p + (batch * s.groups + group) * s.length * s.d_state;
}

}  // namespace

std::size_t selective_scan_compiled_scratch(const Args& s, std::size_t threads) {
  return 2 * static_cast<std::size_t>(packed_floats(s)) +
         threads * static_cast<std::size_t>(worker_floats(s));
}

const char* selective_scan_compiled(const Args& s, ThreadPool& pool, float* scratch) {
  const Loops& loops = compiled::loops();
  const std::int64_t rows = s.batch * s.dim;
  const float* b = packed(s, loops, s.b_kind, s.b, pool, scratch);
  const float* c = packed(s, loops, s.c_kind, s.c, pool, scratch + packed_floats(s));
  float* workers = scratch + 2 * packed_floats(s);
  const std::int64_t b_step = s.b_kind == BcKind::kConstant ? 0 : s.d_state;
  const std::int64_t c_step = s.c_kind == BcKind::kConstant ? 0 : s.d_state;

  const auto channel = [&](std::int64_t row, float* mine) {
    const std::int64_t batch = row / s.dim, e = row % s.dim;
    float* h = mine + 2 * s.length;
    if (s.initial_state)
      std::copy_n(s.initial_state + row * s.d_state, s.d_state, h);
    else
      std::fill_n(h, s.d_state, 0.0F);
    loops.scan_channel(s, batch, e, states_of(s, s.b_kind, b, batch, e), b_step,
                       states_of(s, s.c_kind, c, batch, e), c_step, mine, h);
    if (s.last_state) std::copy_n(h, s.d_state, s.last_state + row * s.d_state);
  };
  const std::int64_t tasks = (rows + kChannelsATask - 1) / kChannelsATask;
  pool.run(static_cast<std::size_t>(tasks), [&](std::size_t task, std::size_t worker) {
    const std::int64_t first = static_cast<std::int64_t>(task) * kChannelsATask;
    float* mine = workers + static_cast<std::int64_t>(worker) * worker_floats(s);
    for (std::int64_t row = first; row < std::min(first + kChannelsATask, rows); ++row)
      channel(row, mine);
  });
  return loops.level;
}

}  // namespace krait
