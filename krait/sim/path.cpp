#include "krait/sim/path.hpp"

#include <algorithm>
#include <array>

namespace krait::sim {
namespace {

struct Charges {
  std::array<std::int64_t, kCauseCount> ps{};
  void add(std::size_t cause, Ps from, Ps to) {
    if (to > from) ps[cause] += (to - from).value;
  }
};

// The stretch of a node that the path runs through, up to `end` (its done, its free, or a read's
// end).
void charge_node(const PathNode& n, Ps end, Charges& out) {
  if (!n.dma) {
    out.add(n.cause, n.start, min(n.free, end));
    out.add(kLatency, n.free, end);
    return;
  }
  if (end <= n.free) return out.add(kDmaIssue, n.start, end);
  out.add(kDmaLatency, n.start, n.transfer_begin);
  out.add(kDmaTransfer, n.transfer_begin, min(n.transfer_end, end));
  out.add(kDmaLatency, n.transfer_end, end);
}

}  // namespace

std::map<std::string, Ps> Path::charges() const {
  std::map<std::string, Ps> out;
  if (nodes_.empty()) return out;
  const auto last =
      std::max_element(nodes_.begin(), nodes_.end(),
                       [](const PathNode& a, const PathNode& b) { return a.done < b.done; });
  Charges sum;
  const PathNode* node = &*last;
  Ps end = node->done;
  while (true) {
    charge_node(*node, end, sum);
    if (node->before < 0) {
      sum.add(node->table_load ? kTableLoad : kPortWait, Ps{}, node->start);
      break;
    }
    const PathNode& before = nodes_[static_cast<std::size_t>(node->before)];
    const bool order = node->edge == Edge::kEngineOrder;
    const bool read = node->edge == Edge::kWriteAfterRead && !before.dma;
    end = order || read ? before.free : before.done;
    end = min(end, node->start);
    // Between the event and the start: a semaphore for another queue, else a busy port.
    sum.add(node->table_load ? kTableLoad : order ? kPortWait : kSemaphore, end, node->start);
    node = &before;
  }
  for (std::size_t c = 0; c < kCauseCount; ++c)
    if (sum.ps[c] != 0) out[std::string(kCauses[c])] = Ps{sum.ps[c]};
  return out;
}

}  // namespace krait::sim
