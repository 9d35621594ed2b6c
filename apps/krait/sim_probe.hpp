#pragma once

// krait sim stream, krait sim dma: what one instruction or transfer takes on a machine.

#include <optional>
#include <string>

#include "apps/krait/command.hpp"
#include "krait/kernels/probes/probe.hpp"

namespace krait::app {

struct ProbeRequest {
  const kernels::Probe& probe;
  const MachineSpec& machine;
  Params params;
  std::optional<std::string> trace;  // file for a trace of the long run
  bool print = false;                // the program of the long run, not a run of it
};

[[nodiscard]] Reply simulate_probe(const ProbeRequest& request, const Context& context);

}  // namespace krait::app
