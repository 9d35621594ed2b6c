#pragma once

// A dense row-major tensor: dtype, shape and shared bytes. Copying a Tensor shares its bytes; clone()
// copies them. The bytes may belong to a mapped file (private mapping: writes never reach the file).

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "krait/numerics/dtype.hpp"

namespace krait {

using Shape = std::vector<std::int64_t>;

/// "[2, 16, 128]"
[[nodiscard]] std::string to_string(const Shape& shape);
/// Product of the dimensions (1 for a scalar). @throws UserError on a negative dimension or overflow
[[nodiscard]] std::int64_t element_count(const Shape& shape);

class Tensor {
 public:
  Tensor() = default;
  /// Zero-filled. @throws UserError on an invalid shape
  Tensor(DType dtype, Shape shape);
  /// Takes shared bytes that hold at least element_count * size_of(dtype) bytes, any alignment.
  Tensor(DType dtype, Shape shape, std::shared_ptr<std::byte> data);
  /// An f32 tensor with these values; sizes must agree.
  static Tensor f32(Shape shape, std::span<const float> values);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t dim(std::size_t axis) const { return shape_[axis]; }
  [[nodiscard]] std::size_t rank() const { return shape_.size(); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count_) * size_of(dtype_); }
  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] const std::byte* data() const { return data_.get(); }

  /// Typed access. @throws InternalError if T is not the dtype's C++ type (f32, f64, i32, i64, u8)
  template <class T>
  [[nodiscard]] std::span<T> values();
  template <class T>
  [[nodiscard]] std::span<const T> values() const;

  [[nodiscard]] Tensor clone() const;
  /// Same bytes, other shape of equal count.
  [[nodiscard]] Tensor reshaped(Shape shape) const;
  /// Values converted to another dtype: through f32, except between f64, f32, i32 and i64, which
  /// convert directly.
  [[nodiscard]] Tensor cast(DType dtype) const;
  /// All values as f64.
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
