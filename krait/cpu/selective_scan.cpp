// The hand-written selective scan. A tile is one sequence and up to 64 channels of one group; tiles
// are independent. A tile walks its tokens in blocks of 64:
//
//   pack    B, C [d_state, 64 tokens] -> [64 tokens, d_state], once for the 64 channels
//   stage   delta, u [V channels, 64 tokens] -> dt, dt * u [64 tokens, V lanes]
//   scan    h [states, V] in registers over the 64 tokens; y [64, V] accumulates over chunks of
//   states finish  y -> [V channels, 64 tokens]; + D u, * silu(z), to out
//
// V is the vector length. Everything a V-group touches (dt, du, y: 64 * V * 4 B each, B and C
// blocks: 64 * d_state * 4 B each) is 20 KiB at V = 16 and d_state = 16, so it stays in a 32 KiB
// L1. Packing B and C pays for 64 channels: with tiles of V channels it would cost four times as
// much. The states of a channel are added to y in order 0, 1, .., whatever the chunk and the vector
// length.

// clang-format off: this order is part of Highway's scheme
#include "krait/numerics/hwy_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/cpu/selective_scan.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "krait/cpu/transpose-inl.hpp"
#include "krait/cpu/vec_math-inl.hpp"
// clang-format on

#include <algorithm>
#include <cstdint>
#include <utility>

#include "krait/cpu/selective_scan.hpp"
#include "krait/cpu/target_name.hpp"
#include "krait/numerics/cpu_target.hpp"

#ifndef KRAIT_CPU_SELECTIVE_SCAN_ONCE
#define KRAIT_CPU_SELECTIVE_SCAN_ONCE
namespace krait {
namespace {

constexpr std::int64_t kChannels = 64;  // of a tile
constexpr std::int64_t kTokens = 64;    // of a block
constexpr std::int64_t kBc = std::max(kChannels, kTokens);  // B and C: one of a block or a tile
constexpr std::int64_t kMaxLanes = 16;
constexpr std::int64_t kAlign = 16;  // floats: one cache line

/// What a tile works on.
struct Tile {
  std::int64_t batch, group, first, channels;  // channels first .. first + channels - 1
};

/// A worker's buffers, cut from its scratch. [G, N, V]: V-groups of the tile, states, lanes.
struct Buffers {
  float* h;              // [G, N, V] state
  float* a2;             // [G, N, V] A * log2(e)
  float* b;              // per token [64, N] of this block, constant [G, N, V]
  float* c;              // as b
  float *dt, *du, *y;    // [64, V]
  float *row_u, *row_x;  // [V, 64] staged ragged rows of u, and of delta or z
  float* row_y;          // [V, 64]
};

/// The rows that the next V-group will stage. A group's scan asks for four lines of each a channel,
/// one a token, so that they arrive from L3 or memory while it computes. Asking for all at once
/// stalls as long as copying them does.
struct Ahead {
  const float *u, *delta, *z;  // first row's first token; z may be null
  std::int64_t length, rows, tokens;
};

constexpr std::int64_t worker_floats(std::int64_t d_state) {
  return (2 * kChannels + 2 * kBc) * d_state + 6 * kTokens * kMaxLanes;
}

Buffers cut(float* p, std::int64_t d_state) {
  const auto take = [&p](std::int64_t floats) { return std::exchange(p, p + floats); };
  const std::int64_t states = kChannels * d_state, block = kTokens * kMaxLanes;
  Buffers s{};
  s.h = take(states), s.a2 = take(states);
  s.b = take(kBc * d_state), s.c = take(kBc * d_state);
  s.dt = take(block), s.du = take(block), s.y = take(block);
  s.row_u = take(block), s.row_x = take(block), s.row_y = take(block);
  return s;
}

using Args = SelectiveScanArgs<float>;

}  // namespace
}  // namespace krait
#endif  // KRAIT_CPU_SELECTIVE_SCAN_ONCE

HWY_BEFORE_NAMESPACE();
namespace krait::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
// States held in registers at once: of 32 registers 16, of 16 registers 8 (chosen by bench_cpu).
constexpr std::int64_t kStates = kLanes == 16 ? 16 : 8;

HWY_INLINE void prefetch_line(const Ahead& ahead, std::int64_t t) {
  constexpr std::int64_t kLines = kTokens / kAlign;
  const std::int64_t row = t / kLines, token = t % kLines * kAlign;
  if (row >= ahead.rows || token >= ahead.tokens) return;
  const std::int64_t at = row * ahead.length + token;
  hwy::Prefetch(ahead.u + at);
  hwy::Prefetch(ahead.delta + at);
  if (ahead.z) hwy::Prefetch(ahead.z + at);
}

/// The loop over tokens for kN states; b_step, c_step: floats from token to token, 0 if constant.
template <bool kBConstant, bool kCConstant, std::int64_t kN>
struct Chunk {
  template <std::size_t... I>
  static HWY_INLINE V token(V (&h)[kN], V dt, V du, V y, const float* HWY_RESTRICT a2,
                            const float* HWY_RESTRICT b, const float* HWY_RESTRICT c,
                            std::index_sequence<I...> /*states*/) {
    ((y = state(h[I], dt, du, y, a2 + I * kLanes, b + I * (kBConstant ? kLanes : 1),
                c + I * (kCConstant ? kLanes : 1))),
     ...);
    return y;
  }

  static HWY_INLINE V state(V& h, V dt, V du, V y, const float* HWY_RESTRICT a2,
                            const float* HWY_RESTRICT b, const float* HWY_RESTRICT c) {
    const D d;
    const V decay = exp2_fast(d, hn::Mul(dt, hn::Load(d, a2)));
    const V bv = kBConstant ? hn::Load(d, b) : hn::Set(d, *b);
    const V cv = kCConstant ? hn::Load(d, c) : hn::Set(d, *c);
    h = hn::MulAdd(decay, h, hn::Mul(du, bv));
    return hn::MulAdd(cv, h, y);
  }

  template <bool kPrefetch>
  static void run(std::int64_t tokens, std::int64_t n, const Buffers& s, std::int64_t group_offset,
                  std::int64_t d_state, const Ahead& ahead) {
    const D d;
    const std::int64_t at = group_offset + n * kLanes;
    const float* HWY_RESTRICT a2 = s.a2 + at;
    const float* HWY_RESTRICT b = kBConstant ? s.b + at : s.b + n;
    const float* HWY_RESTRICT c = kCConstant ? s.c + at : s.c + n;
    V h[kN];
    for (std::int64_t i = 0; i < kN; ++i) h[i] = hn::Load(d, s.h + at + i * kLanes);
    for (std::int64_t t = 0; t < tokens; ++t) {
      const V dt = hn::Load(d, s.dt + t * kLanes);
      const V du = hn::Load(d, s.du + t * kLanes);
      const V y =
          token(h, dt, du, hn::Load(d, s.y + t * kLanes), a2, b, c, std::make_index_sequence<kN>());
      hn::Store(y, d, s.y + t * kLanes);
      if constexpr (kPrefetch) prefetch_line(ahead, t);
      if constexpr (!kBConstant) b += d_state;
      if constexpr (!kCConstant) c += d_state;
    }
    for (std::int64_t i = 0; i < kN; ++i) hn::Store(h[i], d, s.h + at + i * kLanes);
  }
};

/// All states of one V-group over a block: chunks of kStates, then of half the size, .. 1.
template <bool kBConstant, bool kCConstant, std::int64_t kN = kStates>
HWY_INLINE void scan_states(std::int64_t tokens, std::int64_t n, const Buffers& s,
                            std::int64_t group_offset, std::int64_t d_state, const Ahead& ahead) {
  using C = Chunk<kBConstant, kCConstant, kN>;
  if (n == 0 && kN <= d_state) {
    C::template run<true>(tokens, n, s, group_offset, d_state, ahead);
    n += kN;
  }
  for (; n + kN <= d_state; n += kN)
    C::template run<false>(tokens, n, s, group_offset, d_state, ahead);
  if constexpr (kN > 1)
    scan_states<kBConstant, kCConstant, kN / 2>(tokens, n, s, group_offset, d_state, ahead);
}

void scan_group(const Args& args, std::int64_t tokens, const Buffers& s, std::int64_t group_offset,
                const Ahead& ahead) {
  const bool b_constant = args.b_kind == BcKind::kConstant;
  const bool c_constant = args.c_kind == BcKind::kConstant;
  std::fill_n(s.y, tokens * kLanes, 0.0F);
  if (b_constant && c_constant)
    scan_states<true, true>(tokens, 0, s, group_offset, args.d_state, ahead);
  else if (b_constant)
    scan_states<true, false>(tokens, 0, s, group_offset, args.d_state, ahead);
  else if (c_constant)
    scan_states<false, true>(tokens, 0, s, group_offset, args.d_state, ahead);
  else
    scan_states<false, false>(tokens, 0, s, group_offset, args.d_state, ahead);
}

/// out[t * n + i] = in[i * length + t] for t < tokens, i < n.
void pack_tokens(const float* in, std::int64_t n, std::int64_t length, std::int64_t tokens,
                 float* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Block d;
  for (; i + 4 <= n; i += 4) {
    std::int64_t t = 0;
    for (; t + 4 <= tokens; t += 4) {
      hn::Vec<Block> v[4];
      load_transposed(d, in + i * length + t, length, v);
      for (std::int64_t k = 0; k < 4; ++k) hn::StoreU(v[k], d, out + (t + k) * n + i);
    }
    for (; t < tokens; ++t)
      for (std::int64_t k = i; k < i + 4; ++k) out[t * n + k] = in[k * length + t];
  }
#endif
  for (; i < n; ++i)
    for (std::int64_t t = 0; t < tokens; ++t) out[t * n + i] = in[i * length + t];
}

/// Copies a block of rows to [V, 64], zero-padded. Also whole blocks: the rows of a power-of-two
/// length share few cache sets, and transposing them in place misses L1 four times a line.
void stage_rows(const float* in, std::int64_t length, std::int64_t rows, std::int64_t tokens,
                float* out) {
  const D d;
  if (rows == kLanes && tokens == kTokens) {  // in line: calls of memcpy showed in the profile
    for (std::int64_t i = 0; i < kLanes; ++i)
      for (std::int64_t t = 0; t < kTokens; t += kLanes)
        hn::Store(hn::LoadU(d, in + i * length + t), d, out + i * kTokens + t);
    return;
  }
  std::fill_n(out, kLanes * kTokens, 0.0F);
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(in + i * length, tokens, out + i * kTokens);
}

/// Values per channel as lanes; lanes past `count` are 0.
HWY_INLINE V lanes(const float* values, std::int64_t count) {
  alignas(64) float padded[kMaxLanes] = {};
  if (values) std::copy_n(values, count, padded);
  return hn::Load(D(), padded);
}

/// dt and dt * u of V channels from `at` (the offset of the first one's first token of this block).
void stage(const Args& args, std::int64_t e, std::int64_t at, std::int64_t channels,
           std::int64_t tokens, const Buffers& s) {
  const D d;
  const V bias = lanes(args.delta_bias ? args.delta_bias + e : nullptr, channels);
  stage_rows(args.delta + at, args.length, channels, tokens, s.row_x);
  stage_rows(args.u + at, args.length, channels, tokens, s.row_u);
  for (std::int64_t t = 0; t < tokens; t += 4) {
    V dt[4], x[4];
    load_transposed(d, s.row_x + t, kTokens, dt);
    load_transposed(d, s.row_u + t, kTokens, x);
    for (std::int64_t k = 0; k < 4; ++k) {
      V step = hn::Add(dt[k], bias);
      if (args.delta_softplus) step = softplus(d, step);
      hn::Store(step, d, s.dt + (t + k) * kLanes);
      hn::Store(hn::Mul(step, x[k]), d, s.du + (t + k) * kLanes);
    }
  }
}

/// One row of out: (y + D u) * silu(z); y, u and z hold 64 tokens.
void finish_row(const float* y, const float* skip, const float* u, const float* z, float* out) {
  const D d;
  const V dv = hn::Set(d, skip ? *skip : 0.0F);
  for (std::int64_t t = 0; t < kTokens; t += kLanes) {
    V v = hn::Load(d, y + t);
    if (skip) v = hn::MulAdd(dv, hn::LoadU(d, u + t), v);
    if (z) v = hn::Mul(v, silu(d, hn::LoadU(d, z + t)));
    hn::StoreU(v, d, out + t);
  }
}

void finish(const Args& args, std::int64_t e, std::int64_t at, std::int64_t channels,
            std::int64_t tokens, const Buffers& s) {
  const D d;
  for (std::int64_t t = 0; t < tokens; t += 4) {
    V y[4];
    for (std::int64_t k = 0; k < 4; ++k) y[k] = hn::Load(d, s.y + (t + k) * kLanes);
    store_transposed(d, y, s.row_y + t, kTokens);
  }
  if (args.z) stage_rows(args.z + at, args.length, channels, tokens, s.row_x);
  for (std::int64_t i = 0; i < channels; ++i) {
    float* y = s.row_y + i * kTokens;
    float* out = args.out + at + i * args.length;
    const float* skip = args.d ? args.d + e + i : nullptr;
    const bool whole = tokens == kTokens;
    finish_row(y, skip, s.row_u + i * kTokens, args.z ? s.row_x + i * kTokens : nullptr,
               whole ? out : y);
    if (!whole) std::copy_n(y, tokens, out);
  }
}

/// [channels, N] rows as [G, N, V], times `scale`; lanes past the last channel are 0.
void channels_to_lanes(const float* rows, std::int64_t channels, std::int64_t n, float scale,
                       float* lanes_out) {
  for (std::int64_t g = 0; g * kLanes < channels; ++g)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const std::int64_t e = g * kLanes + lane;
        lanes_out[(g * n + i) * kLanes + lane] = rows && e < channels ? rows[e * n + i] * scale : 0;
      }
}

void lanes_to_channels(const float* lanes_in, std::int64_t channels, std::int64_t n, float* rows) {
  for (std::int64_t e = 0; e < channels; ++e)
    for (std::int64_t i = 0; i < n; ++i)
      rows[e * n + i] = lanes_in[(e / kLanes * n + i) * kLanes + e % kLanes];
}

void load_tile(const Args& args, const Tile& tile, const Buffers& s) {
  constexpr float kLog2E = 1.44269504089F;
  const std::int64_t n = args.d_state, rows = tile.first * n;
  const float* h0 = args.initial_state;
  channels_to_lanes(args.a + rows, tile.channels, n, kLog2E, s.a2);
  channels_to_lanes(h0 ? h0 + tile.batch * args.dim * n + rows : nullptr, tile.channels, n, 1, s.h);
  if (args.b_kind == BcKind::kConstant) channels_to_lanes(args.b + rows, tile.channels, n, 1, s.b);
  if (args.c_kind == BcKind::kConstant) channels_to_lanes(args.c + rows, tile.channels, n, 1, s.c);
}

/// The V-group after the one at channel `e`: in this block, or the first one of the next block.
Ahead rows_ahead(const Args& args, const Tile& tile, std::int64_t e, std::int64_t t0) {
  const bool wraps = e + kLanes >= tile.first + tile.channels;
  const std::int64_t next = wraps ? tile.first : e + kLanes;
  const std::int64_t t = wraps ? t0 + kTokens : t0;
  const std::int64_t tokens = std::min(kTokens, args.length - t);
  if (tokens <= 0) return {};
  const std::int64_t at = (tile.batch * args.dim + next) * args.length + t;
  const std::int64_t rows = std::min(kLanes, tile.first + tile.channels - next);
  return {args.u + at, args.delta + at, args.z ? args.z + at : nullptr, args.length, rows, tokens};
}

void scan_block(const Args& args, const Tile& tile, std::int64_t t0, const Buffers& s) {
  const std::int64_t tokens = std::min(kTokens, args.length - t0);
  const std::int64_t n = args.d_state;
  const std::int64_t bc = (tile.batch * args.groups + tile.group) * n * args.length + t0;
  if (args.b_kind == BcKind::kPerToken) pack_tokens(args.b + bc, n, args.length, tokens, s.b);
  if (args.c_kind == BcKind::kPerToken) pack_tokens(args.c + bc, n, args.length, tokens, s.c);
  for (std::int64_t first = 0; first < tile.channels; first += kLanes) {
    const std::int64_t channels = std::min(kLanes, tile.channels - first);
    const std::int64_t e = tile.first + first;
    const std::int64_t at = (tile.batch * args.dim + e) * args.length + t0;
    stage(args, e, at, channels, tokens, s);
    scan_group(args, tokens, s, first * n, rows_ahead(args, tile, e, t0));
    finish(args, e, at, channels, tokens, s);
  }
}

void scan_tile(const Args& args, const Tile& tile, float* scratch) {
  const Buffers s = cut(scratch, args.d_state);
  load_tile(args, tile, s);
  for (std::int64_t t0 = 0; t0 < args.length; t0 += kTokens) scan_block(args, tile, t0, s);
  if (!args.last_state) return;
  const std::int64_t at = (tile.batch * args.dim + tile.first) * args.d_state;
  lanes_to_channels(s.h, tile.channels, args.d_state, args.last_state + at);
}

const char* scan_target() {
  return target_name(HWY_TARGET);
}

}  // namespace
}  // namespace krait::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace krait {
namespace {

HWY_EXPORT(scan_tile);
HWY_EXPORT(scan_target);

std::int64_t tiles_of_a_group(const Args& args) {
  return (args.dim / args.groups + kChannels - 1) / kChannels;
}

/// Tile `index` in the order batch, group, channels.
Tile tile_at(const Args& args, std::int64_t index) {
  const std::int64_t tiles = tiles_of_a_group(args), width = args.dim / args.groups;
  const std::int64_t group = index / tiles % args.groups, first = index % tiles * kChannels;
  return {.batch = index / (tiles * args.groups),
          .group = group,
          .first = group * width + first,
          .channels = std::min(kChannels, width - first)};
}

}  // namespace

std::size_t selective_scan_scratch(const Args& args, std::size_t threads) {
  return threads * static_cast<std::size_t>(worker_floats(args.d_state)) + kAlign;
}

const char* selective_scan(const Args& args, ThreadPool& pool, float* scratch) {
  apply_cpu_override();
  const auto address = reinterpret_cast<std::uintptr_t>(scratch);
  float* aligned = scratch + (64 - address % 64) % 64 / sizeof(float);
  const std::int64_t tiles = args.batch * args.groups * tiles_of_a_group(args);
  const auto body = [&](std::size_t index, std::size_t worker) {
    float* mine = aligned + static_cast<std::int64_t>(worker) * worker_floats(args.d_state);
    HWY_DYNAMIC_DISPATCH(scan_tile)
    (args, tile_at(args, static_cast<std::int64_t>(index)), mine);
  };
  pool.run(static_cast<std::size_t>(tiles), body);
  return HWY_DYNAMIC_DISPATCH(scan_target)();
}

}  // namespace krait
#endif  // HWY_ONCE
