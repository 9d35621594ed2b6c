#pragma once

// A command's words: CLI11 parses them, the messages are ours.

#include <string>
#include <vector>

#include "apps/krait/command.hpp"

namespace krait::app {

/// Parses the words behind the command's name. @return whether help was asked for
/// @throws UserError for an unknown option (with the nearest ones), a missing value, an option
/// given twice or a value it does not take
bool parse_arguments(const Command& command, CLI::App& app, std::vector<std::string> words);

}  // namespace krait::app
