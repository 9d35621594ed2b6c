#pragma once

// What an instruction asks of the machine in time. Instructions fill it from a machine table; only
// the simulator turns it into start and end times.

#include <cstdint>

#include "krait/base/units.hpp"
#include "krait/machine/spec.hpp"
#include "krait/numerics/rowmath.hpp"

namespace krait::isa {

/// The descriptors of one DMA: `partitions` rows on the side that decides the split over engines,
/// each `runs` pieces of `run_bytes` contiguous bytes.
struct DmaWork {
  std::int64_t partitions = 0;  // 0: not a DMA
  std::int64_t first_partition = 0;
  std::int64_t runs = 0;
  std::int64_t run_bytes = 0;
  std::int64_t hbm_read_bytes = 0;
  std::int64_t hbm_write_bytes = 0;
  bool spread_evenly = false;  // HBM to HBM: rows are dealt to all engines
  bool operator==(const DmaWork&) const = default;
};

struct Timing {
  Cycles occupancy;           // of the engine, until its next instruction may start
  Cycles latency;             // beyond occupancy, until the result is visible
  Cycles load_stationary;     // TensorE: hidden behind the previous product when possible
  bool fast_mode = false;     // VectorE 2x or 4x: borrows GpSimdE's bus on v3 and later
  std::int64_t elements = 0;  // VectorE, ScalarE, GpSimdE: elements processed
  std::int64_t macs = 0;      // TensorE
  bool needs_table = false;   // ScalarE: `table` must be loaded
  UnaryFn table = UnaryFn::kCopy;
  DmaWork dma;
  Ps issue;  // DMA: time of the triggering sequencer
  bool operator==(const Timing&) const = default;
};

}  // namespace krait::isa
