#pragma once

// The rule names that the sources of the checker and the verifier give to violations, found by
// reading the sources: the second argument of require(...), the first of bad(...), and the first
// member of a Violation in push_back({...}) or add({...}).

#include <set>
#include <string>
#include <string_view>

namespace krait::errors {

[[nodiscard]] std::set<std::string> rules_in(std::string_view source);
/// The same over every source of a folder of the tree, tests aside.
[[nodiscard]] std::set<std::string> rules_of_folder(const std::string& folder);

/// Rules that an instruction's source names and its test file never mentions, as "insn: rule".
[[nodiscard]] std::set<std::string> untested_rules();

/// The messages (their first words in the source) of UserErrors and MachineFaults whose Report is
/// written on the spot with an empty remedy.
[[nodiscard]] std::set<std::string> without_remedy(std::string_view source);
[[nodiscard]] std::set<std::string> without_remedy_in_folder(const std::string& folder);

}  // namespace krait::errors
