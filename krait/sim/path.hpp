#pragma once

// Why a run took as long as it did: every instruction remembers what it waited for last; walking
// back from the last result splits the whole time into named causes.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "krait/base/units.hpp"

namespace krait::sim {

enum class Edge : std::uint8_t { kNone, kEngineOrder, kDependence, kWriteAfterRead };

struct PathNode {
  std::int32_t before = -1;  // the instruction waited for last
  Edge edge = Edge::kNone;
  std::uint8_t cause = 0;  // index of kCauses: what its occupancy is charged to
  bool dma = false;
  bool table_load = false;  // a table load stands between `before` and the start
  Ps ready;  // everything it waited for is there; until `start` a port is busy or weights load
  Ps start, free, done;
  Ps transfer_begin, transfer_end;  // DMA
};

// What time is charged to. The first five are the engines, in isa::Engine order.
inline constexpr std::string_view kCauses[] = {
    "TensorE",     "VectorE",   "ScalarE", "GpSimdE",   "SyncE",     "DMA transfer",
    "DMA latency", "DMA issue", "latency", "semaphore", "port wait", "table load"};
inline constexpr std::size_t kCauseCount = std::size(kCauses);
enum Cause : std::uint8_t {
  kDmaTransfer = 5,
  kDmaLatency,
  kDmaIssue,
  kLatency,
  kSemaphore,
  kPortWait,
  kTableLoad,
};

class Path {
 public:
  void add(const PathNode& node) { nodes_.push_back(node); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const PathNode& operator[](std::size_t i) const { return nodes_[i]; }
  /// Time charged to each cause along the critical path; their sum is the time of the last result.
  [[nodiscard]] std::map<std::string, Ps> charges() const;

 private:
  std::vector<PathNode> nodes_;
};

}  // namespace krait::sim
