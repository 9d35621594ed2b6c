#pragma once

// The machines Krait knows, by name.

#include <span>
#include <string_view>

#include "krait/machine/spec.hpp"

namespace krait {

/// All generations, oldest first: trn1, trn2, trn3.
[[nodiscard]] std::span<const MachineSpec* const> machines();

/// Finds a generation by its name or an alias, in any letter case: "trn2", "neuroncore-v3",
/// "gen3", "v3"; inf2 is trn1's core.
/// @throws UserError with the nearest names if there is none
[[nodiscard]] const MachineSpec& find_machine(std::string_view name);

}  // namespace krait
