#include "krait/kernels/common.hpp"

namespace krait::kernels {

Ref shifted_identity(KernelBuilder& kb, DType dtype, std::int64_t shift) {
  Ref out = kb.sbuf(shift == 0 ? "identity" : "shift" + std::to_string(shift), dtype, 128, {128});
  isa::IotaPattern pattern;  // column - row - shift
  pattern.offset = static_cast<std::int32_t>(-shift);
  pattern.multiplier = -1;
  pattern.dims[0] = {1, 128};
  kb.emit(isa::Memset{.dst = out, .value = 1, .engine = isa::Engine::kGpSimd});
  kb.emit(
      isa::AffineSelect{.dst = out, .on_true = out, .pattern = pattern, .cmp = isa::AluOp::kEqual});
  return out;
}

void broadcast_row(KernelBuilder& kb, const Ref& dst, const Ref& identity, const Ref& rows,
                   std::int64_t k) {
  const std::int64_t depth = rows.partitions();
  const Ref column = identity.partitions(0, depth).col(k).broadcast(1, dst.partitions());
  kb.emit(isa::NcMatmul{.dst = dst, .stationary = column, .moving = rows, .onezero = true});
}

}  // namespace krait::kernels
