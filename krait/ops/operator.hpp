#pragma once

// One entry an operator joins everything known of it: parameters, random inputs, reference, CPU
// forms, device kernels, counts and tolerances. Lists, commands, tests and the map read it.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/base/params.hpp"
#include "krait/base/pool.hpp"
#include "krait/kernels/kernel.hpp"
#include "krait/tensor/tensor.hpp"

namespace krait::ops {

/// Inputs and attributes of one call. Names are the golden files' without the "in." prefix.
struct Call {
  TensorMap inputs;
  Attrs attrs;
};

/// Arithmetic and the least traffic of one call; what a roofline needs.
struct Counts {
  double flops = 0;      // add, multiply: 1 each; fma: 2
  double exps = 0;       // exponentials; logarithms are not counted
  double min_bytes = 0;  // every input read once, every output written once
};

/// max|got - expected| <= atol + rtol * max|expected|, per tensor.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

/// The forms of the measured axis of the map.
enum class CpuForm : std::uint8_t { kNaive, kCompiler, kCustom };

/// An attribute that an operator knows. One that does not run describes the tensors (batch, has_z,
/// ..): it may be given, and must then agree with them.
struct AttrSpec {
  std::string name;
  bool runs = false;
  std::string help;
};

struct Operator {
  std::string_view name;             // "selective_scan"
  std::vector<std::string> aliases;  // other accepted names
  std::string_view golden_group;     // group of the golden cases
  std::string_view summary;
  std::vector<ParamSpec> params;  // shapes and seed
  std::vector<AttrSpec> attributes;
  Tolerance f32_tolerance;  // of an f32 implementation against the reference, argued beside it
  /// Shapes, dtypes and attributes of make_call, without data. @throws UserError if they contradict
  kernels::Problem (*make_problem)(const Params& params);
  /// Random inputs and attributes for parameter values; a pure function of them (seed included).
  Call (*make_call)(const Params& params);
  /// Checks names, shapes, dtypes and attributes. @throws UserError naming the argument
  void (*validate)(const kernels::Problem& problem);
  /// Shapes of the outputs of a valid problem.
  std::map<std::string, Shape> (*output_shapes)(const kernels::Problem& problem);
  /// Float64 reference. Outputs are F64.
  TensorMap (*reference)(const Call& call);
  /// The float32 forms on the CPU. Outputs are F32.
  TensorMap (*cpu)(const Call& call, CpuForm form, ThreadPool& pool);
  /// The same with everything allocated: run() does one call; outputs() reads them. For timing.
  struct Prepared {
    virtual ~Prepared() = default;
    virtual void run() = 0;
    [[nodiscard]] virtual TensorMap outputs() const = 0;
  };
  std::unique_ptr<Prepared> (*prepare)(const Call& call, CpuForm form, ThreadPool& pool);
  Counts (*counts)(const kernels::Problem& problem);
};

/// All operators, in list order.
[[nodiscard]] std::span<const Operator> operators();
/// By name or alias. @throws UserError with the nearest names
[[nodiscard]] const Operator& find_operator(std::string_view name);
/// The operator whose golden_group this is, or nullptr.
[[nodiscard]] const Operator* operator_of_group(std::string_view group);

/// Checks a call. @throws UserError naming the argument
void validate(const Operator& op, const Call& call);

/// What a device kernel is asked to build for a call.
[[nodiscard]] kernels::Problem problem_of(const Call& call);

/// Parameters of a device kernel's run. A name that both declare is the kernel's, and the operator
/// keeps its default: the dtype of scan_logdepth is that of its products, its inputs stay f32.
struct KernelParams {
  Params kernel;  // the kernel's, then the operator's: what build() takes and reports show
  Params op;      // what make_call and make_problem take
};
/// @param assignments  "name=value". @throws UserError as Params::set_assignment
[[nodiscard]] KernelParams kernel_params(const Operator& op, const kernels::Kernel& kernel,
                                         std::span<const std::string> assignments);

/// What a device kernel's result may differ from the reference by: f32_tolerance, as on the CPU. If
/// the problem's tensors have 16 bits, rtol is at least 2^-7: a rounding to bf16 is up to 2^-8 of a
/// value; the result is rounded once, and what rounded intermediates leave in it gets as much
/// again. A kernel that rounds inside for speed gets no allowance: its caller asked for f32.
/// `krait sim` and the map judge by this.
[[nodiscard]] Tolerance device_tolerance(const Operator& op, const kernels::Problem& problem);

/// Largest difference of a tensor against f64 values: absolute, and relative to max|expected|.
struct Difference {
  std::string tensor;
  double max_abs = 0;
  double max_expected = 0;
  [[nodiscard]] double relative() const {
    return max_expected > 0 ? max_abs / max_expected : max_abs;
  }
  [[nodiscard]] bool within(const Tolerance& t) const {
    return max_abs <= t.atol + t.rtol * max_expected;
  }
};
/// One entry a tensor of `expected`; a missing tensor, another shape or any NaN gives infinity.
[[nodiscard]] std::vector<Difference> compare(const TensorMap& got, const TensorMap& expected);

}  // namespace krait::ops
