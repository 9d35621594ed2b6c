#pragma once

// RMSNorm for the device: y = x * rstd * weight, rstd = (mean(x^2) + eps)^(-1/2) per row.
// x, y: [rows, width] (leading dimensions flattened), f32 or bf16; weight: [width]; statistics in
// f32. Rows lie on partitions, 128 at a time; any number of rows and any width.

#include "krait/kernels/common.hpp"

namespace krait::kernels {

struct RmsnormIo {
  std::int64_t rows = 0, width = 0;
  double eps = 1e-5;
  DType dtype = DType::kF32;
  Hbm x, weight, out;

  /// Rows [start, start + count), columns [from, from + size).
  [[nodiscard]] Ref tile(const Hbm& tensor, const Affine& start, std::int64_t count,
                         const Affine& from, std::int64_t size) const {
    return tensor.view(start * width + from, width, count, {{1, size}});
  }
};

/// Declares the tensors. @throws UserError for a gate, groups or other dtypes, by name
[[nodiscard]] RmsnormIo declare_rmsnorm(KernelBuilder& kb, const Problem& problem);

/// rstd[p] = (sum[p] / width + eps)^(-1/2) on ScalarE; eps is a [128, 1] tile of the constant.
void emit_rstd(KernelBuilder& kb, const RmsnormIo& io, const Ref& rstd, const Ref& sum,
               const Ref& eps);

/// A [1, 1] f32 tile that holds 1, for weight_tile.
[[nodiscard]] Ref one_tile(KernelBuilder& kb);

/// weight[from, from + n) on all 128 partitions, f32: one row is loaded, and products with a column
/// of ones spread it, as TensorE has nothing else to do. 128 loads of the row would be most of the
/// traffic when rows are few.
[[nodiscard]] Ref weight_tile(KernelBuilder& kb, const RmsnormIo& io, const Ref& one,
                              const Affine& from, std::int64_t n);

/// A [128, 1] f32 tile that holds eps (activation takes constants other than 0 from v3 on only).
[[nodiscard]] Ref eps_tile(KernelBuilder& kb, const RmsnormIo& io);

}  // namespace krait::kernels
