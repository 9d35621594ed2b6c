// What runs beside the loop over states of the selective scan: rows come in, results leave. A
// per-target header of selective_scan.cpp.
//
// Rows in memory are channel after channel, the scan wants the channels of one token as lanes. In
// between stand quads: the 4-token pieces (16 bytes) of V rows, in the order in which a 4 x 4
// transpose inside each 128-bit block makes vectors of channels from vectors of memory:
//
//   row r, tokens 4q .. 4q + 3   ->   quad[q][r % 4][r / 4][4]
//
// Copying rows into quads touches each line of a row once: rows of a power-of-two length share few
// cache sets, so that transposing them in place would miss L1 four times a line.

#if defined(KRAIT_CPU_SELECTIVE_SCAN_MOVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KRAIT_CPU_SELECTIVE_SCAN_MOVES_INL
#undef KRAIT_CPU_SELECTIVE_SCAN_MOVES_INL
#else
#define KRAIT_CPU_SELECTIVE_SCAN_MOVES_INL
#endif

#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "krait/cpu/selective_scan_tile.hpp"
#include "krait/cpu/transpose-inl.hpp"
#include "krait/cpu/vec_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace krait::scan::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace cpu = krait::HWY_NAMESPACE;

using Args = SelectiveScanArgs<float>;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

HWY_INLINE void copy_four(const float* from, float* to) {
  std::memcpy(to, from, 4 * sizeof(float));
}

HWY_INLINE std::int64_t in_quads(std::int64_t row, std::int64_t token) {
  return token * kLanes + row % 4 * kLanes + row / 4 * 4;
}

/// Values per channel as lanes; lanes past `count` are 0.
inline V lanes(const float* values, std::int64_t count) {
  alignas(64) float padded[kMaxLanes] = {};
  if (values) std::copy_n(values, count, padded);
  return hn::Load(D(), padded);
}

/// The moves of step `now`: what the next step needs comes in, what the one before made leaves,
/// and lines of the one after next are asked for. They are cut into 64 pieces, one a token.
///
///   first half    delta, u of the next step -> quads
///                 y of the step before * silu(z) -> quads
///   second half   quads of delta, u -> dt, dt * u, D * u
///                 quads of y -> out
///                 z of this step -> quads
class Moves {
 public:
  Moves(const Args& args, const Buffers& s, StepBuffers neighbour, const Step& before,
        const Step& now, const Step& next, const Step& ahead)
      : args_(args),
        s_(s),
        neighbour_(neighbour),
        before_(before),
        now_(now),
        next_(next),
        ahead_(ahead),
        bias_(args.delta_bias ? lanes(args.delta_bias + next.channel, next.rows) : hn::Zero(D())),
        skip_(args.d ? lanes(args.d + next.channel, next.rows) : hn::Zero(D())) {
    if (!whole(next)) ragged_to_quads(args.delta, next, s.quad_delta);
    if (!whole(next)) ragged_to_quads(args.u, next, s.quad_u);
    if (!whole(before) && args.z) ragged_to_quads(args.z, before, s.quad_z);
  }

  HWY_INLINE void piece(std::int64_t t) const {
    constexpr std::int64_t kHalf = kTokens / 2;
    prefetch_lines(t);
    if (t < kHalf)
      first_half(t);
    else
      second_half(t - kHalf);
  }

  /// Pieces from `t` on, for a step with fewer tokens than its neighbours, and a ragged step's out.
  void rest(std::int64_t t) const {
    for (; t < kTokens; ++t) piece(t);
    if (!whole(before_)) quads_to_ragged();
  }

  bool has_skip() const { return args_.d != nullptr; }

 private:
  static HWY_INLINE bool whole(const Step& step) {
    return step.rows == kLanes && step.tokens == kTokens;
  }

  HWY_INLINE void first_half(std::int64_t t) const {
    if (whole(next_)) {
      rows_to_quads(args_.delta, next_, t, s_.quad_delta);
      rows_to_quads(args_.u, next_, t, s_.quad_u);
    }
    if (t % 2 == 1 && before_.tokens) lanes_to_quad(2 * (t - 1));
    if (t % 2 == 0 && before_.tokens && args_.z) gate_quad(2 * t);
  }

  HWY_INLINE void second_half(std::int64_t t) const {
    if (next_.tokens) {
      if (t % 2 == 0)
        delta_to_lanes(2 * t);
      else
        u_to_lanes(2 * (t - 1));
    }
    if (whole(before_)) quads_to_rows(t);
    if (args_.z && whole(now_)) rows_to_quads(args_.z, now_, t, s_.quad_z);
  }

  HWY_INLINE void prefetch_lines(std::int64_t t) const {
    constexpr std::int64_t kLines = kTokens / kLine;
    const std::int64_t row = t / kLines, token = t % kLines * kLine;
    const std::int64_t offset = row * args_.length + token;
    if (row < ahead_.rows && token < ahead_.tokens) {
      hwy::Prefetch(args_.u + ahead_.at + offset);
      hwy::Prefetch(args_.delta + ahead_.at + offset);
    }
    if (args_.z && row < next_.rows && token < next_.tokens)
      hwy::Prefetch(args_.z + next_.at + offset);
  }

  // Half a block is 32 pieces. Each copies its share of V rows of 16 quads: V / 2 quads of one row
  // (one of every other piece for V = 1), unrolled, so that only the row needs address arithmetic.
  static constexpr std::int64_t kShare = kLanes > 1 ? kLanes / 2 : 1;
  struct Share {
    std::int64_t row, token;
  };

  static HWY_INLINE bool has_share(std::int64_t t) { return kLanes > 1 || t % 2 == 0; }

  static HWY_INLINE Share share(std::int64_t t) {
    constexpr std::int64_t kQuads = kTokens / 4;
    const std::int64_t first = kLanes > 1 ? t * kShare : t / 2;
    return {first / kQuads, first % kQuads * 4};
  }

  template <std::size_t... I>
  static HWY_INLINE void copy_to_quads(const float* row, float* quads,
                                       std::index_sequence<I...> /*quads*/) {
    (copy_four(row + 4 * I, quads + 4 * kLanes * I), ...);
  }

  template <std::size_t... I>
  static HWY_INLINE void copy_from_quads(const float* quads, float* row,
                                         std::index_sequence<I...> /*quads*/) {
    (copy_four(quads + 4 * kLanes * I, row + 4 * I), ...);
  }

  HWY_INLINE void rows_to_quads(const float* in, const Step& step, std::int64_t t,
                                float* quads) const {
    if (!has_share(t)) return;
    const auto [row, token] = share(t);
    copy_to_quads(in + step.at + row * args_.length + token, quads + in_quads(row, token),
                  std::make_index_sequence<kShare>());
  }

  HWY_INLINE void quads_to_rows(std::int64_t t) const {
    if (!has_share(t)) return;
    const auto [row, token] = share(t);
    copy_from_quads(s_.quad_y + in_quads(row, token),
                    args_.out + before_.at + row * args_.length + token,
                    std::make_index_sequence<kShare>());
  }

  HWY_INLINE void load_quad(const float* quads, std::int64_t t, V (&v)[4]) const {
    for (std::int64_t k = 0; k < 4; ++k) v[k] = hn::Load(D(), quads + (t + k) * kLanes);
    cpu::transpose_blocks(D(), v);
  }

  HWY_INLINE void delta_to_lanes(std::int64_t t) const {
    const D d;
    V dt[4];
    load_quad(s_.quad_delta, t, dt);
    for (std::int64_t k = 0; k < 4; ++k) {
      if (args_.delta_bias) dt[k] = hn::Add(dt[k], bias_);
      if (args_.delta_softplus) dt[k] = cpu::softplus(d, dt[k]);
      hn::Store(dt[k], d, neighbour_.dt + (t + k) * kLanes);
    }
  }

  HWY_INLINE void u_to_lanes(std::int64_t t) const {
    const D d;
    V u[4];
    load_quad(s_.quad_u, t, u);
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t at = (t + k) * kLanes;
      hn::Store(hn::Mul(hn::Load(d, neighbour_.dt + at), u[k]), d, neighbour_.du + at);
      if (args_.d) hn::Store(hn::Mul(skip_, u[k]), d, neighbour_.y + at);
    }
  }

  HWY_INLINE void gate_quad(std::int64_t t) const {
    const D d;
    V z[4];
    load_quad(s_.quad_z, t, z);
    for (std::int64_t k = 0; k < 4; ++k) {
      float* y = neighbour_.y + (t + k) * kLanes;
      hn::Store(hn::Mul(hn::Load(d, y), cpu::silu(d, z[k])), d, y);
    }
  }

  HWY_INLINE void lanes_to_quad(std::int64_t t) const {
    V y[4];
    load_quad(neighbour_.y, t, y);
    for (std::int64_t k = 0; k < 4; ++k) hn::Store(y[k], D(), s_.quad_y + (t + k) * kLanes);
  }

  /// A step with fewer rows or tokens: what it lacks is 0. Nothing for no step.
  void ragged_to_quads(const float* in, const Step& step, float* quads) const {
    if (step.tokens == 0) return;
    std::fill_n(quads, kTokens * kLanes, 0.0F);
    for (std::int64_t row = 0; row < step.rows; ++row)
      for (std::int64_t t = 0; t < step.tokens; ++t)
        quads[in_quads(row, t / 4 * 4) + t % 4] = in[step.at + row * args_.length + t];
  }

  void quads_to_ragged() const {
    for (std::int64_t row = 0; row < before_.rows; ++row)
      for (std::int64_t t = 0; t < before_.tokens; ++t)
        args_.out[before_.at + row * args_.length + t] =
            s_.quad_y[in_quads(row, t / 4 * 4) + t % 4];
  }

  const Args args_;  // by value: a reference would be followed at every piece
  const Buffers s_;
  const StepBuffers neighbour_;  // of the step before, then of the next one
  const Step before_, now_, next_, ahead_;
  const V bias_, skip_;
};

}  // namespace krait::scan::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
