#include "krait/study/fidelity/probe_run.hpp"

#include <algorithm>
#include <array>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/cost.hpp"

namespace krait::study {
namespace {

constexpr std::array kReadings{Reading::kSlope, Reading::kTotal, Reading::kDuration,
                               Reading::kOccupancy};

bool is_transfer(const isa::Timing& timing) {
  return timing.dma.partitions != 0;
}

}  // namespace

std::string_view name(Reading reading) {
  constexpr std::array<std::string_view, 4> kNames{"slope", "total", "duration", "occupancy"};
  return kNames[static_cast<std::size_t>(reading)];
}

std::span<const Reading> readings() {
  return kReadings;
}

ProbeRun::ProbeRun(const kernels::Probe& probe, const MachineSpec& machine, const Params& params)
    : probe_(probe),
      machine_(machine),
      params_(params),
      repeat_(params.integer("repeat")),
      short_(params.integer("short")) {
  if (repeat_ <= short_)
    throw UserError(Report{"repeat must be larger than short", cat("krait sim ", probe.name),
                           cat("repeat=", repeat_, ", short=", short_),
                           "the slope needs two lengths, e.g. repeat=272 short=16"});
  longer_ = probe.build(machine, params, repeat_);
  shorter_ = probe.build(machine, params, short_);
  single_ = probe.build(machine, params, 1);
}

isa::Engine ProbeRun::engine() const {
  const ir::Insn& insn = kernels::repeated_insn(single_);
  return insn.def->engine(insn.self());
}

isa::Timing ProbeRun::timing(const MachineSpec& machine) const {
  const ir::Insn& insn = kernels::repeated_insn(single_);
  return insn.def->time(insn.self(), machine);
}

std::int64_t ProbeRun::bytes() const {
  const isa::DmaWork work = timing().dma;
  return work.partitions * work.runs * work.run_bytes;
}

Ps ProbeRun::time(const ir::Program& program, const MachineSpec& machine) {
  return sim::run(program, machine, {}, {.data = false, .evidence = false}).time;
}

// The last event of a run of one: what comes before it only fills its sources.
double ProbeRun::alone_ns(const MachineSpec& machine) const {
  sim::TraceSink trace;
  (void)sim::run(single_, machine, {}, {.data = false, .evidence = false, .trace = &trace});
  const sim::TraceEvent& event = trace.events().back();
  return (event.visible - event.start).ns();
}

double ProbeRun::read(const MachineSpec& machine, Reading reading, int parts) const {
  const isa::Timing t = timing(machine);
  const Clock& clock = isa::clock_of(machine, engine());
  switch (reading) {
    case Reading::kSlope:
      return (time(longer_, machine) - time(shorter_, machine)).ns() /
             static_cast<double>(repeat_ - short_);
    case Reading::kTotal:
      return time(longer_, machine).ns();
    case Reading::kDuration:  // of an engine at full clock: a power ramp is not the instruction's
      if (is_transfer(t)) return alone_ns(machine);
      return (clock.to_ps(t.occupancy * (1.0 / parts)) + clock.to_ps(t.latency)).ns();
    case Reading::kOccupancy:
      return is_transfer(t) ? t.issue.ns() : clock.to_ps(t.occupancy).ns();
  }
  KRAIT_ASSERT(false);
}

std::vector<ValueRow> ProbeRun::values_behind(Reading reading) const {
  constexpr std::int64_t kEnough = 512;  // a run for every value of the table, so not too long
  if (repeat_ > kEnough) {
    Params fewer = params_;
    fewer.set("repeat", cat(kEnough));
    fewer.set("short", cat(std::min(short_, kEnough / 2)));
    return ProbeRun(probe_, machine_, fewer).values_behind(reading);
  }
  const double base = read(reading);
  std::vector<ValueRow> out, rows = list_values(machine_);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (read(with_another_value(machine_, i), reading, 1) != base)
      out.push_back(std::move(rows[i]));
  return out;
}

}  // namespace krait::study
