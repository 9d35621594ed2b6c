#pragma once

// The direction of includes between the layers, as HACKING.md draws it.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace krait::testing_support {

/// What each folder's line of the layer table names. Whatever those name is allowed too.
using LayerTable = std::map<std::string, std::set<std::string>>;
[[nodiscard]] const LayerTable& layer_table();

/// A layer, what its line names, and so on to base. Empty if the layer is unknown.
[[nodiscard]] std::set<std::string> allowed_layers(const std::string& layer);

/// "krait/isa/insn/x.hpp" -> "isa", "apps/krait/main.cpp" -> "apps/krait"; empty for other paths.
[[nodiscard]] std::string layer_of(std::string_view path);

/// Checks the quoted includes of one file. Each element is a message that names file, line, include
/// and the allowed set. Includes of libraries (no krait/ or apps/ in front) are not judged.
/// @param path  relative to the root of the source tree
[[nodiscard]] std::vector<std::string> include_violations(const std::string& path,
                                                          std::string_view text);

}  // namespace krait::testing_support
