#include "krait/study/problems.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <exception>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::study {
namespace {

constexpr std::size_t kKept = 3;

std::string problem_key(const JobSpec& spec) {
  return cat(label(spec.op, spec.shape), " seed=", spec.seed);
}

std::shared_ptr<const SolvedCall> solve(const JobSpec& spec) {
  auto out = std::make_shared<SolvedCall>();
  out->op = &ops::find_operator(spec.op);
  Params params(out->op->params);
  for (const auto& [name, value] : spec.shape) params.set(name, value);
  params.set("seed", std::to_string(spec.seed));
  out->call = out->op->make_call(params);
  out->expected = out->op->reference(out->call);
  const ops::Counts counts = out->op->counts(ops::problem_of(out->call));
  out->counts = {counts.flops, counts.exps, counts.min_bytes};
  return out;
}

/// Position of a float on the line of all floats, so that neighbours differ by 1 and +0 equals -0.
std::int64_t ordinal(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits >= 0 ? bits : -static_cast<std::int64_t>(bits & 0x7FFFFFFF);
}

void count_ulps(UlpCount& count, std::span<const float> got, std::span<const double> expected) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::int64_t distance =
        std::abs(ordinal(got[i]) - ordinal(static_cast<float>(expected[i])));
    ++count.elements;
    count.mismatches += distance != 0;
    count.max_ulp = std::max(count.max_ulp, distance);
  }
}

ops::Tolerance tolerance_of(const JobSpec& spec, const SolvedCall& solved) {
  if (spec.kind != JobKind::kPredict) return solved.op->f32_tolerance;
  return ops::device_tolerance(*solved.op, ops::problem_of(solved.call));
}

}  // namespace

std::shared_ptr<const SolvedCall> Problems::get(const JobSpec& spec) {
  const std::string key = problem_key(spec);
  std::promise<std::shared_ptr<const SolvedCall>> promise;
  Future future;
  bool mine = false;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, value] : recent_)
      if (known == key) future = value;
    if (!future.valid()) {
      mine = true;
      future = promise.get_future().share();
      recent_.emplace_back(key, future);
      if (recent_.size() > kKept) recent_.pop_front();
    }
  }
  if (mine) {
    try {
      promise.set_value(solve(spec));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return future.get();
}

void judge_outputs(JobResult& result, const JobSpec& spec, const SolvedCall& solved,
                   const TensorMap& outputs) {
  const ops::Tolerance tolerance = tolerance_of(spec, solved);
  double worst = 0;
  bool within = true;
  UlpCount ulp;
  for (const ops::Difference& d : ops::compare(outputs, solved.expected)) {
    if (!std::isfinite(d.max_abs))
      throw InternalError(
          Report{cat("output ", d.tensor, " is missing, has another shape or holds a NaN"),
                 variant_label(spec),
                 {},
                 {}});
    worst = std::max(worst, d.relative());
    within = within && d.within(tolerance);
    const Tensor& got = outputs.at(d.tensor);
    if (got.dtype() == DType::kF32)
      count_ulps(ulp, got.values<float>(), solved.expected.at(d.tensor).values<double>());
  }
  result.max_rel_error = worst;
  result.within_tolerance = within;
  if (ulp.elements > 0) result.ulp = ulp;
  result.counts = solved.counts;
}

}  // namespace krait::study
