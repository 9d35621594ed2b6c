#pragma once

// What a kernel holds while it is being written: views of on-chip buffers and HBM tensors whose
// offsets may be affine in loop indices. A view becomes an instruction's operand by conversion.

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "krait/isa/tile.hpp"
#include "krait/tensor/affine.hpp"
#include "krait/tensor/tensor.hpp"

namespace krait::dsl {

class KernelBuilder;

/// A view: partitions x up to four free dimensions, steps in elements. Cheap to copy. Every slicing
/// function checks its bounds where they are constants; the builder checks the rest when it emits.
class Ref {
 public:
  Ref() = default;

  [[nodiscard]] bool present() const { return builder_ != nullptr; }
  [[nodiscard]] DType dtype() const { return tile_.dtype; }
  [[nodiscard]] std::int64_t partitions() const { return tile_.partitions; }
  [[nodiscard]] std::int64_t free_size() const { return tile_.free_size(); }
  [[nodiscard]] std::size_t rank() const { return tile_.rank; }
  [[nodiscard]] std::int64_t extent(std::size_t dim) const { return tile_.dims[dim].count; }

  /// Partitions [start, start + count).
  [[nodiscard]] Ref partitions(std::int64_t start, std::int64_t count) const;
  /// Positions start, start + step, ... of free dimension `dim`.
  [[nodiscard]] Ref slice(std::size_t dim, const Affine& start, std::int64_t count,
                          std::int64_t step = 1) const;
  /// Slice of the innermost dimension.
  [[nodiscard]] Ref cols(const Affine& start, std::int64_t count) const {
    return slice(rank() - 1, start, count);
  }
  [[nodiscard]] Ref col(const Affine& index) const { return cols(index, 1); }
  /// Splits the innermost dimension, whose count must be outer * inner, into two.
  [[nodiscard]] Ref split(std::int64_t outer, std::int64_t inner) const;
  /// Joins dimension `dim` and the next one, which must be contiguous with it.
  [[nodiscard]] Ref merge(std::size_t dim) const;
  /// Inserts a dimension of `count` positions with step 0 before dimension `dim`; rank appends.
  [[nodiscard]] Ref broadcast(std::size_t dim, std::int64_t count) const;
  /// Slot `count` mod extent(0) of the outermost dimension: a pool whose turn the kernel names, for
  /// software pipelining (write slot i + 1 while slot i is read).
  [[nodiscard]] Ref rotating(const Affine& count) const;
  /// Exchanges two free dimensions.
  [[nodiscard]] Ref swap(std::size_t a, std::size_t b) const;

  operator isa::Tile() const;     // NOLINT(google-explicit-constructor): a view is an operand
  operator isa::Operand() const;  // NOLINT(google-explicit-constructor)

 private:
  friend class KernelBuilder;
  friend class Hbm;
  Ref(KernelBuilder* builder, const isa::Tile& tile, Offset offset)
      : builder_(builder), tile_(tile), offset_(std::move(offset)) {}

  KernelBuilder* builder_ = nullptr;
  isa::Tile tile_;  // expr unused; offset_ holds the place
  Offset offset_;   // bytes
};

/// An HBM tensor of the kernel.
class Hbm {
 public:
  Hbm() = default;
  [[nodiscard]] bool present() const { return builder_ != nullptr; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// @throws UserError for an axis the tensor does not have; so do stride, at and view
  [[nodiscard]] std::int64_t dim(std::size_t axis) const;
  /// Elements between neighbours along an axis (row-major).
  [[nodiscard]] std::int64_t stride(std::size_t axis) const;

  /// Element offset of an index, one entry an axis.
  [[nodiscard]] Affine at(std::initializer_list<Affine> index) const;
  /// The view that starts at element `offset`: `partitions` rows `partition_step` elements apart (0
  /// broadcasts), each with the free dimensions `dims` (step, count), outermost first.
  [[nodiscard]] Ref view(const Affine& offset, std::int64_t partition_step, std::int64_t partitions,
                         std::initializer_list<isa::Dim> dims) const;

 private:
  friend class KernelBuilder;
  KernelBuilder* builder_ = nullptr;
  std::uint32_t buffer_ = 0;
  DType dtype_ = DType::kF32;
  Shape shape_;
};

}  // namespace krait::dsl
