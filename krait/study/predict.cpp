#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/kernels/kernel.hpp"
#include "krait/machine/registry.hpp"
#include "krait/sim/run.hpp"
#include "krait/study/execute.hpp"
#include "krait/study/map.hpp"
#include "krait/study/problems.hpp"

namespace krait::study {
namespace {

std::map<std::string, double> to_ns(const std::map<std::string, Ps>& times) {
  std::map<std::string, double> out;
  for (const auto& [name, time] : times) out[name] = time.ns();
  return out;
}

void copy_counters(JobResult& out, const sim::Result& run) {
  out.time_ns = run.time.ns();
  out.busy_ns = to_ns(run.busy);
  out.path_ns = to_ns(run.path);
  out.work = run.work;
  out.instructions = run.instructions;
  out.hbm_read_bytes = run.hbm_read_bytes;
  out.hbm_write_bytes = run.hbm_write_bytes;
  out.sbuf_bytes = run.sbuf_bytes;
  out.psum_bytes = run.psum_bytes;
  out.depth = run.depth;
  out.bound_by = run.bound_by;
  out.evidence = run.evidence;
  for (const sim::Finding& f : run.findings)
    out.findings.push_back(cat(f.kind, ": ", f.what, f.where.empty() ? "" : " at ", f.where));
}

ir::Program build(const JobSpec& spec, const MachineSpec& machine, const SolvedCall& solved) {
  const kernels::Kernel& kernel = kernels::find_kernel(spec.variant);
  if (kernel.op != spec.op)
    throw UserError(Report{cat("kernel ", kernel.name, " computes ", kernel.op, ", not ", spec.op),
                           "job", variant_label(spec),
                           cat("krait kernels lists the kernels of ", spec.op)});
  std::vector<std::string> assignments;
  for (const ParamMap* params : {&spec.shape, &spec.tuning})
    for (const auto& [name, value] : *params) assignments.push_back(cat(name, '=', value));
  const ops::KernelParams params = ops::kernel_params(*solved.op, kernel, assignments);
  return kernel.build(machine, ops::problem_of(solved.call), params.kernel);
}

}  // namespace

JobResult predict(const JobSpec& spec, Problems& problems) {
  const MachineSpec& machine = find_machine(spec.machine);
  const auto solved = problems.get(spec);
  const ir::Program program = build(spec, machine, *solved);  // a UserError here is a refusal
  JobResult result;
  try {
    // A program that is too long to count needs its time for the record, not its values.
    const bool data = program.instruction_count() <= kInstructionLimit;
    const sim::Result run = sim::run(program, machine, data ? solved->call.inputs : TensorMap{},
                                     {.data = data, .rounding = spec.rounding});
    copy_counters(result, run);
    result.counts = solved->counts;
    if (data) judge_outputs(result, spec, *solved, run.outputs);
  } catch (const UserError& e) {  // it was accepted, so it must run
    throw InternalError(e.report());
  }
  return result;
}

}  // namespace krait::study
