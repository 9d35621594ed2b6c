#include "krait/sim/dependence.hpp"

#include <algorithm>

namespace krait::sim {
namespace {

using isa::Tile;

// Calls fn(first element, elements) for the contiguous runs of a free pattern, or once for its
// bounding box if there are more than `limit`.
template <class Fn>
void for_each_run(const Tile& t, std::int64_t limit, Fn fn) {
  const std::int64_t run = t.inner_run();
  const std::int64_t runs = t.free_size() / run;
  if (runs == 1) return fn(t.span_begin(), t.span_end() - t.span_begin());
  if (runs > limit) return fn(t.span_begin(), t.span_end() - t.span_begin());
  for (std::int64_t r = 0; r < runs; ++r) {
    std::int64_t rest = r * run, offset = 0;
    for (std::size_t d = t.rank; d-- > 0;) {
      offset += rest % t.dims[d].count * t.dims[d].step;
      rest /= t.dims[d].count;
    }
    fn(offset, run);
  }
}

unsigned quadrant_mask(const Tile& t) {
  unsigned mask = 0;
  for (int q = t.partition / 32; q <= (t.partition + t.partitions - 1) / 32; ++q) mask |= 1U << q;
  return mask;
}

void note_reader(ByteHistory& h, const Mark& mark) {
  if (h.reader.index < 0 || h.reader.queue == mark.queue) {
    if (h.reader.time <= mark.time) h.reader = mark;
    return;
  }
  if (mark.time >= h.reader.time) {
    h.other_reader = h.reader;
    h.reader = mark;
  } else if (h.other_reader.index < 0 || mark.time >= h.other_reader.time) {
    h.other_reader = mark;
  }
}

}  // namespace

void DependenceMap::add_hbm_buffer(std::int64_t bytes, bool tracked) {
  HbmBuffer buffer;
  buffer.tracked = tracked;
  buffer.bytes = bytes;
  hbm_.push_back(std::move(buffer));
}

template <class Fn>
void DependenceMap::visit_range(Axis& axis, std::int64_t begin, std::int64_t end,
                                unsigned quadrants, Fn fn) {
  auto& s = axis.segments;
  auto at =
      std::partition_point(s.begin(), s.end(), [&](const Segment& x) { return x.end <= begin; });
  while (begin < end) {
    if (at == s.end() || at->begin >= end) {  // nothing known up to the end
      at = s.insert(at, Segment{begin, end, {}});
    } else if (at->begin > begin) {  // a gap before the next known segment
      at = s.insert(at, Segment{begin, at->begin, {}});
    } else if (at->begin < begin) {  // cut off what lies before
      Segment head = *at;
      head.end = begin;
      at->begin = begin;
      at = s.insert(at, head) + 1;
    }
    if (at->end > end) {  // cut off what lies behind
      Segment head = *at;
      head.end = end;
      at->begin = end;
      at = s.insert(at, head);
    }
    for (unsigned q = 0; q < kQuadrants; ++q)
      if ((quadrants >> q & 1U) != 0) fn(at->quadrants[q]);
    begin = at->end;
    ++at;
  }
}

template <class Fn>
void DependenceMap::visit_hbm(const Tile& t, Fn fn) {
  HbmBuffer& buffer = hbm_[t.buffer];
  if (!buffer.tracked) return;
  if (buffer.blocks.empty())
    buffer.blocks.resize(static_cast<std::size_t>((buffer.bytes + kBlock - 1) / kBlock));
  const std::int64_t bytes = t.element_bytes();
  for (int p = 0; p < t.partitions; ++p) {
    const std::int64_t row = t.offset + p * t.partition_step * bytes;
    for_each_run(t, 1024, [&](std::int64_t first, std::int64_t count) {
      const std::int64_t begin = row + first * bytes, end = begin + count * bytes;
      for (std::int64_t b = begin / kBlock; b <= (end - 1) / kBlock; ++b)
        fn(buffer.blocks[static_cast<std::size_t>(b)]);
    });
  }
}

template <class Fn>
void DependenceMap::visit(const Tile& t, Fn fn) {
  if (t.in_hbm()) return visit_hbm(t, fn);
  Axis& axis = t.in_psum() ? psum_ : sbuf_;
  const unsigned mask = quadrant_mask(t);
  const std::int64_t bytes = t.element_bytes();
  for_each_run(t, kMaxRuns, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t begin = t.offset + first * bytes;
    visit_range(axis, begin, begin + count * bytes, mask, fn);
  });
}

void DependenceMap::constrain(const Tile& tile, bool write, Queue queue, Constraint& c,
                              std::int32_t& depth) {
  const auto wait = [&](const Mark& mark, bool from_read) {
    if (mark.index < 0) return;
    // In-order queues: a write behind a write or read of the same queue needs no wait.
    if (mark.queue == queue && (write || from_read)) return;
    const bool told = mark.queue == queue || mark.queue >= kFirstRing;
    const Ps ready = told ? mark.time : mark.time + cross_queue_;
    if (c.index < 0 || ready > c.ready) c = {ready, mark.index, from_read};
  };
  visit(tile, [&](const ByteHistory& h) {
    wait(h.writer, false);
    if (!write && h.writer.index >= 0) depth = std::max(depth, h.writer.depth);
    if (!write) return;
    wait(h.reader, true);
    wait(h.other_reader, true);
  });
}

void DependenceMap::record(const Tile& tile, bool write, const Mark& mark) {
  visit(tile, [&](ByteHistory& h) {
    if (!write) return note_reader(h, mark);
    h.writer = mark;
    h.reader = h.other_reader = Mark{};
  });
}

}  // namespace krait::sim
