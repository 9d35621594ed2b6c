#pragma once

// Traces in the Trace Event format that Perfetto and chrome://tracing open: one track an engine and
// DMA ring (more where transfers overlap), one complete event ("ph":"X") an instruction. Times are
// microseconds with picosecond digits.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krait/base/units.hpp"

namespace krait::sim {

struct TraceEvent {
  std::string_view name;   // instruction
  std::string_view track;  // "VectorE", "DMA ring sync", ...
  Ps start;
  Ps duration;             // of occupancy
  Ps visible;              // result visible
  std::string where;       // source location
  std::int64_t index = 0;  // position in program order
};

/// Where events go; a trace is data, rendering it is a separate step.
class TraceSink {
 public:
  void add(TraceEvent event) { events_.push_back(std::move(event)); }
  [[nodiscard]] const std::vector<TraceEvent>& events() const { return events_; }

 private:
  std::vector<TraceEvent> events_;
};

/// The whole JSON document. Equal events give equal bytes.
[[nodiscard]] std::string trace_json(const TraceSink& trace, std::string_view process_name);

}  // namespace krait::sim
