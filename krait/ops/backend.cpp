#include "krait/ops/backend.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/sim/run.hpp"

namespace krait::ops {
namespace {

class RefBackend : public Backend {
 public:
  [[nodiscard]] std::string name() const override { return "ref"; }
  [[nodiscard]] TensorMap run(const Operator& op, const Call& call) override {
    return op.reference(call);
  }
  [[nodiscard]] std::string_view precision() const override { return "float64"; }
};

class CpuBackend : public Backend {
 public:
  CpuBackend(std::string name, CpuForm form, std::size_t threads)
      : name_(std::move(name)), form_(form), pool_(threads) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] TensorMap run(const Operator& op, const Call& call) override {
    return op.cpu(call, form_, pool_);
  }
  [[nodiscard]] std::string_view precision() const override { return "float32"; }

 private:
  std::string name_;
  CpuForm form_;
  ThreadPool pool_;
};

/// The machine has no f64: such inputs are rounded to f32.
TensorMap device_inputs(const TensorMap& inputs) {
  TensorMap out;
  for (const auto& [name, tensor] : inputs)
    out.emplace(name, tensor.dtype() == DType::kF64 ? tensor.cast(DType::kF32) : tensor);
  return out;
}

void refuse_empty(const Operator& op, const TensorMap& inputs) {
  for (const auto& [name, tensor] : inputs)
    if (tensor.count() == 0)
      throw UserError(
          Report{cat(op.name, ": a device kernel needs at least one element of every input"),
                 cat("input ", name), cat(name, " = ", to_string(tensor.shape())),
                 "run empty inputs on ref or cpu"});
}

/// A kernel's program for a problem and its predicted time.
struct Candidate {
  std::string kernel;
  ir::Program program;
  Ps time;
};

/// Builds and times one kernel; appends the reason if it refuses the problem.
std::optional<Candidate> try_kernel(const kernels::Kernel& kernel, const MachineSpec& machine,
                                    const kernels::Problem& problem,
                                    std::vector<std::string>& refusals) {
  try {
    Candidate out{std::string(kernel.name), kernel.build(machine, problem, Params(kernel.params)),
                  Ps{0}};
    out.time = sim::run(out.program, machine, {}, {.data = false}).time;
    return out;
  } catch (const UserError& error) {
    refusals.push_back(cat(kernel.name, ": ", error.report().what));
    return std::nullopt;
  }
}

class NeuronBackend : public Backend {
 public:
  NeuronBackend(const MachineSpec& machine, const kernels::Kernel* kernel)
      : machine_(machine), kernel_(kernel) {
    name_ = cat("neuron:", machine.name());
    if (kernel_ != nullptr) name_ += cat("/", kernel_->name);
    ran_ = name_;
  }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string ran() const override { return ran_; }
  [[nodiscard]] std::string_view precision() const override { return "float32"; }

  [[nodiscard]] TensorMap run(const Operator& op, const Call& call) override {
    validate(op, call);
    const Call device{.inputs = device_inputs(call.inputs), .attrs = call.attrs};
    refuse_empty(op, device.inputs);
    const kernels::Problem problem = problem_of(device);
    const ir::Program program = choose(op, problem);
    TensorMap outputs = sim::run(program, machine_, device.inputs).outputs;
    for (auto& [name, tensor] : outputs)
      if (tensor.dtype() != DType::kF32) tensor = tensor.cast(DType::kF32);
    return outputs;
  }

 private:
  [[nodiscard]] ir::Program choose(const Operator& op, const kernels::Problem& problem) {
    if (kernel_ == nullptr) return fastest(op, problem);
    if (kernel_->op != op.name)
      throw UserError(
          Report{cat("kernel ", kernel_->name, " computes ", kernel_->op, ", not ", op.name),
                 cat("backend ", name_),
                 {},
                 cat("use neuron:", machine_.name())});
    return kernel_->build(machine_, problem, Params(kernel_->params));
  }

  [[nodiscard]] ir::Program fastest(const Operator& op, const kernels::Problem& problem) {
    std::optional<Candidate> best;
    std::vector<std::string> refusals;
    for (const kernels::Kernel& kernel : kernels::kernels()) {
      if (kernel.op != op.name || kernel.form != kernels::Form::kCustom) continue;
      auto candidate = try_kernel(kernel, machine_, problem, refusals);
      if (candidate && (!best || candidate->time < best->time)) best = std::move(candidate);
    }
    if (!best)
      throw UserError(Report{cat("no kernel for ", machine_.name(), " takes this ", op.name),
                             cat("backend ", name_), join(refusals, "; "),
                             "change what the kernels refuse, or use ref or cpu"});
    ran_ = cat("neuron:", machine_.name(), "/", best->kernel);
    return std::move(best->program);
  }

  const MachineSpec& machine_;
  const kernels::Kernel* kernel_;
  std::string name_, ran_;
};

std::unique_ptr<Backend> make_neuron(std::string_view rest) {
  const auto slash = rest.find('/');
  const MachineSpec& machine = find_machine(rest.substr(0, slash));
  const kernels::Kernel* kernel = nullptr;
  if (slash != std::string_view::npos) kernel = &kernels::find_kernel(rest.substr(slash + 1));
  return std::make_unique<NeuronBackend>(machine, kernel);
}

[[noreturn]] void unknown_backend(std::string_view spec) {
  std::vector<std::string> known{"ref", "cpu", "cpu:naive", "cpu:compiler"};
  for (const MachineSpec* machine : machines()) known.push_back(cat("neuron:", machine->name()));
  throw UserError(Report{
      cat("no backend is called '", spec, "'"),
      "backend",
      {},
      cat(suggest(spec, known), nearest(spec, known).empty() ? ", " : " Known: ",
          nearest(spec, known).empty() ? "" : join(known, ", ") + ", ", "neuron:MACHINE/KERNEL")});
}

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view spec, const BackendOptions& options) {
  constexpr std::string_view kNeuron = "neuron:";
  if (spec == "ref") return std::make_unique<RefBackend>();
  if (spec == "cpu" || spec == "cpu:custom")
    return std::make_unique<CpuBackend>("cpu", CpuForm::kCustom, options.threads);
  if (spec == "cpu:naive")
    return std::make_unique<CpuBackend>("cpu:naive", CpuForm::kNaive, options.threads);
  if (spec == "cpu:compiler")
    return std::make_unique<CpuBackend>("cpu:compiler", CpuForm::kCompiler, options.threads);
  if (spec.starts_with(kNeuron)) return make_neuron(spec.substr(kNeuron.size()));
  unknown_backend(spec);
}

}  // namespace krait::ops
