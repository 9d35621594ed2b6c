#pragma once

// Inputs and float64 references of the shapes that jobs share, made once; private to the executor.

#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "krait/ops/operator.hpp"
#include "krait/study/job.hpp"
#include "krait/study/result.hpp"

namespace krait::study {

/// A call with its reference and counts.
struct SolvedCall {
  const ops::Operator* op = nullptr;
  ops::Call call;
  TensorMap expected;  // F64
  WorkCounts counts;
};

class Problems {
 public:
  /// Makes it, or waits for the thread that is making it. Jobs of one shape follow each other, so
  /// the last few are enough. @throws UserError for unknown operators or parameters
  [[nodiscard]] std::shared_ptr<const SolvedCall> get(const JobSpec& spec);

 private:
  using Future = std::shared_future<std::shared_ptr<const SolvedCall>>;
  std::mutex mutex_;
  std::deque<std::pair<std::string, Future>> recent_;
};

/// Sets max_rel_error, within_tolerance and ulp of a result from its outputs.
/// @throws InternalError if an output is missing, has another shape or holds a NaN
void judge_outputs(JobResult& result, const JobSpec& spec, const SolvedCall& solved,
                   const TensorMap& outputs);

}  // namespace krait::study
