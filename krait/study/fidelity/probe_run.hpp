#pragma once

// A probe on a machine: what one instruction or transfer takes, read as published measurements are.

#include <string_view>
#include <vector>

#include "krait/isa/timing.hpp"
#include "krait/kernels/probes/probe.hpp"
#include "krait/machine/values.hpp"
#include "krait/sim/run.hpp"

namespace krait::study {

enum class Reading {
  kSlope,      // time of one in a long run: (time(repeat) - time(short)) / (repeat - short)
  kTotal,      // time of the whole long run
  kDuration,   // one alone, from its start to its result being visible: occupancy + latency
  kOccupancy,  // of its engine; a transfer: of the sequencer that triggers it
};
[[nodiscard]] std::string_view name(Reading reading);  // "slope", ..
[[nodiscard]] std::span<const Reading> readings();

class ProbeRun {
 public:
  /// @throws UserError where a rule refuses the program, or repeat is not larger than short
  ProbeRun(const kernels::Probe& probe, const MachineSpec& machine, const Params& params);

  [[nodiscard]] const ir::Program& program() const { return longer_; }
  [[nodiscard]] isa::Engine engine() const;
  [[nodiscard]] isa::Timing timing() const { return timing(machine_); }
  /// Bytes that one repetition moves by DMA; 0 if it is no transfer.
  [[nodiscard]] std::int64_t bytes() const;

  /// Nanoseconds. @param parts  duration: the result of one of so many equal parts, e.g. of the two
  /// MMs of an f32 product
  [[nodiscard]] double read(Reading reading, int parts = 1) const {
    return read(machine_, reading, parts);
  }
  /// Every value of the machine table that moves this reading if it is changed; asked of a shorter
  /// series where the long run is very long.
  [[nodiscard]] std::vector<ValueRow> values_behind(Reading reading) const;

 private:
  [[nodiscard]] isa::Timing timing(const MachineSpec& machine) const;
  [[nodiscard]] double read(const MachineSpec& machine, Reading reading, int parts) const;
  [[nodiscard]] static Ps time(const ir::Program& program, const MachineSpec& machine);
  [[nodiscard]] double alone_ns(const MachineSpec& machine) const;

  const kernels::Probe& probe_;
  const MachineSpec& machine_;
  Params params_;
  std::int64_t repeat_, short_;
  ir::Program longer_, shorter_, single_;
};

}  // namespace krait::study
