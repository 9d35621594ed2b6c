#include "krait/sim/plan.hpp"

#include <array>

#include "krait/base/text.hpp"

namespace krait::sim {
namespace {

constexpr std::array<std::string_view, 5> kRingTracks{"DMA ring TensorE", "DMA ring VectorE",
                                                      "DMA ring ScalarE", "DMA ring GpSimdE",
                                                      "DMA ring SyncE"};

PlannedInsn plan_insn(const ir::Insn& insn, const MachineSpec& machine) {
  PlannedInsn out;
  out.def = insn.def;
  out.object = insn.object;
  out.where = insn.where;
  out.label = insn.where.empty() ? std::string(insn.def->info.name)
                                 : cat(insn.def->info.name, " (", insn.where, ")");
  void* self = out.object.data();
  out.engine = insn.def->engine(self);
  out.timing = insn.def->time(self, machine);
  out.track = out.timing.dma.partitions != 0 ? kRingTracks[static_cast<std::size_t>(out.engine)]
                                             : isa::name(out.engine);
  isa::for_each_tile(*insn.def, self, [&](const isa::FieldInfo& field, isa::Tile& tile) {
    if (tile.expr != 0) out.symbolic.emplace_back(&tile, tile.expr);
    const bool write = field.role == isa::Role::kOut;
    out.accesses.push_back({&tile, write});
    // TensorE accumulates in order by itself; elsewhere a kept or accumulated dst is also read.
    if (write && out.engine != isa::Engine::kTensor && insn.def->accumulates(self))
      out.accesses.push_back({&tile, false});
  });
  return out;
}

std::vector<PlannedNode> plan_block(const ir::Program& program, const ir::Block& block,
                                    const MachineSpec& machine, Plan& plan) {
  std::vector<PlannedNode> out;
  out.reserve(block.size());
  for (const ir::Node& node : block) {
    PlannedNode planned;
    if (const ir::Insn* insn = node.insn()) {
      planned.insn = static_cast<int>(plan.insns.size());
      plan.insns.push_back(plan_insn(*insn, machine));
    } else {
      planned.loop = node.loop()->id;
      planned.count = program.extents[planned.loop];
      planned.body = plan_block(program, node.loop()->body, machine, plan);
    }
    out.push_back(std::move(planned));
  }
  return out;
}

}  // namespace

Plan make_plan(const ir::Program& program, const MachineSpec& machine) {
  Plan plan;
  plan.body = plan_block(program, program.body, machine, plan);
  return plan;
}

}  // namespace krait::sim
