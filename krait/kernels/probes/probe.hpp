#pragma once

// Probes: device programs that repeat one thing, so that a table can be held against a measurement
// of that thing alone. They compute nothing that anybody wants and belong to no operator.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/base/params.hpp"
#include "krait/ir/program.hpp"

namespace krait::kernels {

struct Probe {
  std::string_view name;     // "stream"
  std::string_view summary;  // one line
  std::string_view unit;     // what it repeats: "instruction", "transfer"
  /// Every parameter with its value after the assignments "name=value"; which there are may depend
  /// on them. `repeat` and `short` are always among them. @throws UserError
  Params (*params)(std::span<const std::string> assignments);
  /// The program with so many repetitions. @throws UserError where a rule refuses it
  ir::Program (*build)(const MachineSpec& machine, const Params& params, std::int64_t repeat);
};

[[nodiscard]] std::span<const Probe> probes();
/// By name; null if there is none.
[[nodiscard]] const Probe* find_probe(std::string_view name);

/// The instruction that a probe's program repeats: its last one.
[[nodiscard]] const ir::Insn& repeated_insn(const ir::Program& program);

// One file each.
[[nodiscard]] Probe stream_probe();
[[nodiscard]] Probe dma_probe();

// --- what they share ---

/// `repeat` and `short`, with their defaults.
[[nodiscard]] std::vector<ParamSpec> repeat_params(const char* repeat, const char* shorter);

}  // namespace krait::kernels
