#pragma once

// Operator attributes from JSON files.

#include <filesystem>
#include <string>

#include "apps/krait/json.hpp"
#include "krait/base/params.hpp"

namespace krait::app {

/// Reads a JSON file. @throws UserError naming the file and the place of the mistake
[[nodiscard]] Json read_json(const std::filesystem::path& path);

/// Attributes from an object of booleans, numbers and texts. null means absent; a list of integers
/// becomes the text of a shape, "[2, 16]".
/// @param where  the file, for messages
/// @throws UserError for other kinds of values
[[nodiscard]] Attrs parse_attributes(const Json& object, const std::string& where);

}  // namespace krait::app
