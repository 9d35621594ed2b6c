#pragma once

// The report: one HTML page that opens offline and needs nothing beside it. Figures link to the
// jobs they rest on; every text from a job is escaped; tables and tiles read without scripts.

#include <string>

#include "krait/study/map.hpp"

namespace krait::study {

/// The page. Equal maps give equal bytes: its date is the campaign's.
[[nodiscard]] std::string report_html(const Map& map);

}  // namespace krait::study
