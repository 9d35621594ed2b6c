#pragma once

// Published results beside ours. What was published is quoted as it was; ours comes from the
// entries of the map, and nothing in Krait is tuned to meet it.

#include <span>
#include <vector>

#include "krait/study/map.hpp"

namespace krait::study {

/// One row a published figure for which the entries hold jobs. A row of ours that differs by more
/// than 20 % says why, from counters. docs/study.md says what they are.
[[nodiscard]] std::vector<Published> make_published(std::span<const Entry> entries);

}  // namespace krait::study
