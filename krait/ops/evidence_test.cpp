// Is everything that a predicted time rests on listed beside it?

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/machine/values.hpp"
#include "krait/ops/operator.hpp"
#include "krait/sim/run.hpp"

namespace krait::ops {
namespace {

const sim::RunOptions kTimeOnly{.data = false};

ir::Program small_program(const kernels::Kernel& kernel, const MachineSpec& machine) {
  const Operator& op = find_operator(kernel.op);
  const std::vector<std::string> shape =
      kernel.op == "rmsnorm" ? std::vector<std::string>{"rows=200", "width=700"}
                             : std::vector<std::string>{"length=150", "d_inner=200", "d_state=4"};
  const KernelParams params = kernel_params(op, kernel, shape);
  return kernel.build(machine, op.make_problem(params.op), params.kernel);
}

bool lists(const std::vector<std::string>& evidence, const std::string& value) {
  return std::any_of(evidence.begin(), evidence.end(),
                     [&](const std::string& line) { return line.starts_with(value + " = "); });
}

TEST(Evidence, ListsEveryAssumedValueThatMovesATime) {
  int moved = 0;
  for (const MachineSpec* machine : machines())
    for (const kernels::Kernel& kernel : kernels::kernels()) {
      const ir::Program program = small_program(kernel, *machine);
      const sim::Result base = sim::run(program, *machine, {}, kTimeOnly);
      const std::vector<ValueRow> rows = list_values(*machine);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].source.evidence != Evidence::kAssumed) continue;
        const MachineSpec changed = with_another_value(*machine, i);
        if (sim::run(program, changed, {}, kTimeOnly).time == base.time) continue;
        ++moved;
        EXPECT_TRUE(lists(base.evidence, rows[i].name))
            << kernel.name << " on " << machine->name() << " rests on " << rows[i].name;
      }
    }
  EXPECT_GT(moved, 50) << "changed values hardly move a time: the test asks nothing";
}

TEST(Evidence, LeavesOutWhatNoInstructionOfTheProgramReads) {
  const MachineSpec& machine = find_machine("trn2");
  const kernels::Kernel& kernel = kernels::find_kernel("rmsnorm_fused");
  const sim::Result run = sim::run(small_program(kernel, machine), machine, {}, kTimeOnly);
  EXPECT_TRUE(lists(run.evidence, "vector.extra_occupancy"));
  EXPECT_FALSE(lists(run.evidence, "vector_rates.scalar_cumulative"));
  EXPECT_FALSE(lists(run.evidence, "sync.kernel_postamble_ns"));
}

}  // namespace
}  // namespace krait::ops
