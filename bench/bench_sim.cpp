// The simulator's own speed: BM_sim/scan_hardware/<shape>/<time alone or with data>. The machine is
// trn2 and the shape the largest that the project promises a time for; program and inputs are built
// before the clock runs.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "krait/kernels/kernel.hpp"
#include "krait/machine/registry.hpp"
#include "krait/ops/operator.hpp"
#include "krait/sim/run.hpp"

namespace krait {
namespace {

void bench_scan_hardware(benchmark::State& state, const std::vector<std::string>& set, bool data) {
  const kernels::Kernel& kernel = kernels::find_kernel("scan_hardware");
  const ops::Operator& op = ops::find_operator(kernel.op);
  const MachineSpec& machine = find_machine("trn2");
  const ops::KernelParams params = ops::kernel_params(op, kernel, set);
  const ops::Call call = data ? op.make_call(params.op) : ops::Call{};
  const ir::Program program = kernel.build(machine, op.make_problem(params.op), params.kernel);
  for (auto _ : state) {
    const auto result = sim::run(program, machine, call.inputs, sim::RunOptions{.data = data});
    benchmark::DoNotOptimize(&result);
  }
}

void register_all() {
  const std::vector<std::string> set{"d_inner=4096", "length=8192", "d_state=16"};
  for (const bool data : {false, true})
    benchmark::RegisterBenchmark(
        data ? "BM_sim/scan_hardware/4096x16x8192/data" : "BM_sim/scan_hardware/4096x16x8192/time",
        [=](benchmark::State& state) { bench_scan_hardware(state, set, data); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
}

}  // namespace
}  // namespace krait

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  krait::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
