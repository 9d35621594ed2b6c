#pragma once

// What a prediction rests on that no document gives.

#include <string>
#include <vector>

#include "krait/machine/spec.hpp"
#include "krait/sim/plan.hpp"

namespace krait::sim {

/// The values marked assumed that the time of this plan can depend on, as text
/// "vector.extra_occupancy = 16 cycles (source)", in table order. Exact for the cost of
/// instructions, which is asked again with each value changed; values that the time core reads
/// count for every plan that uses their engine.
[[nodiscard]] std::vector<std::string> assumed_values(const Plan& plan, const MachineSpec& machine);

}  // namespace krait::sim
