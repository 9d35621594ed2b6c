#pragma once

// What `krait` and `krait COMMAND --help` print.

#include <string>

#include "apps/krait/command.hpp"

namespace krait::app {

/// All commands, and how to go on from there.
[[nodiscard]] std::string overview();
/// A command's arguments, options and examples.
[[nodiscard]] std::string help_of(const Command& command, const CLI::App& app);

}  // namespace krait::app
