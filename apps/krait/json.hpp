#pragma once

// JSON output of the commands. Include in .cpp files only: the library is large.

#include <nlohmann/json.hpp>
#include <string>

namespace krait::app {

/// Keys stay in the order they were set.
using Json = nlohmann::ordered_json;

/// The document as standard output shows it. Numbers that are not finite become null; bytes that
/// are not UTF-8 (they may come from file names) become U+FFFD. Equal objects give equal bytes.
[[nodiscard]] inline std::string document(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace krait::app
