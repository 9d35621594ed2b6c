#pragma once

// The map as text and as JSON.

#include <string>

#include "krait/study/map.hpp"

namespace krait::study {

/// A table of 73 columns, a cause under each line, then the published figures beside ours; text is
/// wrapped at `width`.
[[nodiscard]] std::string map_text(const Map& map, int width);

/// {entries [{operator, context, machine, measured, naive_ns, compiler_ns, custom [{variant, ns,
/// error}], best, factor, band, verdict, cause, jobs []}], published [{what, published, ours,
/// reason}]}. More keys may be added. Holds no date and no number of a campaign: equal predictions
/// give equal bytes.
[[nodiscard]] std::string map_json(const Map& map);

/// One job as a JSON object: its specification, command, provenance and result.
[[nodiscard]] std::string job_json(const JobRow& job);

}  // namespace krait::study
