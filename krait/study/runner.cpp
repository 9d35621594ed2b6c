#include "krait/study/runner.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <set>

#include "krait/base/error.hpp"
#include "krait/base/pool.hpp"
#include "krait/base/text.hpp"

namespace krait::study {
namespace {

JobResult failed(Outcome outcome, std::string reason) {
  JobResult result;
  result.outcome = outcome;
  result.reason = std::move(reason);
  return result;
}

/// Turns the exception in flight into a result.
JobResult failed_now() {
  try {
    throw;
  } catch (const UserError& e) {
    return failed(Outcome::kRefused, e.what());
  } catch (const std::bad_alloc&) {
    return failed(Outcome::kBroken, "not enough memory");
  } catch (const std::exception& e) {
    return failed(Outcome::kBroken, e.what());
  }
}

bool same_cell(const JobSpec& a, const JobSpec& b) {
  return a.op == b.op && a.context == b.context && a.machine == b.machine && a.shape == b.shape &&
         a.seed == b.seed;
}

bool is_open(const JobRow& row) {
  if (row.status != JobStatus::kFailed) return row.status == JobStatus::kPending;
  return row.result().outcome == Outcome::kBroken;  // perhaps memory was short: try again
}

/// The unfinished jobs of a plan, in the plan's order.
std::vector<JobRow> open_jobs(Database& database, std::int64_t campaign,
                              std::span<const JobSpec> plan) {
  std::set<std::string> wanted;
  for (const JobSpec& spec : plan) wanted.insert(job_key(spec));
  std::vector<JobRow> rows = database.jobs(campaign);
  std::erase_if(rows,
                [&](const JobRow& row) { return !wanted.contains(row.key) || !is_open(row); });
  return rows;
}

class Run {
 public:
  Run(Database& database, const Executor& executor, const RunOptions& options, std::size_t total)
      : database_(database), executor_(executor), options_(options), total_(total) {}

  void measure(std::span<const JobRow> rows) {
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      while (end < rows.size() && same_cell(rows[begin].spec, rows[end].spec)) ++end;
      measure_cell(rows.subspan(begin, end - begin));
    }
  }

  void predict(std::span<const JobRow> rows) {
    if (rows.empty()) return;
    ThreadPool pool(options_.threads);
    pool.run(rows.size(), [&](std::size_t i, std::size_t) {
      const JobResult result = run_predicted(rows[i].spec, executor_);
      const Database::Finished finished{rows[i].id, result};
      const std::lock_guard lock(mutex_);
      database_.finish({&finished, 1});
      report(rows[i], 1);
    });
  }

 private:
  void measure_cell(std::span<const JobRow> rows) {
    std::vector<JobSpec> specs;
    for (const JobRow& row : rows) specs.push_back(row.spec);
    const std::vector<JobResult> results = run_measured(specs, executor_);
    std::vector<Database::Finished> finished;
    for (std::size_t i = 0; i < rows.size(); ++i) finished.push_back({rows[i].id, results[i]});
    database_.finish(finished);
    report(rows.front(), rows.size());
  }
  void report(const JobRow& row, std::size_t jobs) {
    done_ += jobs;
    if (!options_.progress) return;
    options_.progress(done_, total_,
                      cat(row.spec.machine, ' ', label(row.spec.op, row.spec.shape)));
  }

  Database& database_;
  const Executor& executor_;
  const RunOptions& options_;
  std::size_t total_, done_ = 0;
  std::mutex mutex_;
};

std::int64_t open_campaign(Database& database, const Campaign& campaign,
                           std::span<const JobSpec> plan, bool resume) {
  if (resume) {
    if (const auto old = database.latest_study(campaign)) {
      database.extend(old->id, plan);
      return old->id;
    }
  }
  return database.begin(campaign, plan);
}

}  // namespace

JobResult run_predicted(const JobSpec& spec, const Executor& executor) {
  try {
    return executor.predict(spec);
  } catch (...) {
    return failed_now();
  }
}

std::vector<JobResult> run_measured(std::span<const JobSpec> cell, const Executor& executor) {
  try {
    std::vector<JobResult> results = executor.measure(cell);
    KRAIT_ASSERT(results.size() == cell.size());
    return results;
  } catch (...) {
    return std::vector<JobResult>(cell.size(), failed_now());
  }
}

std::int64_t run_study(Database& database, const Campaign& campaign, std::span<const JobSpec> plan,
                       const Executor& executor, const RunOptions& options) {
  const std::int64_t id = open_campaign(database, campaign, plan, options.resume);
  const std::vector<JobRow> open = open_jobs(database, id, plan);
  std::vector<JobRow> measured, predicted;
  for (const JobRow& row : open)
    (row.spec.kind == JobKind::kMeasure ? measured : predicted).push_back(row);
  Run run(database, executor, options, open.size());
  run.measure(measured);
  run.predict(predicted);
  return id;
}

}  // namespace krait::study
