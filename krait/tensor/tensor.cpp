#include "krait/tensor/tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/numerics/convert.hpp"

namespace krait {
namespace {

constexpr std::size_t kAlignment = 64;

/// Elements converted at a time: a block of f32 that stays in the first-level cache.
constexpr std::size_t kBlock = 2048;

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  constexpr std::align_val_t kAlign{kAlignment};
  void* raw = ::operator new(bytes, kAlign, std::nothrow);
  if (raw == nullptr) {
    throw UserError(Report{"not enough memory for a tensor",
                           {},
                           human_bytes(bytes),
                           "use a smaller shape, a narrower dtype or a larger machine"});
  }
  return {static_cast<std::byte*>(raw), [](std::byte* p) { ::operator delete(p, kAlign); }};
}

/// memcpy that allows null pointers for an empty range.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

bool is_aligned(const std::byte* data, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

/// The product of the dimensions; nothing if one is negative or the product overflows.
std::optional<std::int64_t> checked_count(const Shape& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t d) { return d < 0; })) return {};
  // First, so that the answer does not depend on the order of the dimensions.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t dim : shape)
    if (__builtin_mul_overflow(count, dim, &count)) return {};
  return count;
}

[[noreturn]] void reject_shape(DType dtype, const Shape& shape) {
  const auto negative = std::find_if(shape.begin(), shape.end(), [](auto d) { return d < 0; });
  const bool has_negative = negative != shape.end();
  throw UserError(Report{has_negative ? "a tensor's shape has a negative dimension"
                                      : "a tensor's size exceeds 2^63 - 1",
                         {},
                         cat(name(dtype), " ", to_string(shape)),
                         "give dimensions of 0 or more whose product fits"});
}

template <class T>
constexpr DType kDTypeOf = DType::kF32;
template <>
constexpr DType kDTypeOf<double> = DType::kF64;
template <>
constexpr DType kDTypeOf<std::int32_t> = DType::kI32;
template <>
constexpr DType kDTypeOf<std::int64_t> = DType::kI64;
template <>
constexpr DType kDTypeOf<std::uint8_t> = DType::kU8;

template <class T>
void check_access(DType dtype) {
  if (dtype == kDTypeOf<T>) return;
  throw InternalError(Report{"typed access to a tensor of another dtype",
                             {},
                             cat("values<", name(kDTypeOf<T>), "> of a ", name(dtype), " tensor"),
                             "cast() the tensor first"});
}

/// One conversion between the types that convert directly; see Tensor::cast.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<From>) {
    const std::int64_t low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    return static_cast<To>(std::clamp<std::int64_t>(value, low, high));
  } else {
    // 2^(bits-1) is exact in both float types, unlike the largest integer.
    const From bound = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (std::isnan(value)) return 0;
    const From rounded = std::nearbyint(value);
    if (rounded >= bound) return std::numeric_limits<To>::max();
    if (rounded < -bound) return std::numeric_limits<To>::min();
    return static_cast<To>(rounded);
  }
}

/// Calls `use` with a value of the C++ type of f64, f32, i32 or i64; false for any other dtype.
template <class F>
bool with_direct_type(DType dtype, F use) {
  switch (dtype) {
    case DType::kF64:
      use(double{});
      return true;
    case DType::kF32:
      use(float{});
      return true;
    case DType::kI32:
      use(std::int32_t{});
      return true;
    case DType::kI64:
      use(std::int64_t{});
      return true;
    default:
      return false;
  }
}

bool cast_directly(const Tensor& in, Tensor& out) {
  return with_direct_type(out.dtype(), [](auto) {}) && with_direct_type(in.dtype(), [&](auto from) {
           with_direct_type(out.dtype(), [&](auto to) {
             const auto source = in.values<decltype(from)>();
             std::transform(source.begin(), source.end(), out.values<decltype(to)>().begin(),
                            [](auto v) { return convert<decltype(to)>(v); });
           });
         });
}

/// Calls `use(first element, f32 values)` block by block.
template <class F>
void for_each_f32_block(const Tensor& in, F use) {
  std::array<float, kBlock> block;
  const auto count = static_cast<std::size_t>(in.count());
  for (std::size_t i = 0; i < count; i += kBlock) {
    const std::span<float> row(block.data(), std::min(kBlock, count - i));
    load_row(in.dtype(), in.data() + i * size_of(in.dtype()), 1, row);
    use(i, row);
  }
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (const std::int64_t dim : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(dim);
  return out + "]";
}

std::int64_t element_count(const Shape& shape) {
  const auto count = checked_count(shape);
  if (!count) reject_shape(DType::kU8, shape);
  return *count;
}

std::optional<std::uint64_t> checked_bytes(DType dtype, const Shape& shape) {
  const auto count = checked_count(shape);
  std::int64_t bytes = 0;
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  if (!count || __builtin_mul_overflow(*count, size, &bytes)) return {};
  return static_cast<std::uint64_t>(bytes);
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const auto bytes = checked_bytes(dtype_, shape_);
  if (!bytes) reject_shape(dtype_, shape_);
  count_ = element_count(shape_);
  data_ = allocate(*bytes);
  if (*bytes != 0) std::memset(data_.get(), 0, *bytes);
}

Tensor::Tensor(DType dtype, Shape shape, std::shared_ptr<std::byte> data)
    : dtype_(dtype), shape_(std::move(shape)), data_(std::move(data)) {
  const auto bytes = checked_bytes(dtype_, shape_);
  if (!bytes) reject_shape(dtype_, shape_);
  count_ = element_count(shape_);
  KRAIT_ASSERT(count_ == 0 || data_ != nullptr);
  if (is_aligned(data_.get(), size_of(dtype_))) return;
  auto copy = allocate(*bytes);
  copy_bytes(copy.get(), data_.get(), *bytes);
  data_ = std::move(copy);
}

Tensor Tensor::f32(Shape shape, std::span<const float> values) {
  Tensor out(DType::kF32, std::move(shape));
  if (static_cast<std::size_t>(out.count()) != values.size()) {
    throw UserError(Report{"the values do not fill the tensor's shape",
                           {},
                           cat(values.size(), " values for shape ", to_string(out.shape()), " (",
                               out.count(), " elements)"),
                           "give as many values as the shape has elements"});
  }
  std::copy(values.begin(), values.end(), out.values<float>().begin());
  return out;
}

template <class T>
std::span<T> Tensor::values() {
  check_access<T>(dtype_);
  return {reinterpret_cast<T*>(data_.get()), static_cast<std::size_t>(count_)};
}

template <class T>
std::span<const T> Tensor::values() const {
  check_access<T>(dtype_);
  return {reinterpret_cast<const T*>(data_.get()), static_cast<std::size_t>(count_)};
}

template std::span<float> Tensor::values<float>();
template std::span<double> Tensor::values<double>();
template std::span<std::int32_t> Tensor::values<std::int32_t>();
template std::span<std::int64_t> Tensor::values<std::int64_t>();
template std::span<std::uint8_t> Tensor::values<std::uint8_t>();
template std::span<const float> Tensor::values<float>() const;
template std::span<const double> Tensor::values<double>() const;
template std::span<const std::int32_t> Tensor::values<std::int32_t>() const;
template std::span<const std::int64_t> Tensor::values<std::int64_t>() const;
template std::span<const std::uint8_t> Tensor::values<std::uint8_t>() const;

Tensor Tensor::clone() const {
  Tensor out = *this;
  out.data_ = allocate(bytes());
  copy_bytes(out.data_.get(), data_.get(), bytes());
  return out;
}

Tensor Tensor::reshaped(Shape shape) const {
  const std::int64_t count = element_count(shape);
  if (count != count_) {
    throw UserError(
        Report{"reshape to another number of elements",
               {},
               cat(to_string(shape_), " (", count_, ") to ", to_string(shape), " (", count, ")"),
               "give a shape whose dimensions have the same product"});
  }
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Tensor Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return clone();
  Tensor out = *this;
  out.dtype_ = dtype;
  out.data_ = allocate(out.bytes());
  if (cast_directly(*this, out)) return out;
  for_each_f32_block(*this, [&](std::size_t first, std::span<const float> row) {
    store_row(dtype, row, out.data() + first * size_of(dtype), 1);
  });
  return out;
}

std::vector<double> Tensor::to_f64() const {
  std::vector<double> out(static_cast<std::size_t>(count_));
  const bool direct = with_direct_type(dtype_, [&](auto type) {
    const auto source = values<decltype(type)>();
    std::transform(source.begin(), source.end(), out.begin(),
                   [](auto v) { return static_cast<double>(v); });
  });
  if (direct) return out;
  if (dtype_ == DType::kU32) {  // f32 would round values over 2^24
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, data() + i * sizeof value, sizeof value);
      out[i] = value;
    }
    return out;
  }
  for_each_f32_block(*this, [&](std::size_t first, std::span<const float> row) {
    std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return out;
}

}  // namespace krait
