#pragma once

// The selective scan of Mamba-1 in three native forms; ref/selective_scan.hpp is the definition.
//
//   dt[b,e,t] = delta[b,e,t] + delta_bias[e], through softplus if delta_softplus
//   h[b,e,n]  = exp(dt * A[e,n]) * h[b,e,n] + dt * B * u[b,e,t]      for t = 0, 1, .., length - 1
//   y[b,e,t]  = sum over n of C * h[b,e,n]
//   out       = (y + D[e] * u) * silu(z)           each part only if its input is given
//
// softplus(x) = log1p(exp(x)) for x <= 20, else x. State and sums are f32 in all forms here.
// Kernels check nothing: sizes and pointers are checked at the border of the operator (ops/). They
// allocate nothing: scratch, pool and outputs are passed. `out` and `last_state` overlap no input,
// except that last_state may be initial_state. length 0 is legal: out is empty and last_state is
// initial_state (zeros without one). NaN and infinite inputs reach the outputs they influence.
// Results do not depend on the number of threads.
// Source: Gu and Dao 2023, eq. 2 and algorithm 2; layouts and threshold of the public reference.

#include <cstddef>
#include <cstdint>

#include "krait/base/pool.hpp"

namespace krait {

/// How B or C varies: one row of states a channel, or one vector of states a token and group.
enum class BcKind : std::uint8_t {
  kConstant,  ///< [dim, d_state]
  kPerToken,  ///< [batch, groups, d_state, length]; groups = 1 is [batch, d_state, length]
};

/// Row-major dense arrays; every size but length is at least 1, and groups divides dim: channel e
/// belongs to group e / (dim / groups). Offsets are 64-bit.
template <class T>
struct SelectiveScanArgs {
  std::int64_t batch = 1, dim = 1, d_state = 1, length = 0, groups = 1;
  BcKind b_kind = BcKind::kPerToken, c_kind = BcKind::kPerToken;
  bool delta_softplus = false;

  const T* u = nullptr;              // [batch, dim, length]
  const T* delta = nullptr;          // [batch, dim, length]
  const T* a = nullptr;              // [dim, d_state], normally negative
  const T* b = nullptr;              // see BcKind
  const T* c = nullptr;              // see BcKind
  const T* d = nullptr;              // [dim], optional
  const T* z = nullptr;              // [batch, dim, length], optional
  const T* delta_bias = nullptr;     // [dim], optional
  const T* initial_state = nullptr;  // [batch, dim, d_state], optional: zeros

  T* out = nullptr;         // [batch, dim, length]
  T* last_state = nullptr;  // [batch, dim, d_state], optional
};

/// Floats of scratch (any alignment) that selective_scan needs with a pool of `threads`.
[[nodiscard]] std::size_t selective_scan_scratch(const SelectiveScanArgs<float>& args,
                                                 std::size_t threads);

/// The hand-written form: channels in lanes, state in registers, tiles of 128 channels.
/// A channel's result depends on its own inputs only, so splitting a sequence anywhere (last_state
/// into initial_state) gives the same bits. Decays have a relative error of 2.4e-7 plus that of
/// the product dt * A in f32; a decay below 2^-126 may become 0.
/// @return the instruction set that ran, as krait/numerics/cpu_target.hpp names it
const char* selective_scan(const SelectiveScanArgs<float>& args, ThreadPool& pool, float* scratch);

/// Floats of scratch for selective_scan_compiled: B and C in time-major order, two rows a thread.
[[nodiscard]] std::size_t selective_scan_compiled_scratch(const SelectiveScanArgs<float>& args,
                                                          std::size_t threads);

/// The compiler form: one fused loop nest (channel, token, state) that the compiler vectorises.
/// @return the architecture level of the build that ran: "x86-64", "x86-64-v3" or "x86-64-v4"
const char* selective_scan_compiled(const SelectiveScanArgs<float>& args, ThreadPool& pool,
                                    float* scratch);

/// Floats of scratch for selective_scan_naive: it holds exp(dt A) and dt B u of all states and
/// tokens, so it grows as 2 * batch * dim * length * d_state.
[[nodiscard]] std::size_t selective_scan_naive_scratch(const SelectiveScanArgs<float>& args);

/// The naive form: one pass over memory for each elementary operator, as an eager framework runs
/// the public reference. selective_scan_naive.cpp lists the passes and what each materialises.
/// @return as selective_scan_compiled
const char* selective_scan_naive(const SelectiveScanArgs<float>& args, ThreadPool& pool,
                                 float* scratch);

}  // namespace krait
