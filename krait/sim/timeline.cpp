#include "krait/sim/timeline.hpp"

#include <algorithm>
#include <cmath>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/cost.hpp"

namespace krait::sim {
namespace {

using isa::clock_of;
using isa::Engine;

std::size_t slot(Engine engine) {
  return static_cast<std::size_t>(engine);
}

// The ring a DMA is queued on is named by its trigger.
Queue queue_of(const Record& record) {
  const auto engine = static_cast<Queue>(record.engine);
  return record.timing->dma.partitions != 0 ? static_cast<Queue>(kFirstRing + engine) : engine;
}

unsigned psum_banks(const Record& record) {
  unsigned banks = 0;
  for (const Access& a : record.accesses) {
    if (!a.tile->in_psum()) continue;
    const isa::Tile& t = *a.tile;
    const std::int64_t first = t.offset + t.span_begin() * t.element_bytes();
    const std::int64_t last = t.offset + t.span_end() * t.element_bytes() - 1;
    for (std::int64_t b = first / isa::kPsumBankBytes; b <= last / isa::kPsumBankBytes; ++b)
      banks |= 1U << (b & 7);
  }
  return banks;
}

bool touches_sbuf(const Record& record) {
  return std::any_of(record.accesses.begin(), record.accesses.end(),
                     [](const Access& a) { return a.tile->in_sbuf(); });
}

void raise(Constraint& c, Ps ready, std::int32_t index, bool from_read) {
  if (ready > c.ready) c = {ready, index, from_read};
}

}  // namespace

Timeline::Timeline(const MachineSpec& machine)
    : m_(machine),
      dependences_(from_ns(machine.sync.cross_engine_ns)),
      dma_engines_(static_cast<std::size_t>(machine.dma.engines.value)) {
  last_.fill(-1);
  KRAIT_ASSERT(dma_engines_.size() <= ring_end_[0].size());
}

Timeline::Waits Timeline::gather(const Record& record, Queue queue) {
  Waits w;
  bool stationary = record.engine == Engine::kTensor && record.timing->dma.partitions == 0;
  for (const Access& a : record.accesses) {
    if (!a.write && stationary) {
      dependences_.constrain(*a.tile, false, queue, w.stationary, w.depth);
      stationary = false;
      continue;
    }
    dependences_.constrain(*a.tile, a.write, queue, w.all, w.depth);
  }
  wait_semaphores(record, queue, w.all);
  return w;
}

void Timeline::wait_semaphores(const Record& record, Queue queue, Constraint& c) const {
  for (const SemaphoreWait& wait : record.waits) {
    const auto found = signals_.find(wait.semaphore);
    const std::int64_t given =
        found == signals_.end() ? 0 : static_cast<std::int64_t>(found->second.size());
    if (wait.value > given)
      throw MachineFault(Report{
          "deadlock: an instruction waits for a signal that never comes",
          cat(isa::name(record.engine), ", instruction ", path_.size(), " (", record.name,
              "), time ", free_[slot(record.engine)].ns(), " ns"),
          cat("semaphore ", wait.semaphore, " has ", given, " signals, waits for ", wait.value),
          "signal the semaphore in an earlier instruction"});
    if (wait.value <= 0) continue;
    const Mark& mark = found->second[static_cast<std::size_t>(wait.value - 1)];
    const bool told = mark.queue == queue || mark.queue >= kFirstRing;
    raise(c, told ? mark.time : mark.time + from_ns(m_.sync.cross_engine_ns), mark.index, false);
  }
}

// The earliest start from engine order and constraints, and what the path says of it.
void Timeline::begin(PathNode& node, Engine engine, const Constraint& c, Ps& start) const {
  start = free_[slot(engine)];
  node.before = last_[slot(engine)];
  node.edge = node.before < 0 ? Edge::kNone : Edge::kEngineOrder;
  if (c.index >= 0 && c.ready > start) {
    start = c.ready;
    node.before = c.index;
    node.edge = c.from_read ? Edge::kWriteAfterRead : Edge::kDependence;
  }
}

Issued Timeline::issue(const Record& record) {
  const Queue queue = queue_of(record);
  const Waits waits = gather(record, queue);
  const auto index = static_cast<std::int32_t>(path_.size());
  PathNode node;
  node.cause = static_cast<std::uint8_t>(record.engine);
  const bool dma = record.timing->dma.partitions != 0;
  const Issued out = dma                                ? issue_dma(record, waits, node)
                     : record.engine == Engine::kTensor ? issue_tensor(record, waits, node)
                                                        : issue_engine(record, waits, node);
  node.start = out.start, node.free = out.free, node.done = out.done;
  path_.add(node);

  free_[slot(record.engine)] = out.free;
  last_[slot(record.engine)] = index;
  busy_[slot(record.engine)] += out.free - out.start;
  last_done_ = max(last_done_, out.done);
  const std::int32_t depth = waits.depth + 1;
  depth_ = std::max<std::int64_t>(depth_, depth);
  const bool within_chip = dma && std::none_of(record.accesses.begin(), record.accesses.end(),
                                               [](const Access& a) { return a.tile->in_hbm(); });
  const Mark read{dma ? out.done : out.free, index, depth, queue, !within_chip};
  const Mark written{out.done, index, depth, queue, true};
  for (const Access& a : record.accesses)
    if (!a.write) dependences_.record(*a.tile, false, read);
  for (const Access& a : record.accesses)
    if (a.write) dependences_.record(*a.tile, true, written);
  for (const std::uint32_t semaphore : record.signals) signals_[semaphore].push_back(written);
  return out;
}

Issued Timeline::issue_engine(const Record& record, const Waits& waits, PathNode& node) {
  const isa::Timing& t = *record.timing;
  const Clock& clock = clock_of(m_, record.engine);
  Ps start;
  begin(node, record.engine, waits.all, start);
  Ps occupancy = clock.to_ps(t.occupancy);
  if (record.engine == Engine::kScalar && t.needs_table && (!table_loaded_ || table_ != t.table)) {
    // The load needs no data: it runs while the instruction waits.
    const Ps loaded = free_[slot(Engine::kScalar)] + from_ns(m_.scalar_rates.table_load_ns);
    busy_[slot(Engine::kScalar)] += from_ns(m_.scalar_rates.table_load_ns);
    if (loaded > start) {
      start = loaded;
      node.before = last_[slot(Engine::kScalar)];
      node.edge = node.before < 0 ? Edge::kNone : Edge::kEngineOrder;
      node.table_load = true;
    }
    table_loaded_ = true;
    table_ = t.table;
  }
  node.ready = start;
  start = place_on_ports(record, start, occupancy);
  work_[slot(record.engine)] += t.elements;
  ++count_[slot(record.engine)];
  return {start, start + occupancy, start + occupancy + clock.to_ps(t.latency)};
}

// Port exclusions: the earliest time at which all ports the instruction needs are free together.
Ps Timeline::place_on_ports(const Record& record, Ps earliest, Ps& occupancy) {
  const auto& x = m_.exclusions;
  const bool vector = record.engine == Engine::kVector, scalar = record.engine == Engine::kScalar,
             gpsimd = record.engine == Engine::kGpSimd;
  const bool sbuf = (vector || gpsimd) && touches_sbuf(record);
  const unsigned banks = vector || scalar ? psum_banks(record) : 0;

  if (sbuf && x.fast_vector_shares_gpsimd_bus) {
    // Both run at a fraction of their speed while they overlap. The one placed later pays for the
    // time it overlaps; the earlier one has already been placed (a simplification).
    const bool fast = vector && record.timing->fast_mode;
    const Calendar& other = vector ? gpsimd_sbuf_ : fast_vector_;
    if (fast || gpsimd) {
      const Ps shared = other.overlap(earliest, occupancy);
      const double slow = 1.0 / x.shared_bus_fraction - 1.0;
      occupancy += Ps{std::llround(static_cast<double>(shared.value) * slow)};
    }
  }

  std::vector<Calendar*> ports;
  if (sbuf && x.vector_gpsimd_share_sbuf_port) ports.push_back(&sbuf_vector_gpsimd_);
  if (banks != 0 && x.vector_scalar_share_psum_port) ports.push_back(&psum_vector_scalar_);
  if (banks != 0 && x.vector_scalar_psum_bank_conflict)
    for (std::size_t b = 0; b < psum_bank_vector_scalar_.size(); ++b)
      if ((banks >> b & 1U) != 0) ports.push_back(&psum_bank_vector_scalar_[b]);
  Ps start = earliest;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Calendar* port : ports) {
      const Ps fit = port->fit(start, occupancy);
      moved = moved || fit != start;
      start = fit;
    }
  }
  for (Calendar* port : ports) port->book(start, occupancy);
  if (sbuf && vector && record.timing->fast_mode) fast_vector_.book(start, occupancy);
  if (sbuf && gpsimd) gpsimd_sbuf_.book(start, occupancy);
  return start;
}

Issued Timeline::issue_tensor(const Record& record, const Waits& waits, PathNode& node) {
  const isa::Timing& t = *record.timing;
  const Clock& clock = m_.tensor.clock.value;
  const Ps engine_free = free_[slot(Engine::kTensor)];
  // LoadStationary: the shadow weights are free once the previous product has started.
  const Ps shadow_free = m_.tensor.background_load ? last_product_start_ : engine_free;
  const Ps load_start = max(shadow_free, waits.stationary.ready);
  Ps load_done = load_start + clock.to_ps(t.load_stationary);
  if (engine_free <= load_start)
    load_done = max(load_done, load_start + from_ns(m_.tensor.first_matmul_ns));
  Constraint c = waits.all;
  raise(c, waits.stationary.ready, waits.stationary.index, waits.stationary.from_read);
  Ps start;
  begin(node, Engine::kTensor, c, start);
  node.ready = start;
  start = max(start, load_done);
  last_product_start_ = start;
  const Ps occupancy = ramped(start, clock.to_ps(t.occupancy));
  work_[slot(Engine::kTensor)] += t.macs;
  ++count_[slot(Engine::kTensor)];
  return {start, start + occupancy, start + occupancy + clock.to_ps(t.latency)};
}

// The power ramp: after a window of low utilisation the engine runs at a fraction of its speed,
// which grows linearly with the work done since.
Ps Timeline::ramped(Ps start, Ps nominal) {
  if (!m_.tensor.power_ramp) return nominal;
  const Ps window = from_ns(m_.tensor.ramp_window_ns), ramp = from_ns(m_.tensor.ramp_ns);
  const Ps window_start = start - window;
  Ps busy{};
  std::erase_if(recent_products_, [&](const auto& p) { return p.second <= window_start; });
  for (const auto& [from, to] : recent_products_) busy += to - max(from, window_start);
  const double rearm = m_.tensor.ramp_rearm_utilisation;
  // Only a whole window since the ramp began can begin another: idle time before it has had its
  // effect.
  if (recent_products_.empty() ||
      (start - ramp_began_ >= window &&
       static_cast<double>(busy.value) < rearm * static_cast<double>(window.value))) {
    warm_ = Ps{};
    ramp_began_ = start;
  }
  const double low = m_.tensor.ramp_start_fraction;
  const double done =
      std::min(1.0, static_cast<double>(warm_.value) / static_cast<double>(ramp.value));
  const double speed = low + (1 - low) * done;
  const Ps taken{std::llround(static_cast<double>(nominal.value) / speed)};
  warm_ += taken;
  if (!recent_products_.empty() && recent_products_.back().second == start)
    recent_products_.back().second = start + taken;
  else
    recent_products_.emplace_back(start, start + taken);
  return taken;
}

Issued Timeline::issue_dma(const Record& record, const Waits& waits, PathNode& node) {
  const isa::DmaWork& w = record.timing->dma;
  node.dma = true;
  Ps start;
  begin(node, record.engine, waits.all, start);
  node.ready = start;
  const Ps issue = record.timing->issue;
  const Ps first_byte = start + max(issue, from_ns(m_.dma.trigger_to_first_byte_ns));

  const double bytes =
      static_cast<double>(std::max<std::int64_t>(w.run_bytes, m_.dma.min_descriptor_bytes));
  const double descriptor_ns = m_.dma.descriptor_ns + bytes / m_.dma.bytes_per_ns;
  const auto engines = static_cast<std::int64_t>(dma_engines_.size());
  const std::int64_t per_engine = m_.dma.partitions_per_engine;
  auto& ring_end = ring_end_[slot(record.engine)];
  Ps end = first_byte;
  for (std::int64_t e = 0; e < engines; ++e) {
    std::int64_t rows = 0;
    if (w.spread_evenly) {
      rows = w.partitions * w.runs / engines + (e < w.partitions * w.runs % engines ? 1 : 0);
    } else {
      const std::int64_t low = std::max(w.first_partition, e * per_engine);
      const std::int64_t high = std::min(w.first_partition + w.partitions, (e + 1) * per_engine);
      rows = std::max<std::int64_t>(0, high - low) * w.runs;
    }
    if (rows == 0) continue;
    const auto at = static_cast<std::size_t>(e);
    const Ps service = from_ns(static_cast<double>(rows) * descriptor_ns);
    const Ps begin_at = dma_engines_[at].fit(max(first_byte, ring_end[at]), service);
    dma_engines_[at].book(begin_at, service);
    ring_end[at] = begin_at + service;
    end = max(end, ring_end[at]);
  }
  // One core may use its whole stack: reads and writes of HBM share its rate.
  const Ps hbm_time = from_ns(static_cast<double>(w.hbm_read_bytes + w.hbm_write_bytes) /
                              m_.chip.hbm_stack_bytes_per_ns);
  if (hbm_time > Ps{}) {
    const Ps hbm_start = hbm_.fit(first_byte, hbm_time);
    hbm_.book(hbm_start, hbm_time);
    end = max(end, hbm_start + hbm_time);
  }

  ++dma_count_;
  hbm_read_ += w.hbm_read_bytes;
  hbm_write_ += w.hbm_write_bytes;
  node.transfer_begin = first_byte;
  node.transfer_end = end;
  return {start, start + issue, end + from_ns(m_.dma.end_to_consumer_ns)};
}

Ps Timeline::dma_busy() const {
  std::int64_t sum = 0;
  for (const Calendar& c : dma_engines_) sum += c.busy().value;
  return Ps{sum / static_cast<std::int64_t>(dma_engines_.size())};
}

}  // namespace krait::sim
