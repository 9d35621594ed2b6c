#include "krait/numerics/cpu_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "krait/base/error.hpp"
#include "krait/numerics/each_target.hpp"

namespace krait {
namespace {

using testing::HasSubstr;

TEST(CpuTarget, ScalarIsAlwaysThereAndLast) {
  const std::vector<std::string> names = available_cpu_targets();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back(), "scalar");
}

TEST(CpuTarget, EveryAvailableTargetCanBeForced) {
  int count = 0;
  for_each_target([&] { ++count; });
  EXPECT_EQ(count, static_cast<int>(available_cpu_targets().size()));
}

TEST(CpuTarget, ForcingNestsAndIsUndone) {
  const std::string before(chosen_cpu_target());
  {
    const ScopedCpuTarget best(available_cpu_targets().front());
    {
      const ScopedCpuTarget scalar("scalar");
      EXPECT_EQ(chosen_cpu_target(), "scalar");
    }
    EXPECT_EQ(chosen_cpu_target(), available_cpu_targets().front());
  }
  EXPECT_EQ(chosen_cpu_target(), before);
}

TEST(CpuTarget, UnknownNameIsAUserError) {
  try {
    const ScopedCpuTarget forced("avx1024");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.report().what, "unknown CPU target");
    EXPECT_EQ(error.report().got, "'avx1024'");
    EXPECT_THAT(error.report().fix, HasSubstr("scalar"));
  }
}

TEST(CpuTarget, AbsentTargetIsAUserErrorAndLeavesTheChoice) {
  const std::vector<std::string> have = available_cpu_targets();
  const std::string before(chosen_cpu_target());
  for (const char* name : {"avx512", "avx2", "sse4"}) {
    if (testing::Value(have, testing::Contains(name))) continue;
    EXPECT_THROW(ScopedCpuTarget{name}, UserError);
    EXPECT_EQ(chosen_cpu_target(), before);
  }
}

// The variable is read once a process, so each value needs a fresh one.
void exit_after_override(const char* value) {
  setenv("KRAIT_CPU", value, 1);
  try {
    apply_cpu_override();
  } catch (const UserError& error) {
    std::exit(error.report().where == "environment variable KRAIT_CPU" ? 3 : 4);
  }
  std::exit(chosen_cpu_target() == value ? 0 : 5);
}

TEST(CpuTargetDeathTest, EnvironmentChoosesTheTarget) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(exit_after_override("scalar"), testing::ExitedWithCode(0), "");
}

TEST(CpuTargetDeathTest, UnknownEnvironmentValueIsAUserError) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(exit_after_override("quantum"), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace krait
