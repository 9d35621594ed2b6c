// RMSNorm, plain and gated: krait/cpu/rmsnorm.hpp has the formula.
//
//   x, z     [..., width]   z optional: no gate
//   weight   [width]        optional: ones
//   out      as x
//   attributes: eps (1e-5), group_size (null: width), norm_before_gate (true)

#include "krait/cpu/rmsnorm.hpp"

#include <cmath>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"
#include "krait/base/text.hpp"
#include "krait/cpu/ref/rmsnorm.hpp"
#include "krait/ops/call_check.hpp"
#include "krait/ops/list.hpp"

namespace krait::ops {
namespace {

using kernels::Problem;

constexpr double kDefaultEps = 1e-5;

struct Sizes {
  std::int64_t rows, width, group_size;
};

Sizes sizes_of(const Problem& problem) {
  const Shape& x = problem.input("x").shape;
  const std::int64_t width = x.back();
  const Shape leading(x.begin(), x.end() - 1);
  return {.rows = element_count(leading),
          .width = width,
          .group_size = attr_int(problem.attrs, "group_size", width)};
}

// --- parameters, shapes and values of make_call ---

std::vector<ParamSpec> params() {
  ParamSpec group_size =
      size_param("group_size", 0, "channels of one statistic; 0: the whole width");
  group_size.min = 0;
  return {
      size_param("rows", 256, "vectors to normalise"),
      size_param("width", 1024, "channels of a vector"),
      group_size,
      flag_param("has_weight", true, "with a weight a channel"),
      flag_param("has_z", false, "with the gate silu(z)"),
      flag_param("norm_before_gate", true, "gate after the norm (Mamba-3), else before (Mamba-2)"),
      ParamSpec{.name = "eps",
                .kind = ParamKind::kReal,
                .default_value = "1e-5",
                .min = 0,
                .max = 1,
                .help = "added to the mean square"},
      dtype_param(),
      seed_param()};
}

Problem make_problem(const Params& p) {
  const DType dtype = dtype_of(p);
  const std::int64_t width = p.integer("width"), group_size = p.integer("group_size");
  Problem problem;
  problem.inputs["x"] = {dtype, {p.integer("rows"), width}};
  if (p.flag("has_weight")) problem.inputs["weight"] = {DType::kF32, {width}};
  if (p.flag("has_z")) problem.inputs["z"] = {dtype, {p.integer("rows"), width}};
  problem.attrs["eps"] = p.real("eps");
  problem.attrs["norm_before_gate"] = p.flag("norm_before_gate");
  if (group_size != 0) problem.attrs["group_size"] = group_size;
  rmsnorm_operator().validate(problem);
  return problem;
}

Call make_call(const Params& p) {
  const Problem problem = make_problem(p);
  require_affordable(problem);
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  Call call{.inputs = {}, .attrs = problem.attrs};
  const auto add = [&](const std::string& name, std::uint64_t stream, float scale, float shift) {
    if (!problem.has(name)) return;
    call.inputs.emplace(name, filled(problem.input(name), [=](std::span<float> out) {
                          fill_normal(out, seed, stream, scale, shift);
                        }));
  };
  add("x", 0, 1, 0);
  add("weight", 1, 0.1F, 1);
  add("z", 2, 1, 0);
  return call;
}

// --- checks ---

void check_attributes(const CallCheck& check, const Problem& problem, const Sizes& s) {
  if (s.group_size < 1 || s.width % s.group_size != 0)
    check.fail("x", cat("group_size = ", s.group_size, " does not divide the width ", s.width),
               "use a group_size that divides the last dimension of x, or null for all of it");
  (void)attr_flag(problem.attrs, "norm_before_gate", true);
  const double eps = attr_real(problem.attrs, "eps", kDefaultEps);
  if (!(eps >= 0) || std::isinf(eps))
    check.fail("x", cat("attribute eps = ", eps, " must be a finite number of at least 0"),
               "e.g. eps = 1e-5");
}

void validate_problem(const Problem& problem) {
  const CallCheck check(rmsnorm_operator(), problem);
  check.names({"x", "weight", "z"});
  if (!problem.has("x")) check.fail("x", "input x is missing", "give x [..., width]");
  const Shape& x = problem.input("x").shape;
  if (x.empty()) check.fail("x", "x must have at least 1 dimension, [..., width]", "reshape x");
  check.at_least_one("x", x, x.size() - 1, "width");
  const Sizes s = sizes_of(problem);
  check.shape("weight", {s.width}, "[width]");
  check.shape("z", x, "the shape of x");
  check_attributes(check, problem, s);
  check.describes("has_z", problem.has("z"));
  check.describes("has_weight", problem.has("weight"));
  check.describes("rows", s.rows);
  check.describes("width", s.width);
  check.describes("shape", krait::to_string(x));
}

std::map<std::string, Shape> output_shapes(const Problem& problem) {
  return {{"out", problem.input("x").shape}};
}

// --- running ---

/// A call in T with its output allocated.
template <class T>
struct Bound {
  TensorMap inputs;
  Tensor out;
  RmsNormArgs<T> args;
};

template <class T>
Bound<T> bind(const Call& call, DType dtype) {
  const Problem problem = problem_of(call);
  rmsnorm_operator().validate(problem);
  const Sizes s = sizes_of(problem);
  Bound<T> b{.inputs = converted(call.inputs, dtype),
             .out = Tensor(dtype, problem.input("x").shape),
             .args = {}};
  b.args.rows = s.rows, b.args.width = s.width, b.args.group_size = s.group_size;
  b.args.eps = static_cast<T>(attr_real(call.attrs, "eps", kDefaultEps));
  b.args.norm_before_gate = attr_flag(call.attrs, "norm_before_gate", true);
  b.args.x = data_of<T>(b.inputs, "x");
  b.args.weight = data_of<T>(b.inputs, "weight");
  b.args.z = data_of<T>(b.inputs, "z");
  b.args.out = b.out.template values<T>().data();
  return b;
}

TensorMap reference(const Call& call) {
  const Bound<double> b = bind<double>(call, DType::kF64);
  ref::rmsnorm(b.args);
  return {{"out", b.out}};
}

class PreparedNorm : public Operator::Prepared {
 public:
  PreparedNorm(const Call& call, CpuForm form, ThreadPool& pool)
      : bound_(bind<float>(call, DType::kF32)),
        form_(form),
        pool_(pool),
        scratch_(form == CpuForm::kNaive ? rmsnorm_naive_scratch(bound_.args) : 0) {}

  void run() override {
    switch (form_) {
      case CpuForm::kNaive:
        rmsnorm_naive(bound_.args, pool_, scratch_.data());
        return;
      case CpuForm::kCompiler:
        rmsnorm_compiled(bound_.args, pool_);
        return;
      case CpuForm::kCustom:
        rmsnorm(bound_.args, pool_);
        return;
    }
  }
  [[nodiscard]] TensorMap outputs() const override { return {{"out", bound_.out.clone()}}; }

 private:
  Bound<float> bound_;
  CpuForm form_;
  ThreadPool& pool_;
  std::vector<float> scratch_;
};

std::unique_ptr<Operator::Prepared> prepare(const Call& call, CpuForm form, ThreadPool& pool) {
  return std::make_unique<PreparedNorm>(call, form, pool);
}

TensorMap cpu(const Call& call, CpuForm form, ThreadPool& pool) {
  return run_once(rmsnorm_operator(), call, form, pool);
}

/// An element: square and sum (2), * rstd, * weight; the gate: exp, an addition, a division, a
/// product. A group: mean, + eps, the root and its reciprocal.
Counts counts(const Problem& problem) {
  const Sizes s = sizes_of(problem);
  const double elements = static_cast<double>(s.rows) * static_cast<double>(s.width);
  const double groups = elements / static_cast<double>(s.group_size);
  const bool gated = problem.has("z");
  Counts out;
  out.flops = elements * (3.0 + (problem.has("weight") ? 1 : 0) + (gated ? 3 : 0)) + 3 * groups;
  out.exps = (gated ? elements : 0) + groups;
  for (const auto& [name, type] : problem.inputs)
    out.min_bytes +=
        static_cast<double>(element_count(type.shape)) * static_cast<double>(size_of(type.dtype));
  out.min_bytes += elements * sizeof(float);
  return out;
}

std::vector<AttrSpec> attributes() {
  return {{"eps", true, "added to the mean square (default 1e-5)"},
          {"group_size", true, "channels of one statistic; null: the whole width"},
          {"norm_before_gate", true, "gate after the norm (default true)"},
          {"has_z", false, "describes the tensors"},
          {"has_weight", false, "describes the tensors"},
          {"rows", false, "describes the tensors"},
          {"width", false, "describes the tensors"},
          {"shape", false, "describes the tensors"},
          {"seed", false, "of the inputs; not used"}};
}

}  // namespace

// The f32 tolerance. A sum of W squares, all positive, in any order has an error of about
// sqrt(W) * 2^-25 (roundings are independent; their size follows the growing partial sum), half of
// which reaches the root: 1.4e-6 for W = 8192. Root, reciprocal, three products and the gate's exp
// and division add at most 8 roundings of 2^-24, 5e-7. 5e-6 leaves room for W = 65536; 1e-7
// absolute near 0.
const Operator& rmsnorm_operator() {
  static const Operator kEntry{
      .name = "rmsnorm",
      .aliases = {"gated_rmsnorm"},
      .golden_group = "gated_rmsnorm",
      .summary = "RMSNorm with optional gate before or after and grouped statistics",
      .params = params(),
      .attributes = attributes(),
      .f32_tolerance = {.rtol = 5e-6, .atol = 1e-7},
      .make_problem = make_problem,
      .make_call = make_call,
      .validate = validate_problem,
      .output_shapes = output_shapes,
      .reference = reference,
      .cpu = cpu,
      .prepare = prepare,
      .counts = counts};
  return kEntry;
}

}  // namespace krait::ops
