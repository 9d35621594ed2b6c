#pragma once

// Legal samples of every instruction, to show what it costs, and broken ones, to show the rules.
// Rules live in the check() of each instruction and are found here by breaking them.

#include <cstdint>
#include <optional>
#include <vector>

#include "krait/isa/insn.hpp"

namespace krait::app {

/// A legal f32 instruction that processes n elements on each of 128 partitions; nothing if there is
/// none (n is beyond what the machine allows).
[[nodiscard]] std::optional<isa::Sample> legal_sample(const isa::InsnDef& def,
                                                      const MachineSpec& machine, std::int64_t n);

/// What comes out when one tile at a time of a legal sample is removed, moved, resized or retyped;
/// one violation for every rule and field, in the order found.
[[nodiscard]] std::vector<isa::Violation> rules(const isa::InsnDef& def,
                                                const MachineSpec& machine);

}  // namespace krait::app
