#pragma once

// A dense row-major tensor: dtype, shape and shared bytes. Copying a Tensor shares its bytes;
// clone() copies them. The bytes may belong to a mapped file (private mapping: writes never reach
// the file).
//
// The bytes of a Tensor always start at a multiple of its element size, so typed access is legal.
// Storage that Tensor allocates itself starts at a multiple of 64 bytes (a cache line, and the
// widest vector we use).

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krait/numerics/dtype.hpp"

namespace krait {

using Shape = std::vector<std::int64_t>;

/// "[2, 16, 128]"
[[nodiscard]] std::string to_string(const Shape& shape);
/// Product of the dimensions: 1 for a scalar, 0 if any dimension is 0.
/// @throws UserError on a negative dimension or a product over 2^63 - 1
[[nodiscard]] std::int64_t element_count(const Shape& shape);
/// The bytes of a dense tensor; nothing if a dimension is negative or the bytes exceed 2^63 - 1.
[[nodiscard]] std::optional<std::uint64_t> checked_bytes(DType dtype, const Shape& shape);

class Tensor {
 public:
  /// No elements, rank 0; the only Tensor whose count differs from element_count(shape()).
  Tensor() = default;
  /// Zero-filled. @throws UserError on an invalid shape, or one too large to allocate
  Tensor(DType dtype, Shape shape);
  /// Takes shared bytes that hold at least element_count * size_of(dtype) bytes. If they are not
  /// aligned to size_of(dtype), and only then, they are copied, and the tensor does not share them.
  /// @throws UserError on an invalid shape; InternalError on null data for a tensor with elements
  Tensor(DType dtype, Shape shape, std::shared_ptr<std::byte> data);
  /// An f32 tensor with these values. @throws UserError if their number is not the shape's
  static Tensor f32(Shape shape, std::span<const float> values);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t dim(std::size_t axis) const { return shape_[axis]; }
  [[nodiscard]] std::size_t rank() const { return shape_.size(); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(count_) * size_of(dtype_);
  }
  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] const std::byte* data() const { return data_.get(); }

  /// Typed access. @throws InternalError if T is not the dtype's C++ type (f32, f64, i32, i64, u8)
  template <class T>
  [[nodiscard]] std::span<T> values();
  template <class T>
  [[nodiscard]] std::span<const T> values() const;

  [[nodiscard]] Tensor clone() const;
  /// Same bytes, other shape. @throws UserError if the counts differ
  [[nodiscard]] Tensor reshaped(Shape shape) const;
  /// Values converted to another dtype: through f32, except between f64, f32, i32 and i64, which
  /// convert directly. Rounds to nearest even; integers saturate and NaN becomes integer 0, as in
  /// numerics/convert.hpp. Always a copy, also to the same dtype (then the bits are kept).
  [[nodiscard]] Tensor cast(DType dtype) const;
  /// All values as f64; exact for every dtype but i64, which is rounded to nearest even.
  [[nodiscard]] std::vector<double> to_f64() const;

 private:
  DType dtype_ = DType::kF32;
  Shape shape_;
  std::int64_t count_ = 0;
  std::shared_ptr<std::byte> data_;
};

/// Named tensors, ordered by name.
using TensorMap = std::map<std::string, Tensor>;

}  // namespace krait
