#pragma once

// For tests: runs a check once on every instruction set this CPU has.

#include <gtest/gtest.h>

#include <string>

#include "krait/numerics/cpu_target.hpp"

namespace krait {

/// Calls check() with each available target forced, best first, and proves that it was running.
template <class Check>
void for_each_target(Check check) {
  for (const std::string& name : available_cpu_targets()) {
    SCOPED_TRACE("target " + name);
    const ScopedCpuTarget forced(name);
    ASSERT_EQ(chosen_cpu_target(), name);
    check();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace krait
