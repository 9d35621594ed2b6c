#pragma once

// Runs the jobs of a plan and stores each result as it comes.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "krait/study/database.hpp"
#include "krait/study/job.hpp"
#include "krait/study/result.hpp"

namespace krait::study {

/// What executes jobs; execute.hpp has the real one. Both may throw: a UserError means that the
/// variant does not exist for this problem (kRefused), anything else that it is broken (kBroken).
struct Executor {
  /// One prediction; a pure function of the job. Called from several threads at once.
  std::function<JobResult(const JobSpec&)> predict;
  /// The variants of one cell, timed in turns; called while nothing else runs. One result a job.
  std::function<std::vector<JobResult>(std::span<const JobSpec>)> measure;
};

struct RunOptions {
  bool resume = false;      // continue the newest campaign of the same study, if there is one
  std::size_t threads = 0;  // predictions at a time; 0: one per CPU
  /// Called after each step, from any thread but one at a time, with what was done.
  std::function<void(std::size_t done, std::size_t total, const std::string& what)> progress{};
};

/// Runs the plan: measurements first and alone, then predictions in parallel. A job that was
/// finished before the process was killed is not run again; one that broke is.
/// @param campaign  preset, machines, version, commit, cpu, started; its id is ignored
/// @return the id of the campaign that holds the plan's jobs
[[nodiscard]] std::int64_t run_study(Database& database, const Campaign& campaign,
                                     std::span<const JobSpec> plan, const Executor& executor,
                                     const RunOptions& options = {});

/// One job through the executor, with exceptions turned into outcomes.
[[nodiscard]] JobResult run_predicted(const JobSpec& spec, const Executor& executor);
/// The same for the variants of one cell.
[[nodiscard]] std::vector<JobResult> run_measured(std::span<const JobSpec> cell,
                                                  const Executor& executor);

}  // namespace krait::study
