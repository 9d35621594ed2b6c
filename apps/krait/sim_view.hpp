#pragma once

// What `krait sim` found, as text and JSON.

#include <map>
#include <optional>
#include <string>

#include "apps/krait/command.hpp"
#include "apps/krait/json.hpp"
#include "krait/base/params.hpp"
#include "krait/ir/program.hpp"
#include "krait/machine/spec.hpp"
#include "krait/sim/run.hpp"

namespace krait::app {

/// How the outputs compare with the float64 reference.
struct Accuracy {
  double max_rel_error = 0;  // max over outputs of max|got - ref| / max|ref|
  double limit = 0;          // what it may be for this kernel's arithmetic
  std::string wrong;         // why the result cannot be used; empty if it can
};

struct SimOutcome {
  std::string kernel;
  const MachineSpec& machine;
  Params params;
  sim::Result result;
  std::optional<Accuracy> accuracy;  // nothing without data
};

inline constexpr const char* kBandNote = "unknown (no fidelity table yet; 5 % provisional)";

/// Equal outcomes give equal bytes; no wall time, no job.
[[nodiscard]] Json sim_json(const SimOutcome& outcome);
[[nodiscard]] std::string sim_text(const SimOutcome& outcome);

/// "path       VectorE ...": a label, and text that wraps behind it.
[[nodiscard]] std::string labelled(std::string_view label, std::string_view text);
/// Busy time, share and work of each engine.
[[nodiscard]] std::string busy_text(const sim::Result& result);
/// The program instead of a run of it.
[[nodiscard]] Reply program_reply(const ir::Program& program, const Context& context);

}  // namespace krait::app
