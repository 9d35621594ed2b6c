#include "krait/ops/operator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/ops/list.hpp"

namespace krait::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Difference compare_one(const std::string& name, const TensorMap& got, const Tensor& expected) {
  Difference out{.tensor = name};
  const auto found = got.find(name);
  const bool comparable = found != got.end() && found->second.shape() == expected.shape();
  const std::vector<double> want = expected.to_f64();
  const std::vector<double> have = comparable ? found->second.to_f64() : std::vector<double>{};
  if (!comparable) out.max_abs = kInfinity;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i])) out.max_expected = std::max(out.max_expected, std::abs(want[i]));
    if (!comparable || have[i] == want[i]) continue;  // equal infinities differ by nothing
    const double difference = std::abs(have[i] - want[i]);
    out.max_abs = std::max(out.max_abs, std::isnan(difference) ? kInfinity : difference);
  }
  return out;
}

}  // namespace

std::span<const Operator> operators() {
  static const std::array<Operator, 2> kList{selective_scan_operator(), rmsnorm_operator()};
  return kList;
}

const Operator& find_operator(std::string_view name) {
  std::vector<std::string> names;
  for (const Operator& op : operators()) {
    if (op.name == name || std::count(op.aliases.begin(), op.aliases.end(), name) > 0) return op;
    names.emplace_back(op.name);
    names.insert(names.end(), op.aliases.begin(), op.aliases.end());
  }
  throw UserError(
      Report{cat("no operator is called '", name, "'"), "operator name", {}, suggest(name, names)});
}

const Operator* operator_of_group(std::string_view group) {
  for (const Operator& op : operators())
    if (op.golden_group == group) return &op;
  return nullptr;
}

kernels::Problem problem_of(const Call& call) {
  kernels::Problem problem;
  for (const auto& [name, tensor] : call.inputs)
    problem.inputs[name] = {tensor.dtype(), tensor.shape()};
  problem.attrs = call.attrs;
  return problem;
}

void validate(const Operator& op, const Call& call) {
  op.validate(problem_of(call));
}

KernelParams kernel_params(const Operator& op, const kernels::Kernel& kernel,
                           std::span<const std::string> assignments) {
  std::vector<ParamSpec> specs = kernel.params;
  specs.insert(specs.end(), op.params.begin(), op.params.end());
  KernelParams out{.kernel = Params(std::move(specs)), .op = Params(op.params)};
  out.kernel.set_assignments(assignments);
  for (const ParamSpec& spec : op.params) {
    const bool hidden = std::any_of(kernel.params.begin(), kernel.params.end(),
                                    [&](const ParamSpec& k) { return k.name == spec.name; });
    if (!hidden) out.op.set(spec.name, out.kernel.text(spec.name));
  }
  return out;
}

Tolerance device_tolerance(const Operator& op, const kernels::Problem& problem) {
  Tolerance out = op.f32_tolerance;
  for (const auto& [name, type] : problem.inputs)
    if (size_of(type.dtype) == 2) out.rtol = std::max(out.rtol, 0x1.0p-7);
  return out;
}

std::vector<Difference> compare(const TensorMap& got, const TensorMap& expected) {
  std::vector<Difference> out;
  for (const auto& [name, tensor] : expected) out.push_back(compare_one(name, got, tensor));
  return out;
}

}  // namespace krait::ops
