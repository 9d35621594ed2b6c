#include "krait/sim/evidence.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "krait/base/text.hpp"
#include "krait/machine/values.hpp"

namespace krait::sim {
namespace {

using isa::Engine;

bool any_engine(const PlannedInsn&) {
  return true;
}
bool is_dma(const PlannedInsn& insn) {
  return insn.timing.dma.partitions != 0;
}
template <Engine engine>
bool on(const PlannedInsn& insn) {
  return insn.engine == engine && !is_dma(insn);
}

struct Reads {
  std::string_view prefix;
  bool (*when)(const PlannedInsn&);
};

// What timeline.cpp and dependence.cpp read from the table beside the cost of an instruction. A
// test changes every value of the tables and fails if a time moves that rests on a value missing
// here.
constexpr std::array kTimeCore{
    Reads{"sync.cross_engine_ns", any_engine},
    Reads{"tensor.clock", on<Engine::kTensor>},
    Reads{"tensor.background_load", on<Engine::kTensor>},
    Reads{"tensor.first_matmul_ns", on<Engine::kTensor>},
    Reads{"tensor.power_ramp", on<Engine::kTensor>},
    Reads{"tensor.ramp_", on<Engine::kTensor>},
    Reads{"vector.clock", on<Engine::kVector>},
    Reads{"exclusions.", on<Engine::kVector>},
    Reads{"scalar.clock", on<Engine::kScalar>},
    Reads{"scalar_rates.table_load_ns", on<Engine::kScalar>},
    Reads{"gpsimd.clock", on<Engine::kGpSimd>},
    Reads{"dma.engines", is_dma},
    Reads{"dma.partitions_per_engine", is_dma},
    Reads{"dma.descriptor_ns", is_dma},
    Reads{"dma.bytes_per_ns", is_dma},
    Reads{"dma.min_descriptor_bytes", is_dma},
    Reads{"dma.trigger_to_first_byte_ns", is_dma},
    Reads{"dma.end_to_consumer_ns", is_dma},
    Reads{"chip.hbm_stack_bytes_per_ns", is_dma},
};

bool time_core_reads(const Plan& plan, std::string_view value) {
  return std::any_of(kTimeCore.begin(), kTimeCore.end(), [&](const Reads& reads) {
    return value.starts_with(reads.prefix) &&
           std::any_of(plan.insns.begin(), plan.insns.end(), reads.when);
  });
}

bool costs_differ(const Plan& plan, const MachineSpec& changed) {
  return std::any_of(plan.insns.begin(), plan.insns.end(), [&](const PlannedInsn& insn) {
    return insn.def->time(insn.object.data(), changed) != insn.timing;
  });
}

std::string shown_unit(const ValueRow& row) {
  return row.unit == "1" || row.unit == "flag" ? "" : cat(" ", row.unit);
}

}  // namespace

std::vector<std::string> assumed_values(const Plan& plan, const MachineSpec& machine) {
  std::vector<std::string> out;
  std::size_t index = 0;
  for (const ValueRow& row : list_values(machine)) {
    const std::size_t here = index++;
    if (row.source.evidence != Evidence::kAssumed) continue;
    if (time_core_reads(plan, row.name) || costs_differ(plan, with_another_value(machine, here)))
      out.push_back(cat(row.name, " = ", row.text, shown_unit(row), " (", row.source.text, ")"));
  }
  return out;
}

}  // namespace krait::sim
