#pragma once

// The parts of the page, and the escaping that all of them use; private to the report.

#include <string>
#include <string_view>
#include <vector>

#include "krait/study/map.hpp"

namespace krait::study::report {

/// For element content and quoted attributes.
[[nodiscard]] std::string escape(std::string_view text);
/// A link to a job's row: its key, or other words for it.
[[nodiscard]] std::string job_link(std::string_view key, std::string_view words = {});
/// Titles ("rmsnorm rows=512 width=4096") in the order in which entries bring them up.
[[nodiscard]] std::vector<std::string> titles(const Map& map);

[[nodiscard]] std::string header_section(const Map& map);
[[nodiscard]] std::string map_section(const Map& map);
[[nodiscard]] std::string entries_section(const Map& map);
[[nodiscard]] std::string charts_section(const Map& map);
[[nodiscard]] std::string engines_section(const Map& map);
[[nodiscard]] std::string published_section(const Map& map);
[[nodiscard]] std::string jobs_section(const Map& map);

/// What the script draws, as JSON that is safe inside a script element.
[[nodiscard]] std::string chart_data(const Map& map);

}  // namespace krait::study::report
