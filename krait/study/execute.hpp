#pragma once

// The executor of the studies: predictions by the simulator, measurements on this CPU.

#include <memory>
#include <span>
#include <vector>

#include "krait/study/runner.hpp"

namespace krait::study {

struct MeasureOptions {
  double seconds = 2;           // least time spent on the timed runs of a cell
  std::size_t repetitions = 9;  // least number of samples a variant
  std::size_t threads = 0;      // 0: one per CPU
};

/// Both halves together; keeps the inputs and references of the last few shapes.
[[nodiscard]] Executor make_executor(const MeasureOptions& options = {});

class Problems;
/// Builds the kernel for the job's shape, simulates it with data and compares with the float64
/// reference. @throws UserError if the kernel refuses the shape; other errors are broken rules
[[nodiscard]] JobResult predict(const JobSpec& spec, Problems& problems);
/// Checks every variant against the float64 reference, then times them in turns: medians of warm
/// runs (inputs and outputs are in whatever caches they fit) with all samples kept; then checks
/// again.
[[nodiscard]] std::vector<JobResult> measure(std::span<const JobSpec> cell, Problems& problems,
                                             const MeasureOptions& options);

}  // namespace krait::study
