// The hand-written selective scan. A tile is one sequence and up to 128 channels of one group;
// tiles are independent. A tile walks its tokens in spans (512 at d_state 16), in a span its
// V-groups (V channels, V the vector length), in a V-group the span's blocks of 64 tokens. One
// V-group of one block is a step:
//
//   pack   B, C [d_state, tokens] -> [tokens, d_state], once a span for all channels of the tile
//   in     delta, u [V channels, 64 tokens] -> dt, dt * u, y = D * u [64 tokens, V lanes]
//   scan   h [states, V] in registers over the 64 tokens; adds to y, over chunks of states
//   out    y -> [V channels, 64 tokens], * silu(z), to out
//
// Bound: the loop over states needs the two vector ports for 11 instructions a state and token (7
// of them the exp): 88 cycles a token at V = 16 and d_state = 16. `in` and `out` by themselves
// would add 41. So `in` of the next step and `out` of the one before run inside that loop, a piece
// a token (selective_scan_moves-inl.hpp), for 13: vector stores and shuffles take slots of the
// ports.
//
// Spans: V rows of 64 tokens are 256 bytes of each of V pages. Block after block with all
// V-groups in each, the pages of all channels take turns and no hardware prefetcher follows; at
// length 2048 that took 1.6 times as long.
//
// y starts as D * u; then the states of a channel are added in order 0, 1, .., whatever the chunk
// and the vector length.

// clang-format off: this order is part of Highway's scheme
#include "krait/numerics/hwy_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/cpu/selective_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "krait/cpu/selective_scan_moves-inl.hpp"
// clang-format on

#include <algorithm>
#include <cstdint>

#include "krait/cpu/selective_scan_tile.hpp"
#include "krait/cpu/target_name.hpp"
#include "krait/numerics/cpu_target.hpp"

HWY_BEFORE_NAMESPACE();
namespace krait::scan::HWY_NAMESPACE {
namespace {

// States held in registers at once: of 32 registers 16, of 16 registers 8 (chosen by bench_cpu).
constexpr std::int64_t kStates = kLanes == 16 ? 16 : 8;

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
    const V decay = cpu::exp2_fast(d, hn::Mul(dt, hn::Load(d, a2)));
    const V bv = kBConstant ? hn::Load(d, b) : hn::Set(d, *b);
    const V cv = kCConstant ? hn::Load(d, c) : hn::Set(d, *c);
    h = hn::MulAdd(decay, h, hn::Mul(du, bv));
    return hn::MulAdd(cv, h, y);
  }

  template <bool kMoves>
  static void run(const Step& step, std::int64_t n, const Buffers& s, StepBuffers mine,
                  std::int64_t d_state, const Moves& moves) {
    const D d;
    const std::int64_t at = (step.group * d_state + n) * kLanes;
    const std::int64_t bc = step.span_token * d_state + n;
    const float* HWY_RESTRICT a2 = s.a2 + at;
    const float* HWY_RESTRICT b = s.b + (kBConstant ? at : bc);
    const float* HWY_RESTRICT c = s.c + (kCConstant ? at : bc);
    // Without D the first chunk's y starts at 0.
    alignas(64) static constexpr float kZeros[kMaxLanes] = {};
    const bool from_zero = n == 0 && !moves.has_skip();
    const float* y_in = from_zero ? kZeros : mine.y;
    const std::int64_t y_step = from_zero ? 0 : kLanes;
    V h[kN];
    for (std::int64_t i = 0; i < kN; ++i) h[i] = hn::Load(d, s.h + at + i * kLanes);
    for (std::int64_t t = 0; t < step.tokens; ++t) {
      const V dt = hn::Load(d, mine.dt + t * kLanes);
      const V du = hn::Load(d, mine.du + t * kLanes);
      const V y = token(h, dt, du, hn::Load(d, y_in + t * y_step), a2, b, c,
                        std::make_index_sequence<kN>());
      hn::Store(y, d, mine.y + t * kLanes);
      if constexpr (kMoves) moves.piece(t);
      if constexpr (!kBConstant) b += d_state;
      if constexpr (!kCConstant) c += d_state;
    }
    for (std::int64_t i = 0; i < kN; ++i) hn::Store(h[i], d, s.h + at + i * kLanes);
  }
};

/// All states of one step from n on: chunks of kN, then of half the size, .. 1.
template <bool kBConstant, bool kCConstant, std::int64_t kN = kStates>
HWY_INLINE void scan_states(const Step& step, std::int64_t n, const Buffers& s, StepBuffers mine,
                            std::int64_t d_state, const Moves& moves) {
  using C = Chunk<kBConstant, kCConstant, kN>;
  for (; n + kN <= d_state; n += kN) C::template run<false>(step, n, s, mine, d_state, moves);
  if constexpr (kN > 1)
    scan_states<kBConstant, kCConstant, kN / 2>(step, n, s, mine, d_state, moves);
}

/// Only the usual case carries the moves: in every variant they would take minutes to compile.
bool carries_moves(const Args& args) {
  return args.b_kind == BcKind::kPerToken && args.c_kind == BcKind::kPerToken &&
         args.d_state >= kStates;
}

void scan_step(const Args& args, const Step& step, const Buffers& s, StepBuffers mine,
               const Moves& moves) {
  const bool b_constant = args.b_kind == BcKind::kConstant;
  const bool c_constant = args.c_kind == BcKind::kConstant;
  if (b_constant && c_constant) {
    scan_states<true, true>(step, 0, s, mine, args.d_state, moves);
  } else if (b_constant) {
    scan_states<true, false>(step, 0, s, mine, args.d_state, moves);
  } else if (c_constant) {
    scan_states<false, true>(step, 0, s, mine, args.d_state, moves);
  } else if (carries_moves(args)) {
    Chunk<false, false, kStates>::run<true>(step, 0, s, mine, args.d_state, moves);
    scan_states<false, false>(step, kStates, s, mine, args.d_state, moves);
  } else {
    scan_states<false, false>(step, 0, s, mine, args.d_state, moves);
  }
}

/// out[t * n + i] = in[i * length + t] for t < tokens, i < n.
void pack_tokens(const float* in, std::int64_t n, std::int64_t length, std::int64_t tokens,
                 float* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const cpu::Block d;
  for (; i + 4 <= n; i += 4) {
    std::int64_t t = 0;
    for (; t + 4 <= tokens; t += 4) {
      hn::Vec<cpu::Block> v[4];
      cpu::load_transposed(d, in + i * length + t, length, v);
      for (std::int64_t k = 0; k < 4; ++k) hn::StoreU(v[k], d, out + (t + k) * n + i);
    }
    for (; t < tokens; ++t)
      for (std::int64_t k = i; k < i + 4; ++k) out[t * n + k] = in[k * length + t];
  }
#endif
  for (; i < n; ++i)
    for (std::int64_t t = 0; t < tokens; ++t) out[t * n + i] = in[i * length + t];
}

/// [channels, N] rows as [G, N, V], times `scale`; lanes past the last channel are 0, and all of
/// them without rows.
void channels_to_lanes(const float* rows, std::int64_t channels, std::int64_t n, float scale,
                       float* lanes_out) {
  const D d;
  for (std::int64_t e = 0; e < channels; e += kLanes, lanes_out += n * kLanes) {
    std::int64_t i = 0;
    for (; rows && e + kLanes <= channels && i + 4 <= n; i += 4) {
      V v[4];
      cpu::load_transposed(d, rows + e * n + i, n, v);
      for (std::int64_t k = 0; k < 4; ++k)
        hn::Store(hn::Mul(v[k], hn::Set(d, scale)), d, lanes_out + (i + k) * kLanes);
    }
    for (; i < n; ++i)
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const bool filled = rows && e + lane < channels;
        lanes_out[i * kLanes + lane] = filled ? rows[(e + lane) * n + i] * scale : 0;
      }
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

void pack_span(const Args& args, const Tile& tile, std::int64_t t0, const Buffers& s) {
  const std::int64_t n = args.d_state, tokens = std::min(span_tokens(n), args.length - t0);
  const std::int64_t bc = (tile.batch * args.groups + tile.group) * n * args.length + t0;
  if (args.b_kind == BcKind::kPerToken) pack_tokens(args.b + bc, n, args.length, tokens, s.b);
  if (args.c_kind == BcKind::kPerToken) pack_tokens(args.c + bc, n, args.length, tokens, s.c);
}

/// The pipeline: before step 0 only moves in, after the last one only moves out.
void scan_steps(const Args& args, const Tile& tile, const Buffers& s) {
  const Steps steps(args, tile, kLanes);
  Step before = steps[-2], now = steps[-1], next = steps[0];
  for (std::int64_t i = -1; i <= steps.count(); ++i) {
    const Step ahead = steps[i + 2];
    const Moves moves(args, s, s.step[~i & 1], before, now, next, ahead);
    if (now.tokens) {
      if (now.group == 0 && now.span_token == 0) pack_span(args, tile, now.token, s);
      scan_step(args, now, s, s.step[i & 1], moves);
    }
    moves.rest(carries_moves(args) ? now.tokens : 0);
    before = now, now = next, next = ahead;
  }
}

void scan_tile(const Args& args, const Tile& tile, float* scratch) {
  const Buffers s = cut(scratch, args.d_state);
  load_tile(args, tile, s);
  scan_steps(args, tile, s);
  if (!args.last_state) return;
  const std::int64_t at = (tile.batch * args.dim + tile.first) * args.d_state;
  lanes_to_channels(s.h, tile.channels, args.d_state, args.last_state + at);
}

const char* scan_target() {
  return target_name(HWY_TARGET);
}

}  // namespace
}  // namespace krait::scan::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace krait {
namespace scan {
namespace {

HWY_EXPORT(scan_tile);
HWY_EXPORT(scan_target);

using Args = SelectiveScanArgs<float>;

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

void run_tile(const Args& args, const Tile& tile, float* scratch) {
  HWY_DYNAMIC_DISPATCH(scan_tile)(args, tile, scratch);
}

const char* target() {
  return HWY_DYNAMIC_DISPATCH(scan_target)();
}

}  // namespace
}  // namespace scan

using Args = SelectiveScanArgs<float>;

std::size_t selective_scan_scratch(const Args& args, std::size_t threads) {
  return threads * static_cast<std::size_t>(scan::worker_floats(args.d_state)) + scan::kLine;
}

const char* selective_scan(const Args& args, ThreadPool& pool, float* scratch) {
  apply_cpu_override();
  const auto address = reinterpret_cast<std::uintptr_t>(scratch);
  float* aligned = scratch + (64 - address % 64) % 64 / sizeof(float);
  const std::int64_t tiles = args.batch * args.groups * scan::tiles_of_a_group(args);
  const auto body = [&](std::size_t index, std::size_t worker) {
    float* mine = aligned + static_cast<std::int64_t>(worker) * scan::worker_floats(args.d_state);
    scan::run_tile(args, scan::tile_at(args, static_cast<std::int64_t>(index)), mine);
  };
  pool.run(static_cast<std::size_t>(tiles), body);
  return scan::target();
}

}  // namespace krait
#endif  // HWY_ONCE
