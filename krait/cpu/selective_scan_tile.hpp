// How the hand-written selective scan cuts its work: tiles, spans, blocks and steps, and the
// buffers of a worker. Private to selective_scan.cpp, whose header comment explains the walk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "krait/cpu/selective_scan.hpp"

namespace krait::scan {

constexpr std::int64_t kChannels = 128;  // of a tile
constexpr std::int64_t kTokens = 64;     // of a block
constexpr std::int64_t kMaxLanes = 16;   // of any target
constexpr std::int64_t kLine = 16;       // floats of a cache line

/// What a tile works on: channels first .. first + channels - 1 of one sequence and group.
struct Tile {
  std::int64_t batch, group, first, channels;
};

/// One V-group of one block.
struct Step {
  std::int64_t channel = 0;     // the first one, of dim
  std::int64_t at = 0;          // offset of its first token in u, delta, z and out
  std::int64_t rows = 0;        // channels, at most V
  std::int64_t tokens = 0;      // at most 64; 0: there is no such step
  std::int64_t group = 0;       // of the tile
  std::int64_t token = 0;       // the first one, of length
  std::int64_t span_token = 0;  // the first one, of the span
};

/// Lane buffers of one step, [64, V]; steps next to each other in time use different ones.
struct StepBuffers {
  float *dt, *du, *y;
};

/// A worker's buffers, cut from its scratch. [G, N, V]: V-groups of the tile, states, lanes.
struct Buffers {
  float* h;             // [G, N, V] state
  float* a2;            // [G, N, V] A * log2(e)
  float* b;             // per token [tokens of a span, N], constant [G, N, V]
  float* c;             // as b
  StepBuffers step[2];  // of even and odd steps
  float *quad_delta, *quad_u, *quad_z, *quad_y;  // [16 quads of tokens, 4, V / 4, 4], see Moves
};

/// Tokens of a span: as many blocks as make 32 KiB of packed B, at least one.
constexpr std::int64_t span_tokens(std::int64_t d_state) {
  return std::max<std::int64_t>(1, 8192 / d_state / kTokens) * kTokens;
}

/// Of B or C: packed for a span or, if constant, a row a channel.
constexpr std::int64_t bc_floats(std::int64_t d_state) {
  return std::max(span_tokens(d_state), kChannels) * d_state;
}

// Buffers of 4 KiB on end would alias: a load waits for an earlier store that agrees in the low 12
// bits of the address. Each starts a few lines later in its page than the one before.
constexpr std::int64_t kBlockFloats = kTokens * kMaxLanes + 5 * kLine;

constexpr std::int64_t worker_floats(std::int64_t d_state) {
  return 2 * kChannels * d_state + 2 * bc_floats(d_state) + 10 * kBlockFloats;
}

inline Buffers cut(float* p, std::int64_t d_state) {
  const auto take = [&p](std::int64_t floats) { return std::exchange(p, p + floats); };
  Buffers s{};
  s.h = take(kChannels * d_state), s.a2 = take(kChannels * d_state);
  s.b = take(bc_floats(d_state)), s.c = take(bc_floats(d_state));
  for (StepBuffers& step : s.step)
    step = {.dt = take(kBlockFloats), .du = take(kBlockFloats), .y = take(kBlockFloats)};
  s.quad_delta = take(kBlockFloats), s.quad_u = take(kBlockFloats);
  s.quad_z = take(kBlockFloats), s.quad_y = take(kBlockFloats);
  return s;
}

/// The steps of a tile in the order span, V-group, block.
class Steps {
 public:
  Steps(const SelectiveScanArgs<float>& args, const Tile& tile, std::int64_t lanes)
      : args_(args),
        tile_(tile),
        lanes_(lanes),
        groups_((tile.channels + lanes - 1) / lanes),
        blocks_((args.length + kTokens - 1) / kTokens),
        span_(span_tokens(args.d_state) / kTokens) {}

  std::int64_t count() const { return groups_ * blocks_; }

  /// Step `i`; before the first and after the last one with no tokens.
  Step operator[](std::int64_t i) const {
    if (i < 0 || i >= count()) return {.channel = tile_.first};
    const std::int64_t first_block = i / (groups_ * span_) * span_;
    const std::int64_t blocks = std::min(span_, blocks_ - first_block);
    const std::int64_t in_span = i - first_block * groups_;
    const std::int64_t group = in_span / blocks, block = in_span % blocks;
    const std::int64_t channel = tile_.first + group * lanes_;
    const std::int64_t token = (first_block + block) * kTokens;
    return {.channel = channel,
            .at = (tile_.batch * args_.dim + channel) * args_.length + token,
            .rows = std::min(lanes_, tile_.first + tile_.channels - channel),
            .tokens = std::min(kTokens, args_.length - token),
            .group = group,
            .token = token,
            .span_token = block * kTokens};
  }

 private:
  const SelectiveScanArgs<float>& args_;
  const Tile& tile_;
  std::int64_t lanes_, groups_, blocks_, span_;  // of a span: blocks
};

}  // namespace krait::scan
