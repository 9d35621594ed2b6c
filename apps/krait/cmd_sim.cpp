// krait sim KERNEL: one device kernel, or a probe, on a machine.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/krait/command.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "apps/krait/sim_probe.hpp"
#include "apps/krait/sim_view.hpp"
#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/kernels/kernel.hpp"
#include "krait/kernels/probes/probe.hpp"
#include "krait/machine/registry.hpp"
#include "krait/ops/operator.hpp"

namespace krait::app {
namespace {

struct Options {
  std::string kernel;
  std::optional<std::string> trace;
  std::string machine = "trn2";
  std::vector<std::string> set;
  bool no_data = false, no_rounding = false, strict = false, print = false;
};

bool all_zero(const Tensor& tensor) {
  const std::vector<double> values = tensor.to_f64();
  return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}

/// Judges the outputs that the kernel has against the reference's of the same name.
Accuracy judge(const ops::Tolerance& allowed, const TensorMap& expected, const TensorMap& outputs) {
  Accuracy out{.max_rel_error = 0, .limit = allowed.rtol, .wrong = {}};
  for (const ops::Difference& d : ops::compare(outputs, expected)) {
    out.max_rel_error = std::max(out.max_rel_error, d.relative());
    if (!out.wrong.empty()) continue;
    const auto found = outputs.find(d.tensor);
    if (found == outputs.end())
      out.wrong = cat("the kernel has no output ", d.tensor);
    else if (std::isinf(d.max_abs))
      out.wrong = cat(d.tensor, " holds NaN or infinity, or has another shape than the reference");
    else if (d.max_expected > 0 && all_zero(found->second))
      out.wrong = cat(d.tensor, " is all zeros and should not be");
    else if (!d.within(allowed))
      out.wrong = cat(d.tensor, " is off by ", short_number(d.max_abs), " where ",
                      short_number(allowed.atol + allowed.rtol * d.max_expected), " is allowed");
  }
  return out;
}

/// A probe's name is none of a kernel, but may be what was meant.
const kernels::Kernel& kernel_named(const std::string& name) {
  std::vector<std::string> names;
  for (const kernels::Kernel& kernel : kernels::kernels()) {
    if (kernel.name == name) return kernel;
    names.emplace_back(kernel.name);
  }
  for (const kernels::Probe& probe : kernels::probes()) names.emplace_back(probe.name);
  throw UserError(Report{
      cat("no kernel or probe is called '", name, "'"), "krait sim", {}, suggest(name, names)});
}

Reply run_probe(const kernels::Probe& probe, const Options& options, const Context& context) {
  if (options.no_rounding || options.strict)
    throw UserError(Report{cat("a probe computes no values, so there is nothing to round or find"),
                           cat("krait sim ", probe.name),
                           options.strict ? "--strict" : "--no-rounding", "leave it out"});
  return simulate_probe({.probe = probe,
                         .machine = find_machine(options.machine),
                         .params = probe.params(options.set),
                         .trace = options.trace,
                         .print = options.print},
                        context);
}

Reply run(const Options& options, const Context& context) {
  if (options.kernel.empty())
    throw UserError(Report{"no kernel given", "krait sim", {}, "krait kernels lists them"});
  if (const kernels::Probe* probe = kernels::find_probe(options.kernel))
    return run_probe(*probe, options, context);
  const kernels::Kernel& kernel = kernel_named(options.kernel);
  const ops::Operator& op = ops::find_operator(kernel.op);
  const MachineSpec& machine = find_machine(options.machine);
  const ops::KernelParams params = ops::kernel_params(op, kernel, options.set);
  const Progress progress(cat("simulating ", kernel.name));
  const ops::Call call = options.no_data || options.print ? ops::Call{} : op.make_call(params.op);
  const kernels::Problem problem = op.make_problem(params.op);
  const ir::Program program = kernel.build(machine, problem, params.kernel);
  if (options.print) return program_reply(program, context);

  if (options.trace) check_can_write(*options.trace);
  sim::TraceSink trace;
  sim::RunOptions run_options{
      .data = !options.no_data, .rounding = !options.no_rounding, .strict = options.strict};
  if (options.trace) run_options.trace = &trace;
  // The reference takes a core of its own while the simulation, which is serial, has another.
  std::future<TensorMap> expected;
  if (!options.no_data)
    expected = std::async(std::launch::async, [&] { return op.reference(call); });
  SimOutcome outcome{.kernel = std::string(kernel.name),
                     .machine = machine,
                     .params = params.kernel,
                     .result = sim::run(program, machine, call.inputs, run_options),
                     .accuracy = {}};
  if (!options.no_data)
    outcome.accuracy =
        judge(ops::device_tolerance(op, problem), expected.get(), outcome.result.outputs);
  if (options.trace)
    write_file_atomically(*options.trace,
                          sim::trace_json(trace, cat(kernel.name, " on ", machine.name())));
  const bool wrong = outcome.accuracy && !outcome.accuracy->wrong.empty();
  return {context.json ? document(sim_json(outcome)) : sim_text(outcome), wrong ? 1 : 0};
}

}  // namespace

Action declare_sim(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("kernel", options->kernel, "a device kernel or a probe (krait kernels)")
      ->type_name("KERNEL");
  app.add_option("--set", options->set,
                 "name=value of a parameter (krait kernels KERNEL); repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--machine", options->machine, "trn1, trn2 (default) or trn3")->type_name("NAME");
  app.add_option("--trace", options->trace, "write a trace that Perfetto and chrome://tracing open")
      ->type_name("FILE");
  app.add_flag("--no-data", options->no_data, "time alone, from shapes");
  app.add_flag("--no-rounding", options->no_rounding, "16- and 8-bit floats keep f32 values");
  app.add_flag("--strict", options->strict, "findings are errors");
  app.add_flag("--print", options->print, "print the program instead of running it");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
