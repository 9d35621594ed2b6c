#pragma once

// The sentence that says why an entry has its verdict, made from the counters of its jobs.

#include <string>

#include "krait/study/map.hpp"

namespace krait::study {

/// What bound each side, and the counters in which they differ most. Names what is missing if there
/// is nothing to compare.
[[nodiscard]] std::string cause_of(const Entry& entry);

/// "DMA transfer (92 % of its time)": the share of the critical path.
[[nodiscard]] std::string bound_text(const JobResult& result);
/// "moves 0.40x the HBM bytes (16.8 MB against 41.9 MB) and has 1/30 the dependent depth (..)": the
/// counters of `a` that differ from those of `b` by more than 10 % in the direction of the times:
/// first the one that bound `b`, then the largest differences; at most `most`.
[[nodiscard]] std::string counter_text(const JobResult& a, const JobResult& b, std::size_t most);
/// What separates `told` from `other`: the counter of the bound, one more, and both bounds.
[[nodiscard]] std::string contrast_text(const VariantResult& other, const VariantResult& told);

}  // namespace krait::study
