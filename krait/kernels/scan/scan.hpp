#pragma once

// The selective scan of Mamba-1 for the device: what its kernels share.
//   dt = softplus(delta + delta_bias)      h_t = exp(dt_t A) h_{t-1} + dt_t u_t B_t
//   out = (sum_n C_t[n] h_t[n] + D u_t) * silu(z_t)
// All f32:
//   u, delta, z, out           [batch, d_inner, length]
//   A                          [d_inner, d_state]
//   B, C                       [d_inner, d_state] (constant), [batch, d_state, length] or
//                              [batch, groups, d_state, length]
//   D, delta_bias              [d_inner]
//   initial_state, last_state  [batch, d_inner, d_state]
// Source: MAMBA1, SSM.

#include <functional>

#include "krait/kernels/common.hpp"

namespace krait::kernels {

/// B or C: constant per channel, or one row a token for each group.
struct ScanMatrix {
  Hbm tensor;
  bool constant = false;
};

struct ScanIo {
  std::int64_t batch = 0, d_inner = 0, d_state = 0, length = 0, groups = 1;
  bool softplus = false;
  Hbm u, delta, a, d, z, delta_bias, initial_state, out, last_state;
  ScanMatrix b, c;

  [[nodiscard]] std::int64_t channels_per_group() const { return d_inner / groups; }
  /// Channels [e, e + count) x tokens [t, t + n) of u, delta, z or out.
  [[nodiscard]] Ref tokens(const Hbm& x, const Affine& batch_index, const Affine& e,
                           std::int64_t count, const Affine& t, std::int64_t n) const {
    return x.view(x.at({batch_index, e, t}), length, count, {{1, n}});
  }
  /// States [s, s + count) x tokens [t, t + n) of a per-token B or C: states on partitions.
  [[nodiscard]] Ref states(const ScanMatrix& m, const Affine& batch_index, const Affine& group,
                           std::int64_t s, std::int64_t count, const Affine& t,
                           std::int64_t n) const;
  /// Channels x states [s, s + n) of A, or of a constant B or C.
  [[nodiscard]] Ref channel_states(const Hbm& x, const Affine& e, std::int64_t count,
                                   std::int64_t s, std::int64_t n) const {
    return x.view(x.at({e, Affine(s)}), d_state, count, {{1, n}});
  }
  /// The same of initial_state or last_state.
  [[nodiscard]] Ref batch_states(const Hbm& x, const Affine& batch_index, const Affine& e,
                                 std::int64_t count, std::int64_t s, std::int64_t n) const {
    return x.view(x.at({batch_index, e, Affine(s)}), d_state, count, {{1, n}});
  }
  /// Channels [e, e + count) of D or delta_bias, one a partition.
  [[nodiscard]] static Ref per_channel(const Hbm& x, const Affine& e, std::int64_t count) {
    return x.view(e, 1, count, {{1, 1}});
  }
};

/// Declares inputs and outputs. @throws UserError naming the tensor that does not fit
[[nodiscard]] ScanIo declare_scan(KernelBuilder& kb, const Problem& problem);

/// dt (SBUF) = softplus(delta + bias), or what the attributes ask of it. `bias` may be absent; all
/// [channels, tokens], bias [channels, 1]. ScalarE.
void emit_dt(KernelBuilder& kb, const ScanIo& io, const Ref& dt, const Ref& delta, const Ref& bias);

}  // namespace krait::kernels
