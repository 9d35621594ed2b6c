#pragma once

// Parameter lists as commands show them.

#include <span>
#include <string>
#include <vector>

#include "apps/krait/json.hpp"
#include "krait/base/params.hpp"

namespace krait::app {

[[nodiscard]] Json params_json(std::span<const ParamSpec> specs);
/// A table: name, default, range, help.
[[nodiscard]] std::string params_text(std::span<const ParamSpec> specs);
/// Values with their kinds: numbers as numbers, flags as booleans.
[[nodiscard]] Json values_json(const Params& params);

}  // namespace krait::app
