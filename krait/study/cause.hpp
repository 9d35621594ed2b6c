#pragma once

// The sentence that says why an entry has its verdict, made from the counters of its jobs.

#include <string>

#include "krait/study/map.hpp"

namespace krait::study {

/// What bound each side, and the counters in which they differ most. Names what is missing if there
/// is nothing to compare.
[[nodiscard]] std::string cause_of(const Entry& entry);

/// "DMA transfer (on 92 % of its critical path)".
[[nodiscard]] std::string bound_text(const JobResult& result);
/// "moves 0.4x the HBM bytes (16.8 MB against 41.9 MB), executes 0.1x the instructions (...)": the
/// counters of `a` that differ from those of `b` by more than 10 %: first the one that bound `b`,
/// then the largest differences; at most `most`.
[[nodiscard]] std::string counter_text(const JobResult& a, const JobResult& b, std::size_t most);

}  // namespace krait::study
