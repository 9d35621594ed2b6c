#include <algorithm>
#include <chrono>

#include "krait/base/error.hpp"
#include "krait/base/pool.hpp"
#include "krait/base/text.hpp"
#include "krait/cpu/limits.hpp"
#include "krait/numerics/cpu_target.hpp"
#include "krait/study/execute.hpp"
#include "krait/study/map.hpp"
#include "krait/study/problems.hpp"

namespace krait::study {
namespace {

using Clock = std::chrono::steady_clock;
using Prepared = ops::Operator::Prepared;

// A sample lasts at least this long, so that reading the clock (tens of ns) and one wake-up of a
// worker (some us) stay small in it.
constexpr double kSampleNs = 200e3;
constexpr std::size_t kMostSamples = 101;

ops::CpuForm form_of(const std::string& variant) {
  if (variant == "naive") return ops::CpuForm::kNaive;
  if (variant == "compiler") return ops::CpuForm::kCompiler;
  if (variant == "custom") return ops::CpuForm::kCustom;
  throw UserError(
      Report{"no CPU form is called '" + variant + "'", {}, {}, "one of naive, compiler, custom"});
}

double run_ns(Prepared& form, std::size_t times) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < times; ++i) form.run();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
         static_cast<double>(times);
}

struct Timed {
  std::unique_ptr<Prepared> form;
  std::size_t times = 1;  // runs a sample
  std::vector<double> samples{};
};

/// Runs once to touch all memory, checks the result, and finds how many runs make a sample.
Timed start(const JobSpec& spec, const SolvedCall& solved, ThreadPool& pool, JobResult& result) {
  Timed timed{.form = solved.op->prepare(solved.call, form_of(spec.variant), pool)};
  timed.form->run();
  judge_outputs(result, spec, solved, timed.form->outputs());
  const double ns = std::max(1.0, run_ns(*timed.form, 1));
  timed.times = static_cast<std::size_t>(std::max(1.0, kSampleNs / ns));
  return timed;
}

/// Takes samples of all forms in turns; the first of a round changes, so that none always follows
/// the same other one.
void sample(std::vector<Timed>& forms, const MeasureOptions& options) {
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  for (std::size_t round = 0; round < kMostSamples; ++round) {
    if (round >= options.repetitions && Clock::now() >= end) return;
    for (std::size_t i = 0; i < forms.size(); ++i) {
      Timed& timed = forms[(round + i) % forms.size()];
      timed.samples.push_back(run_ns(*timed.form, timed.times));
    }
  }
}

HostLimits limits_of(ThreadPool& pool, double set_bytes) {
  const MachineLimits limits = measure_machine_limits(pool);
  return {.gflops = limits.gflops,
          .gbps = limits.gbps_read,
          .set_gbps = measure_read_rate(pool, {.read_bytes = static_cast<std::size_t>(set_bytes)}),
          .exp_per_s = limits.exp_per_s};
}

HostLimits best_of(const HostLimits& a, const HostLimits& b) {
  return {.gflops = std::max(a.gflops, b.gflops),
          .gbps = std::max(a.gbps, b.gbps),
          .set_gbps = std::max(a.set_gbps, b.set_gbps),
          .exp_per_s = std::max(a.exp_per_s, b.exp_per_s)};
}

}  // namespace

std::vector<JobResult> measure(std::span<const JobSpec> cell, Problems& problems,
                               const MeasureOptions& options) {
  const auto solved = problems.get(cell.front());
  ThreadPool pool(options.threads);
  std::vector<JobResult> results(cell.size());
  std::vector<Timed> forms;
  for (std::size_t i = 0; i < cell.size(); ++i)
    forms.push_back(start(cell[i], *solved, pool, results[i]));
  // Before and after: a neighbour on this machine may disturb one of the two.
  const HostLimits before = limits_of(pool, solved->counts.min_bytes);
  sample(forms, options);
  const HostLimits limits = best_of(before, limits_of(pool, solved->counts.min_bytes));
  for (std::size_t i = 0; i < cell.size(); ++i) {
    JobResult& result = results[i];
    judge_outputs(result, cell[i], *solved,
                  forms[i].form->outputs());  // what was timed is right too
    result.samples_ns = forms[i].samples;
    result.time_ns = median(forms[i].samples);
    result.ran_on = chosen_cpu_target();
    result.limits = limits;
  }
  return results;
}

Executor make_executor(const MeasureOptions& options) {
  auto problems = std::make_shared<Problems>();
  return {
      .predict = [problems](const JobSpec& spec) { return predict(spec, *problems); },
      .measure = [problems, options](
                     std::span<const JobSpec> cell) { return measure(cell, *problems, options); }};
}

}  // namespace krait::study
