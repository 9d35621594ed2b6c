#include "krait/ops/call_check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::ops {
namespace {

/// Elements of all inputs together that we are ready to fill: 4 GiB in f32, 8 GiB in the reference.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 30;

std::string list_of(std::initializer_list<std::string_view> names) {
  const std::vector<std::string> items(names.begin(), names.end());
  return join(items, ", ");
}

bool supported(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kBf16 ||
         dtype == DType::kF16;
}

}  // namespace

void CallCheck::fail(std::string_view input, std::string_view what, std::string fix) const {
  const auto found = problem_.inputs.find(input);
  std::string got;
  if (found != problem_.inputs.end())
    got = cat(input, " = ", name(found->second.dtype), krait::to_string(found->second.shape));
  throw UserError(Report{cat(op_.name, ": ", what), cat("input ", input), got, std::move(fix)});
}

void CallCheck::names(std::initializer_list<std::string_view> inputs) const {
  for (const auto& [input, type] : problem_.inputs) {
    if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) {
      const std::vector<std::string> known(inputs.begin(), inputs.end());
      fail(input, cat("no input is called '", input, "'"),
           cat(nearest(input, known).empty() ? "" : suggest(input, known) + " ",
               "inputs: ", list_of(inputs)));
    }
    if (!supported(type.dtype))
      fail(input, cat(input, " must hold floating-point numbers"),
           "give it as f32, f64, bf16 or f16");
  }
  std::vector<std::string> known;
  for (const AttrSpec& spec : op_.attributes) known.push_back(spec.name);
  for (const auto& [attribute, value] : problem_.attrs)
    if (std::find(known.begin(), known.end(), attribute) == known.end())
      throw UserError(Report{cat(op_.name, ": no attribute is called '", attribute, "'"),
                             "attributes", cat(attribute, " = ", ops::to_string(value)),
                             suggest(attribute, known)});
}

const Shape& CallCheck::ranked(std::string_view input, std::size_t rank,
                               std::string_view layout) const {
  const auto found = problem_.inputs.find(input);
  if (found == problem_.inputs.end())
    fail(input, cat("input ", input, " is missing"), cat("give ", input, " ", layout));
  if (found->second.shape.size() != rank)
    fail(input, cat(input, " must have ", rank, " dimensions, ", layout),
         cat("reshape ", input, " to ", layout));
  return found->second.shape;
}

void CallCheck::shape(std::string_view input, const Shape& expected,
                      std::string_view layout) const {
  const auto found = problem_.inputs.find(input);
  if (found == problem_.inputs.end() || found->second.shape == expected) return;
  fail(input, cat(input, " must be ", layout, " = ", krait::to_string(expected)),
       cat("give ", input, " this shape"));
}

void CallCheck::at_least_one(std::string_view input, const Shape& shape, std::size_t axis,
                             std::string_view name) const {
  if (shape[axis] < 1)
    fail(input, cat(name, " must be at least 1"),
         cat("give ", input, " a larger dimension ", axis));
}

void CallCheck::describes(std::string_view attribute, const Attr& tensors_say) const {
  const auto found = problem_.attrs.find(attribute);
  if (found == problem_.attrs.end() || found->second == tensors_say) return;
  throw UserError(Report{cat(op_.name, ": attribute ", attribute, " contradicts the tensors"),
                         cat("attribute ", attribute),
                         cat(attribute, " = ", ops::to_string(found->second), ", the tensors say ",
                             ops::to_string(tensors_say)),
                         "correct or remove the attribute, or give the tensors it describes"});
}

std::string to_string(const Attr& attr) {
  if (const bool* flag = std::get_if<bool>(&attr)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&attr)) return std::to_string(*whole);
  if (const double* real = std::get_if<double>(&attr)) return cat(*real);
  return std::get<std::string>(attr);
}

ParamSpec dtype_param() {
  return {.name = "dtype",
          .kind = ParamKind::kChoice,
          .default_value = "f32",
          .choices = {"f32", "bf16", "f16"},
          .help = "of the activations; parameters and states stay f32"};
}

ParamSpec seed_param() {
  return {.name = "seed", .default_value = "1", .min = 0, .help = "of the random inputs"};
}

ParamSpec size_param(std::string name, std::int64_t value, std::string help) {
  constexpr double kMax = 1 << 24;
  return {.name = std::move(name),
          .default_value = std::to_string(value),
          .min = 1,
          .max = kMax,
          .help = std::move(help)};
}

ParamSpec flag_param(std::string name, bool value, std::string help) {
  return {.name = std::move(name),
          .kind = ParamKind::kFlag,
          .default_value = value ? "1" : "0",
          .help = std::move(help)};
}

DType dtype_of(const Params& params) {
  const auto dtype = parse_dtype(params.text("dtype"));
  KRAIT_ASSERT(dtype.has_value());
  return *dtype;
}

void require_affordable(const kernels::Problem& problem) {
  std::int64_t elements = 0;
  for (const auto& [input, type] : problem.inputs) {
    const std::int64_t count = element_count(type.shape);
    if (count > kMaxElements - elements)
      throw UserError(Report{
          "the inputs are too large to fill", cat("input ", input),
          cat(input, " = ", krait::to_string(type.shape)),
          cat("stay below ", kMaxElements, " elements, or ask for time alone (sim --no-data)")});
    elements += count;
  }
}

TensorMap converted(const TensorMap& inputs, DType dtype) {
  TensorMap out;
  for (const auto& [name, tensor] : inputs)
    out.emplace(name, tensor.dtype() == dtype ? tensor : tensor.cast(dtype));
  return out;
}

TensorMap run_once(const Operator& op, const Call& call, CpuForm form, ThreadPool& pool) {
  const auto prepared = op.prepare(call, form, pool);
  prepared->run();
  return prepared->outputs();
}

}  // namespace krait::ops
