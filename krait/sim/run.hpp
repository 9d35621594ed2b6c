#pragma once

// Runs a Program: meaning (on memory), time, or both.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "krait/base/units.hpp"
#include "krait/ir/program.hpp"
#include "krait/numerics/convert.hpp"
#include "krait/sim/trace.hpp"
#include "krait/tensor/tensor.hpp"

namespace krait::sim {

struct RunOptions {
  bool data = true;  // compute values; otherwise time alone, from shapes
  bool timing = true;
  /// false: 16- and 8-bit floats keep f32 values, as in a simulator that does not round
  bool rounding = true;
  Rounding mode{};             // how stores round
  bool strict = false;         // findings become a MachineFault at the end of the run
  bool evidence = true;        // list the assumed values; false where only the time is asked for
  TraceSink* trace = nullptr;  // receives one event an instruction and DMA; nullptr: none
};

/// Something that the real toolchain would reject or that would differ on the chip.
struct Finding {
  std::string kind;  // stable name: "uninitialised-read", ...
  std::string what;
  std::string where;  // kernel and instruction
  std::string fix;
};

/// Counters of one run. Names, units and help of what reports show stand in counters() once.
struct Result {
  TensorMap outputs;                         // kOutput buffers by name; empty without data
  Ps time;                                   // first issue to last result
  std::map<std::string, Ps> busy;            // by engine name and "DMA" (mean of the DMA engines)
  std::map<std::string, std::int64_t> work;  // elements; TensorE: multiply-accumulates
  std::map<std::string, std::int64_t> instructions;  // by engine name and "DMA"
  std::int64_t hbm_read_bytes = 0;
  std::int64_t hbm_write_bytes = 0;
  std::int64_t sbuf_bytes = 0;  // high-water marks, per partition
  std::int64_t psum_bytes = 0;
  std::int64_t depth = 0;          // longest chain of dependent instructions
  std::string bound_by;            // "VectorE", "DMA transfer", "DMA latency", "latency", ...
  std::map<std::string, Ps> path;  // where the critical path spends `time`, by the same names
  std::vector<Finding> findings;
  std::vector<std::string> evidence;  // values the prediction rests on that no document gives
};

/// Runs a program on a machine. Without data, `inputs` may be empty.
/// @param inputs  every kInput buffer by name, dtype and shape as declared
/// @throws UserError   an input is missing or has another dtype or shape
/// @throws MachineFault  strict and there were findings; or a rule broke that no check could see
/// Deterministic: equal arguments give equal results and traces, byte for byte.
[[nodiscard]] Result run(const ir::Program& program, const MachineSpec& machine,
                         const TensorMap& inputs, const RunOptions& options = {});

}  // namespace krait::sim
