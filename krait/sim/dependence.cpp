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

}  // namespace

// When a waiting instruction of another queue may start.
Ps DependenceMap::seen(const Mark& mark) const {
  return mark.queue >= kFirstRing ? mark.time : mark.time + cross_queue_;
}

const Mark& DependenceMap::later(const Mark& a, const Mark& b) const {
  if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
  return seen(a) > seen(b) ? a : b;
}

void DependenceMap::note_reader(ByteHistory& h, const Mark& mark) const {
  if (h.reader.index < 0 || h.reader.queue == mark.queue) {
    const bool in_order = mark.in_order && (h.reader.index < 0 || h.reader.in_order);
    h.reader = later(h.reader, mark);
    h.reader.in_order = in_order;
  } else if (seen(mark) >= seen(h.reader)) {
    h.other_reader = h.reader;
    h.reader = mark;
  } else {
    h.other_reader = later(h.other_reader, mark);
  }
}

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
      for (std::int64_t b = begin / kBlock; b <= (end - 1) / kBlock; ++b) {
        const std::int64_t at = b * kBlock;
        const Bytes part{static_cast<std::int16_t>(std::max(begin - at, std::int64_t{0})),
                         static_cast<std::int16_t>(std::min(end - at, kBlock))};
        fn(buffer.blocks[static_cast<std::size_t>(b)], part);
      }
    });
  }
}

template <class Fn>
void DependenceMap::visit(const Tile& t, Fn fn) {
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
  // A later write of the same queue comes behind: an engine works in order, and so does the DMA
  // engine that a partition belongs to. Rows in HBM belong to no DMA engine (DMAO).
  const bool ordered = !tile.in_hbm();
  const auto wait = [&](const Mark& mark, bool from_read) {
    if (mark.index < 0) return;
    if (mark.queue == queue && write && ordered && mark.in_order) return;
    const Ps ready = mark.queue == queue ? mark.time : seen(mark);
    if (c.index < 0 || ready > c.ready) c = {ready, mark.index, from_read};
  };
  const auto after_writer = [&](const ByteHistory& h) {
    wait(h.writer, false);
    if (!write && h.writer.index >= 0) depth = std::max(depth, h.writer.depth);
  };
  const auto after_readers = [&](const ByteHistory& h) {
    if (!write) return;
    wait(h.reader, true);
    wait(h.other_reader, true);
  };
  if (tile.in_hbm())
    return visit_hbm(tile, [&](const HbmBlock& block, const Bytes& bytes) {
      if (block.written.meets(bytes)) after_writer(block.history);
      if (block.read.meets(bytes)) after_readers(block.history);
    });
  visit(tile, [&](const ByteHistory& h) {
    after_writer(h);
    after_readers(h);
  });
}

// A block remembers one range: what it held before stays in it unless the new bytes cover that.
void DependenceMap::record_hbm(HbmBlock& block, const Bytes& bytes, bool write,
                               const Mark& mark) const {
  const auto widen = [&](Bytes& range, bool empty) {
    range =
        empty ? bytes : Bytes{std::min(range.begin, bytes.begin), std::max(range.end, bytes.end)};
  };
  ByteHistory& h = block.history;
  if (!write) {
    widen(block.read, h.reader.index < 0);
    return note_reader(h, mark);
  }
  if (h.writer.index < 0 || bytes.covers(block.written)) {
    block.written = bytes;
    h.writer = mark;
  } else {
    const std::int32_t depth = std::max(h.writer.depth, mark.depth);
    widen(block.written, false);
    h.writer = later(h.writer, mark);
    h.writer.depth = depth;
  }
  if (bytes.covers(block.read)) h.reader = h.other_reader = Mark{}, block.read = {};
}

void DependenceMap::record(const Tile& tile, bool write, const Mark& mark) {
  if (tile.in_hbm())
    return visit_hbm(
        tile, [&](HbmBlock& block, const Bytes& bytes) { record_hbm(block, bytes, write, mark); });
  visit(tile, [&](ByteHistory& h) {
    if (!write) return note_reader(h, mark);
    h.writer = mark;
    h.reader = h.other_reader = Mark{};
  });
}

}  // namespace krait::sim
