#pragma once

// Who last wrote and read which bytes, and when: the data dependences that the machine's semaphores
// enforce. On chip the bytes of a partition form one axis with a state for each quadrant of 32
// partitions; strided patterns are tracked run by run (up to a limit, then as their bounding box).
// In HBM, tensors that a kernel writes are tracked in blocks of 512 bytes, each with the byte range
// that was written and the one that was read; inputs are never written.

#include <array>
#include <cstdint>
#include <vector>

#include "krait/base/units.hpp"
#include "krait/isa/tile.hpp"

namespace krait::sim {

/// A queue that keeps its own order: an engine's sequencer, or a DMA ring.
using Queue = std::uint8_t;  // 0..4: isa::Engine; 5..9: DMA ring
inline constexpr Queue kFirstRing = 5;
inline constexpr int kQueueCount = 10;

/// An event that others may wait for.
struct Mark {
  Ps time{};                // visible to its own queue
  std::int32_t index = -1;  // instruction; -1: none
  std::int32_t depth = 0;   // dependent instructions up to it
  Queue queue = 0;
  // False if a later write of its own queue may overtake it: a DMA that reads SBUF partitions other
  // than those that decide which DMA engine moves them.
  bool in_order = true;
};

/// What a byte range remembers.
struct ByteHistory {
  Mark writer;
  // The latest reader, and the latest of another queue than that one: enough to know the latest
  // reader outside any given queue.
  Mark reader, other_reader;
};

/// The constraint that an access meets.
struct Constraint {
  Ps ready{};               // the earliest start it allows
  std::int32_t index = -1;  // the instruction waited for
  bool from_read = false;   // write after read
};

class DependenceMap {
 public:
  /// @param cross_queue  time from an event to the start of a waiting instruction on another queue;
  ///                     DMA completions already contain theirs
  explicit DependenceMap(Ps cross_queue) : cross_queue_(cross_queue) {}

  void add_hbm_buffer(std::int64_t bytes, bool tracked);

  /// Raises `constraint` and `depth` by what reading (or writing) the tile must wait for.
  void constrain(const isa::Tile& tile, bool write, Queue queue, Constraint& constraint,
                 std::int32_t& depth);
  /// Records the access.
  void record(const isa::Tile& tile, bool write, const Mark& mark);

 private:
  static constexpr int kQuadrants = 4;
  static constexpr std::int64_t kMaxRuns = 64;
  static constexpr std::int64_t kBlock = 512;

  struct Segment {
    std::int64_t begin, end;
    std::array<ByteHistory, kQuadrants> quadrants;
  };
  struct Axis {
    std::vector<Segment> segments;  // sorted, disjoint
    std::size_t hint = 0;
  };
  // Bytes of a block, relative to its start.
  struct Bytes {
    std::int16_t begin = 0, end = 0;
    [[nodiscard]] bool meets(const Bytes& o) const { return begin < o.end && o.begin < end; }
    [[nodiscard]] bool covers(const Bytes& o) const { return begin <= o.begin && o.end <= end; }
  };
  // What was written and what was read; the marks are the latest of anything in the range.
  struct HbmBlock {
    ByteHistory history;
    Bytes written, read;
  };
  struct HbmBuffer {
    bool tracked = false;
    std::vector<HbmBlock> blocks;
    std::int64_t bytes = 0;
  };

  template <class Fn>
  void visit(const isa::Tile& tile, Fn fn);
  template <class Fn>
  void visit_range(Axis& axis, std::int64_t begin, std::int64_t end, unsigned quadrants, Fn fn);
  template <class Fn>
  void visit_hbm(const isa::Tile& tile, Fn fn);
  [[nodiscard]] Ps seen(const Mark& mark) const;
  [[nodiscard]] const Mark& later(const Mark& a, const Mark& b) const;
  void note_reader(ByteHistory& h, const Mark& mark) const;
  void record_hbm(HbmBlock& block, const Bytes& bytes, bool write, const Mark& mark) const;

  Ps cross_queue_;
  Axis sbuf_, psum_;
  std::vector<HbmBuffer> hbm_;
};

}  // namespace krait::sim
