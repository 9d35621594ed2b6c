#pragma once

// When a shared resource (a memory port, a DMA engine) is taken. Instructions reach the timeline in
// program order, not in time order, so a later one may still use an earlier gap.

#include <vector>

#include "krait/base/units.hpp"

namespace krait::sim {

class Calendar {
 public:
  /// The earliest start >= `earliest` of a free stretch of `duration`.
  [[nodiscard]] Ps fit(Ps earliest, Ps duration) const;
  /// Takes [start, start + duration). Touching and overlapping stretches merge.
  void book(Ps start, Ps duration);
  /// Time within [start, start + duration) that is taken.
  [[nodiscard]] Ps overlap(Ps start, Ps duration) const;
  [[nodiscard]] Ps busy() const { return busy_; }

 private:
  struct Stretch {
    Ps begin, end;
  };
  [[nodiscard]] std::size_t first_ending_after(Ps time) const;

  // Old stretches are dropped once there are many; nothing can start before what was dropped.
  static constexpr std::size_t kKeep = 2048;
  std::vector<Stretch> taken_;  // sorted, disjoint, never touching
  Ps floor_{};
  Ps busy_{};
};

}  // namespace krait::sim
