#pragma once

// What the sweeps share: choices that a seed decides, and one device kernel against the operator's
// float64 reference.

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/base/text.hpp"
#include "krait/ir/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/ops/operator.hpp"
#include "krait/sim/run.hpp"

namespace krait::sweep {

// Instrumented builds are about fifteen times slower: they take every tenth case.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kShare = 10;
#else
inline constexpr int kShare = 1;
#endif

class Choice {
 public:
  explicit Choice(std::uint64_t seed) : rng_(seed, 0x5EE9) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(rng_.bits(next_++) % static_cast<std::uint64_t>(n));
  }
  bool coin() { return below(2) == 0; }
  template <class T>
  T of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<std::int64_t>(values.size())));
  }

 private:
  CounterRng rng_;
  std::uint64_t next_ = 0;
};

/// Builds the kernel for the call, asks the verifier and the text form, runs it with data.
inline sim::Result run_kernel(const kernels::Kernel& kernel, const MachineSpec& machine,
                              const ops::Call& call, const Params& params,
                              const sim::RunOptions& options = {}) {
  const ir::Program program = kernel.build(machine, ops::problem_of(call), params);
  EXPECT_TRUE(ir::verify(program, machine).empty());
  const std::string text = ir::print(program);
  EXPECT_TRUE(ir::print(ir::parse(text)) == text) << "prints differently after parsing";
  sim::Result result = sim::run(program, machine, call.inputs, options);
  for (const sim::Finding& f : result.findings) ADD_FAILURE() << f.kind << ": " << f.what;
  return result;
}

inline void expect_close(const TensorMap& got, const TensorMap& expected,
                         const ops::Tolerance& tolerance) {
  for (const ops::Difference& d : ops::compare(got, expected))
    EXPECT_TRUE(d.within(tolerance)) << d.tensor << ": " << d.max_abs << " of " << d.max_expected
                                     << ", allowed " << tolerance.rtol << " relative";
}

}  // namespace krait::sweep
