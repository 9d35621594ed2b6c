#include "krait/sim/calendar.hpp"

#include <algorithm>

namespace krait::sim {

std::size_t Calendar::first_ending_after(Ps time) const {
  // Most requests are near the end: look there first.
  std::size_t i = taken_.size();
  for (int tries = 0; i > 0 && tries < 4; ++tries, --i)
    if (taken_[i - 1].end <= time) return i;
  return static_cast<std::size_t>(
      std::partition_point(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(i),
                           [&](const Stretch& s) { return s.end <= time; }) -
      taken_.begin());
}

Ps Calendar::fit(Ps earliest, Ps duration) const {
  Ps at = max(earliest, floor_);
  for (std::size_t i = first_ending_after(at); i < taken_.size(); ++i) {
    if (at + duration <= taken_[i].begin) break;
    at = max(at, taken_[i].end);
  }
  return at;
}

void Calendar::book(Ps start, Ps duration) {
  if (duration.value <= 0) return;
  busy_ += duration;
  Stretch add{start, start + duration};
  std::size_t first = first_ending_after(start);
  if (first > 0 && taken_[first - 1].end == start) --first;
  std::size_t last = first;
  while (last < taken_.size() && taken_[last].begin <= add.end) {
    add.begin = min(add.begin, taken_[last].begin);
    add.end = max(add.end, taken_[last].end);
    ++last;
  }
  const auto at = taken_.begin() + static_cast<std::ptrdiff_t>(first);
  if (last == first) {
    taken_.insert(at, add);
  } else {
    *at = add;
    taken_.erase(at + 1, taken_.begin() + static_cast<std::ptrdiff_t>(last));
  }
  if (taken_.size() > 2 * kKeep) {
    const auto cut = taken_.begin() + kKeep;
    floor_ = (cut - 1)->end;
    taken_.erase(taken_.begin(), cut);
  }
}

Ps Calendar::overlap(Ps start, Ps duration) const {
  const Ps end = start + duration;
  Ps sum{};
  for (std::size_t i = first_ending_after(start); i < taken_.size() && taken_[i].begin < end; ++i)
    sum += min(end, taken_[i].end) - max(start, taken_[i].begin);
  return sum;
}

}  // namespace krait::sim
