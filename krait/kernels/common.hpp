#pragma once

// Pieces that device kernels share.

#include "krait/dsl/builder.hpp"
#include "krait/kernels/kernel.hpp"

namespace krait::kernels {

using dsl::Hbm;
using dsl::KernelBuilder;
using dsl::Ref;

// Loads and stores use different rings, so that a store waiting for its data holds up no load.
inline constexpr isa::DmaRing kLoadRing = isa::DmaRing::kSync;
inline constexpr isa::DmaRing kStoreRing = isa::DmaRing::kGpSimd;

/// f32 columns of a PSUM bank, 2 KiB on every generation; also the most that one product moves on
/// v2 and v3.
inline constexpr std::int64_t kBankColumns = 512;

inline void load(KernelBuilder& kb, const Ref& dst, const Ref& src) {
  kb.emit(isa::DmaCopy{.dst = dst, .src = src, .ring = kLoadRing});
}
inline void store(KernelBuilder& kb, const Ref& dst, const Ref& src) {
  kb.emit(isa::DmaCopy{.dst = dst, .src = src, .ring = kStoreRing});
}

/// ScalarE copy: every generation has it (tensor_copy on ScalarE needs v3); f32 passes unchanged.
inline void scalar_copy(KernelBuilder& kb, const Ref& dst, const Ref& src) {
  kb.emit(isa::Activation{.dst = dst, .data = src, .fn = UnaryFn::kCopy});
}

/// A constant 0/1 matrix [128, 128]: 1 where column == row + shift. Shift 0 is the identity.
[[nodiscard]] Ref shifted_identity(KernelBuilder& kb, DType dtype, std::int64_t shift);

/// dst[p, :] (PSUM, one bank) = row `k` of `rows` ([K, F] in SBUF) on every partition p: the
/// product of the identity's column k, repeated, with the rows. Exact: one term is not zero.
void broadcast_row(KernelBuilder& kb, const Ref& dst, const Ref& identity, const Ref& rows,
                   std::int64_t k);

}  // namespace krait::kernels
