#pragma once

// What a study runs: presets of operators, shapes and variants, crossed with the chosen machines.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/study/job.hpp"

namespace krait::study {

/// "quick", "seed", "full"; each with a line of help.
struct Preset {
  std::string_view name, help;
};
[[nodiscard]] std::span<const Preset> presets();

/// Names of machines in the map's order, "cpu" first; aliases are resolved, none given means all.
/// @throws UserError for an unknown machine, with the nearest names
[[nodiscard]] std::vector<std::string> resolve_machines(std::span<const std::string> names);

/// The jobs of a preset on these machines. Equal arguments, table and sources give equal keys.
/// @throws UserError for an unknown preset, with the nearest names
[[nodiscard]] std::vector<JobSpec> plan(std::string_view preset,
                                        std::span<const std::string> machines);

/// The same job for this build and host (version, table hash, processor): what rerun executes.
[[nodiscard]] JobSpec here(JobSpec spec);

}  // namespace krait::study
