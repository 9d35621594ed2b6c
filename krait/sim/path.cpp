#include "krait/sim/path.hpp"

#include <algorithm>
#include <array>

#include "krait/isa/tile.hpp"

namespace krait::sim {
namespace {

struct Charges {
  std::array<std::int64_t, kCauseCount> ps{};
  void add(std::size_t cause, Ps from, Ps to) {
    if (to > from) ps[cause] += (to - from).value;
  }
};

// The stretch of a node that the path runs through, up to `end`: its done, its free, a read's end.
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
    // TensorE loads its weights between ready and start; others wait for a port.
    const bool weights = node->cause == static_cast<std::uint8_t>(isa::Engine::kTensor);
    const std::size_t held_up_by = weights ? std::size_t{node->cause} : std::size_t{kPortWait};
    sum.add(held_up_by, node->ready, node->start);
    if (node->before < 0) {
      sum.add(kTableLoad, Ps{}, node->ready);  // nothing else holds up what waits for nothing
      break;
    }
    const PathNode& before = nodes_[static_cast<std::size_t>(node->before)];
    const bool order = node->edge == Edge::kEngineOrder;
    const bool read = node->edge == Edge::kWriteAfterRead && !before.dma;
    end = min(order || read ? before.free : before.done, node->ready);
    sum.add(node->table_load ? kTableLoad : kSemaphore, end, node->ready);
    node = &before;
  }
  for (std::size_t c = 0; c < kCauseCount; ++c)
    if (sum.ps[c] != 0) out[std::string(kCauses[c])] = Ps{sum.ps[c]};
  return out;
}

}  // namespace krait::sim
