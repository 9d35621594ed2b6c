#pragma once

// Checks that operators share: of inputs, shapes, dtypes and attributes, each with an error that
// names the argument. Internal to ops/.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "krait/kernels/kernel.hpp"
#include "krait/ops/operator.hpp"

namespace krait::ops {

/// Checks one problem of one operator.
class CallCheck {
 public:
  CallCheck(const Operator& op, const kernels::Problem& problem) : op_(op), problem_(problem) {}

  /// Every input is one of these and holds floating-point data (f64, f32, bf16, f16); every
  /// attribute is known.
  void names(std::initializer_list<std::string_view> inputs) const;
  /// The input is there, with this many dimensions.
  const Shape& ranked(std::string_view input, std::size_t rank, std::string_view layout) const;
  /// The input, if there, has this shape; `layout` names the dimensions ("[d_inner]").
  void shape(std::string_view input, const Shape& expected, std::string_view layout) const;
  void at_least_one(std::string_view input, const Shape& shape, std::size_t axis,
                    std::string_view name) const;
  /// A descriptive attribute, if given, has this value.
  void describes(std::string_view attribute, const Attr& tensors_say) const;
  [[noreturn]] void fail(std::string_view input, std::string_view what, std::string fix) const;

 private:
  const Operator& op_;
  const kernels::Problem& problem_;
};

/// "16", "true", "[2, 3]": an attribute as shown.
[[nodiscard]] std::string to_string(const Attr& attr);

/// A parameter that chooses the dtype of activations.
[[nodiscard]] ParamSpec dtype_param();
[[nodiscard]] ParamSpec seed_param();
[[nodiscard]] ParamSpec size_param(std::string name, std::int64_t value, std::string help);
[[nodiscard]] ParamSpec flag_param(std::string name, bool value, std::string help);
/// The dtype that dtype_param() stands for.
[[nodiscard]] DType dtype_of(const Params& params);

/// An f32 fill, then a cast to the problem's dtype. `make(i)` gives element i.
template <class Fill>
Tensor filled(const kernels::TensorType& type, Fill fill) {
  Tensor tensor(DType::kF32, type.shape);
  fill(tensor.values<float>());
  return type.dtype == DType::kF32 ? tensor : tensor.cast(type.dtype);
}
/// @throws UserError if a problem is too large for data on this machine
void require_affordable(const kernels::Problem& problem);

/// The inputs as T (f32 or f64): converted where their dtype is another, shared where it is not.
[[nodiscard]] TensorMap converted(const TensorMap& inputs, DType dtype);
/// Values of an input, or nullptr if it is not there.
template <class T>
const T* data_of(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second.values<T>().data();
}

/// Runs a prepared call once: the cpu entry of every operator.
[[nodiscard]] TensorMap run_once(const Operator& op, const Call& call, CpuForm form,
                                 ThreadPool& pool);

}  // namespace krait::ops
