#pragma once

// What `krait sim` found, as text and JSON.

#include <optional>
#include <string>

#include "krait/base/params.hpp"
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

/// Equal outcomes give equal bytes; no wall time, no job.
[[nodiscard]] std::string sim_json(const SimOutcome& outcome);
[[nodiscard]] std::string sim_text(const SimOutcome& outcome);

}  // namespace krait::app
