// The selective scan of Mamba-1: krait/cpu/selective_scan.hpp has the formula.
//
//   u, delta, z    [batch, d_inner, length]      z optional
//   A              [d_inner, d_state]
//   B, C           [d_inner, d_state]                   constant        ("const")
//                  [batch, d_state, length]             per token       ("token", golden "3d")
//                  [batch, ngroups, d_state, length]    and group       ("grouped", golden "4d")
//   D, delta_bias  [d_inner]                     optional
//   initial_state  [batch, d_inner, d_state]     optional
//   out            [batch, d_inner, length];  last_state [batch, d_inner, d_state]

#include "krait/cpu/selective_scan.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"
#include "krait/base/text.hpp"
#include "krait/cpu/ref/selective_scan.hpp"
#include "krait/ops/call_check.hpp"
#include "krait/ops/list.hpp"

namespace krait::ops {
namespace {

using kernels::Problem;
using kernels::TensorType;

struct Sizes {
  std::int64_t batch, d_inner, length, d_state;
};

Sizes sizes_of(const Problem& problem) {
  const Shape& u = problem.input("u").shape;
  return {.batch = u[0], .d_inner = u[1], .length = u[2], .d_state = problem.input("A").shape[1]};
}

// --- parameters, shapes and values of make_call ---

std::vector<ParamSpec> params() {
  const auto kind = [](std::string name) {
    return ParamSpec{.name = name,
                     .kind = ParamKind::kChoice,
                     .default_value = "token",
                     .choices = {"const", "token", "grouped"},
                     .help = cat("how ", name.front() == 'b' ? "B" : "C",
                                 " varies: not at all, per token, per token and group")};
  };
  return {size_param("batch", 1, "sequences"),
          size_param("length", 256, "tokens of a sequence"),
          size_param("d_inner", 256, "channels"),
          size_param("d_state", 16, "states of a channel"),
          size_param("ngroups", 1, "groups of channels that share B and C; kinds 'grouped'"),
          kind("b_kind"),
          kind("c_kind"),
          flag_param("has_D", true, "with the skip D * u"),
          flag_param("has_z", true, "with the gate silu(z)"),
          flag_param("has_delta_bias", true, "with a bias on delta"),
          flag_param("has_initial_state", false, "start from a state other than zero"),
          flag_param("delta_softplus", true, "delta goes through softplus"),
          seed_param()};
}

TensorType bc_type(const Params& p, std::string_view kind_name, DType dtype) {
  const std::string& kind = p.text(kind_name);
  const std::int64_t batch = p.integer("batch"), d_state = p.integer("d_state");
  const std::int64_t ngroups = p.integer("ngroups"), length = p.integer("length");
  if (kind == "const") return {DType::kF32, {p.integer("d_inner"), d_state}};  // a parameter
  if (kind == "grouped") return {dtype, {batch, ngroups, d_state, length}};
  if (ngroups != 1)
    throw UserError(Report{cat("ngroups needs ", kind_name, "=grouped"), "selective_scan",
                           cat("ngroups=", ngroups, ", ", kind_name, "=", kind),
                           "set b_kind=grouped and c_kind=grouped, or ngroups=1"});
  return {dtype, {batch, d_state, length}};
}

Problem make_problem(const Params& p) {
  // Bf16 inputs of a call are widened; `dtype` is a kernel's own parameter.
  constexpr DType dtype = DType::kF32;
  const std::int64_t batch = p.integer("batch"), d_inner = p.integer("d_inner");
  const std::int64_t d_state = p.integer("d_state");
  const Shape tokens{batch, d_inner, p.integer("length")};
  Problem problem;
  problem.inputs["u"] = {dtype, tokens};
  problem.inputs["delta"] = {dtype, tokens};
  problem.inputs["A"] = {DType::kF32, {d_inner, d_state}};
  problem.inputs["B"] = bc_type(p, "b_kind", dtype);
  problem.inputs["C"] = bc_type(p, "c_kind", dtype);
  if (p.flag("has_D")) problem.inputs["D"] = {DType::kF32, {d_inner}};
  if (p.flag("has_z")) problem.inputs["z"] = {dtype, tokens};
  if (p.flag("has_delta_bias")) problem.inputs["delta_bias"] = {DType::kF32, {d_inner}};
  if (p.flag("has_initial_state"))
    problem.inputs["initial_state"] = {DType::kF32, {batch, d_inner, d_state}};
  problem.attrs["delta_softplus"] = p.flag("delta_softplus");
  selective_scan_operator().validate(problem);
  return problem;
}

/// Streams of the random numbers, one an input.
enum Stream : std::uint64_t { kU, kDelta, kB, kC, kD, kZ, kDeltaBias, kInitialState };

/// A step size as Mamba starts with: log-uniform in [1e-3, 1e-1]; through the inverse of softplus,
/// d + log(-expm1(-d)), where softplus follows. Source: SSM, dt_proj.bias.
void fill_steps(std::span<float> out, std::uint64_t seed, Stream stream, bool softplus_follows) {
  const CounterRng rng(seed, stream);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double step = 1e-3 * std::pow(100.0, rng.uniform(i));
    out[i] = static_cast<float>(softplus_follows ? step + std::log(-std::expm1(-step)) : step);
  }
}

/// With a bias and softplus the bias carries the step and delta varies around 0, as a projection's
/// output does; with softplus or a bias alone each delta is a step of its own.
void fill_delta(const Params& p, std::uint64_t seed, std::span<float> out) {
  const bool softplus = p.flag("delta_softplus");
  if (softplus && p.flag("has_delta_bias"))
    fill_normal(out, seed, kDelta, 0.5F);
  else
    fill_steps(out, seed, kDelta, softplus);
}

Call make_call(const Params& p) {
  const Problem problem = make_problem(p);
  require_affordable(problem);
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  const std::size_t d_state = static_cast<std::size_t>(p.integer("d_state"));
  Call call{.inputs = {}, .attrs = problem.attrs};
  const auto add = [&](const std::string& name, auto fill) {
    if (problem.has(name)) call.inputs.emplace(name, filled(problem.input(name), fill));
  };
  const auto normal = [seed](Stream stream, float scale, float shift) {
    return [=](std::span<float> out) { fill_normal(out, seed, stream, scale, shift); };
  };
  add("u", normal(kU, 1, 0));
  add("delta", [&](std::span<float> out) { fill_delta(p, seed, out); });
  add("A", [&](std::span<float> out) {  // A = -(1..N) in every row
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = -static_cast<float>(i % d_state + 1);
  });
  add("B", normal(kB, 1, 0));
  add("C", normal(kC, 1, 0));
  add("D", normal(kD, 0.1F, 1));
  add("z", normal(kZ, 1, 0));
  add("delta_bias",
      [&](std::span<float> out) { fill_steps(out, seed, kDeltaBias, p.flag("delta_softplus")); });
  add("initial_state", normal(kInitialState, 0.5F, 0));
  return call;
}

// --- checks ---

constexpr const char* kTokens = "[batch, d_inner, length]";

void check_bc(const CallCheck& check, const Problem& problem, std::string_view name,
              const Sizes& s) {
  if (!problem.has(name))
    check.fail(name, cat("input ", name, " is missing"),
               cat("give ", name,
                   " [d_inner, d_state], [batch, d_state, length] or "
                   "[batch, ngroups, d_state, length]"));
  const Shape& shape = problem.input(name).shape;
  if (shape.size() == 2) {
    check.shape(name, {s.d_inner, s.d_state}, "[d_inner, d_state]");
  } else if (shape.size() == 3) {
    check.shape(name, {s.batch, s.d_state, s.length}, "[batch, d_state, length]");
  } else if (shape.size() == 4) {
    check.shape(name, {s.batch, shape[1], s.d_state, s.length},
                "[batch, ngroups, d_state, length]");
    if (shape[1] < 1 || s.d_inner % shape[1] != 0)
      check.fail(name,
                 cat("the ", shape[1], " groups of ", name, " do not divide d_inner = ", s.d_inner),
                 "use a number of groups that divides d_inner");
  } else {
    check.fail(name, cat(name, " must have 2, 3 or 4 dimensions"),
               "use [d_inner, d_state], [batch, d_state, length] or "
               "[batch, ngroups, d_state, length]");
  }
}

std::int64_t groups_of(const Problem& problem, std::string_view name) {
  const Shape& shape = problem.input(name).shape;
  return shape.size() == 4 ? shape[1] : 1;
}

std::string golden_kind(const Problem& problem, std::string_view name) {
  const std::size_t rank = problem.input(name).shape.size();
  return rank == 2 ? "const" : rank == 3 ? "3d" : "4d";
}

void check_descriptions(const CallCheck& check, const Problem& problem, const Sizes& s) {
  const std::int64_t groups = std::lcm(groups_of(problem, "B"), groups_of(problem, "C"));
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"batch", s.batch},   {"dim", s.d_inner},   {"d_inner", s.d_inner}, {"d_state", s.d_state},
      {"seqlen", s.length}, {"length", s.length}, {"groups", groups},     {"ngroups", groups}};
  for (const auto& [name, value] : numbers) check.describes(name, value);
  check.describes("B_kind", golden_kind(problem, "B"));
  check.describes("C_kind", golden_kind(problem, "C"));
  for (const char* name : {"D", "z", "delta_bias", "initial_state"})
    check.describes(cat("has_", name), problem.has(name));
}

void validate_problem(const Problem& problem) {
  const CallCheck check(selective_scan_operator(), problem);
  check.names({"u", "delta", "A", "B", "C", "D", "z", "delta_bias", "initial_state"});
  const Shape& u = check.ranked("u", 3, kTokens);
  check.ranked("delta", 3, kTokens);
  const Shape& a = check.ranked("A", 2, "[d_inner, d_state]");
  check.at_least_one("u", u, 0, "batch");
  check.at_least_one("u", u, 1, "d_inner");
  check.at_least_one("A", a, 1, "d_state");
  const Sizes s = sizes_of(problem);
  check.shape("delta", u, kTokens);
  check.shape("A", {s.d_inner, s.d_state}, "[d_inner, d_state]");
  check_bc(check, problem, "B", s);
  check_bc(check, problem, "C", s);
  check.shape("D", {s.d_inner}, "[d_inner]");
  check.shape("z", u, kTokens);
  check.shape("delta_bias", {s.d_inner}, "[d_inner]");
  check.shape("initial_state", {s.batch, s.d_inner, s.d_state}, "[batch, d_inner, d_state]");
  (void)attr_flag(problem.attrs, "delta_softplus", false);
  check_descriptions(check, problem, s);
}

std::map<std::string, Shape> output_shapes(const Problem& problem) {
  const Sizes s = sizes_of(problem);
  return {{"out", {s.batch, s.d_inner, s.length}}, {"last_state", {s.batch, s.d_inner, s.d_state}}};
}

// --- running ---

/// Repeats the groups of B or C ([batch, groups, d_state, length] or without groups) so that it has
/// `groups`; the kernels take one number of groups for both.
Tensor with_groups(const Tensor& tensor, std::int64_t groups) {
  const bool grouped = tensor.rank() == 4;
  const std::int64_t batch = tensor.dim(0), have = grouped ? tensor.dim(1) : 1;
  if (have == groups) return tensor;
  Tensor out(tensor.dtype(),
             {batch, groups, tensor.dim(grouped ? 2 : 1), tensor.dim(grouped ? 3 : 2)});
  const std::size_t block = out.bytes() / static_cast<std::size_t>(batch * groups);
  if (block == 0) return out;
  for (std::int64_t i = 0; i < batch * groups; ++i) {
    const std::int64_t from = i / groups * have + i % groups / (groups / have);
    std::memcpy(out.data() + static_cast<std::size_t>(i) * block,
                tensor.data() + static_cast<std::size_t>(from) * block, block);
  }
  return out;
}

/// A call in T with its outputs allocated.
template <class T>
struct Bound {
  TensorMap inputs;
  Tensor out, last_state;
  SelectiveScanArgs<T> args;
};

template <class T>
void bind_inputs(Bound<T>& b) {
  SelectiveScanArgs<T>& s = b.args;
  s.u = data_of<T>(b.inputs, "u");
  s.delta = data_of<T>(b.inputs, "delta");
  s.a = data_of<T>(b.inputs, "A");
  s.b = data_of<T>(b.inputs, "B");
  s.c = data_of<T>(b.inputs, "C");
  s.d = data_of<T>(b.inputs, "D");
  s.z = data_of<T>(b.inputs, "z");
  s.delta_bias = data_of<T>(b.inputs, "delta_bias");
  s.initial_state = data_of<T>(b.inputs, "initial_state");
}

template <class T>
Bound<T> bind(const Call& call, DType dtype) {
  const Problem problem = problem_of(call);
  selective_scan_operator().validate(problem);
  const Sizes s = sizes_of(problem);
  const std::int64_t groups = std::lcm(groups_of(problem, "B"), groups_of(problem, "C"));
  Bound<T> b{.inputs = converted(call.inputs, dtype),
             .out = Tensor(dtype, {s.batch, s.d_inner, s.length}),
             .last_state = Tensor(dtype, {s.batch, s.d_inner, s.d_state}),
             .args = {}};
  for (const char* name : {"B", "C"}) {
    Tensor& tensor = b.inputs.at(name);
    const bool constant = tensor.rank() == 2;
    (*name == 'B' ? b.args.b_kind : b.args.c_kind) =
        constant ? BcKind::kConstant : BcKind::kPerToken;
    if (!constant) tensor = with_groups(tensor, groups);
  }
  b.args.batch = s.batch, b.args.dim = s.d_inner, b.args.d_state = s.d_state;
  b.args.length = s.length, b.args.groups = groups;
  b.args.delta_softplus = attr_flag(call.attrs, "delta_softplus", false);
  bind_inputs(b);
  b.args.out = b.out.template values<T>().data();
  b.args.last_state = b.last_state.template values<T>().data();
  return b;
}

TensorMap reference(const Call& call) {
  const Bound<double> b = bind<double>(call, DType::kF64);
  ref::selective_scan(b.args);
  return {{"out", b.out}, {"last_state", b.last_state}};
}

class PreparedScan : public Operator::Prepared {
 public:
  PreparedScan(const Call& call, CpuForm form, ThreadPool& pool)
      : bound_(bind<float>(call, DType::kF32)), form_(form), pool_(pool), scratch_(size()) {}

  void run() override {
    switch (form_) {
      case CpuForm::kNaive:
        selective_scan_naive(bound_.args, pool_, scratch_.data());
        return;
      case CpuForm::kCompiler:
        selective_scan_compiled(bound_.args, pool_, scratch_.data());
        return;
      case CpuForm::kCustom:
        selective_scan(bound_.args, pool_, scratch_.data());
        return;
    }
  }
  [[nodiscard]] TensorMap outputs() const override {
    return {{"out", bound_.out.clone()}, {"last_state", bound_.last_state.clone()}};
  }

 private:
  [[nodiscard]] std::size_t size() const {
    switch (form_) {
      case CpuForm::kNaive:
        return selective_scan_naive_scratch(bound_.args);
      case CpuForm::kCompiler:
        return selective_scan_compiled_scratch(bound_.args, pool_.threads());
      case CpuForm::kCustom:
        break;
    }
    return selective_scan_scratch(bound_.args, pool_.threads());
  }

  Bound<float> bound_;
  CpuForm form_;
  ThreadPool& pool_;
  std::vector<float> scratch_;
};

std::unique_ptr<Operator::Prepared> prepare(const Call& call, CpuForm form, ThreadPool& pool) {
  return std::make_unique<PreparedScan>(call, form, pool);
}

TensorMap cpu(const Call& call, CpuForm form, ThreadPool& pool) {
  return run_once(selective_scan_operator(), call, form, pool);
}

/// A state step: dt * A, exp, decay * h + b (2), du * B, C * h + y (2). A token: + bias, exp of
/// softplus (+ 1 addition; its log1p is in no column), dt * u; D: 2; the gate: exp, an addition, a
/// division, a product.
Counts counts(const Problem& problem) {
  const Sizes s = sizes_of(problem);
  const double tokens = static_cast<double>(s.batch * s.d_inner) * static_cast<double>(s.length);
  const double states = tokens * static_cast<double>(s.d_state);
  const bool softplus = attr_flag(problem.attrs, "delta_softplus", false);
  Counts out;
  out.flops =
      6 * states + tokens * (1.0 + (problem.has("delta_bias") ? 1 : 0) + (softplus ? 1 : 0) +
                             (problem.has("D") ? 2 : 0) + (problem.has("z") ? 3 : 0));
  out.exps = states + tokens * ((softplus ? 1.0 : 0.0) + (problem.has("z") ? 1 : 0));
  for (const auto& [name, type] : problem.inputs)
    out.min_bytes +=
        static_cast<double>(element_count(type.shape)) * static_cast<double>(size_of(type.dtype));
  for (const auto& [name, shape] : output_shapes(problem))
    out.min_bytes += static_cast<double>(element_count(shape)) * sizeof(float);
  return out;
}

std::vector<AttrSpec> attributes() {
  std::vector<AttrSpec> out{
      {"delta_softplus", true, "delta goes through softplus (default false)"}};
  for (const char* name :
       {"batch", "dim", "d_inner", "d_state", "seqlen", "length", "groups", "ngroups", "B_kind",
        "C_kind", "has_D", "has_z", "has_delta_bias", "has_initial_state"})
    out.push_back({name, false, "describes the tensors"});
  out.push_back({"seed", false, "of the inputs; not used"});
  return out;
}

}  // namespace

// The f32 tolerance. A step of the recurrence makes a relative error of about 4e-7: an exp of 2e-7,
// a rounding of 2^-24 for dt * A, for dt * B * u and for each of the product and the sum. A state
// remembers 1 / (dt |A|) steps, at most 1000 for the slowest channel that Mamba starts with (dt =
// 1e-3, A = -1), and the errors of different steps are independent, so they add like sqrt(1000) *
// 4e-7 = 1.3e-5. Rounded up to 2e-5 of the largest output; 1e-7 absolute for outputs near 0.
const Operator& selective_scan_operator() {
  static const Operator kEntry{.name = "selective_scan",
                               .aliases = {},
                               .golden_group = "selective_scan",
                               .summary = "selective scan of Mamba-1 over channel-major sequences",
                               .params = params(),
                               .attributes = attributes(),
                               .f32_tolerance = {.rtol = 2e-5, .atol = 1e-7},
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
