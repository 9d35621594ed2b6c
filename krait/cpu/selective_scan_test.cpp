// Are the three forms of the selective scan the function that ref/ defines, on every instruction
// set, for every shape, and independent of threads and of where a sequence is cut?

#include "krait/cpu/selective_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "krait/cpu/scan_problem_test.hpp"
#include "krait/numerics/cpu_target.hpp"

namespace krait {
namespace {

using test::random_problem;
using test::scan_forms;
using test::ScanForm;
using test::ScanProblem;
using test::ScanShape;

/// Calls body(target) once for each instruction set, forced.
template <class Body>
void on_each_target(const Body& body) {
  for (const std::string& name : available_cpu_targets()) {
    const ScopedCpuTarget forced(name);
    SCOPED_TRACE("target " + name);
    body(name);
  }
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void expect_matches_ref(const ScanShape& shape, std::uint64_t seed, ThreadPool& pool) {
  SCOPED_TRACE(shape.text());
  ScanProblem<float> p = random_problem(shape, seed);
  ScanProblem<double> want = p.as<double>();
  ref::selective_scan(want.args());
  const test::ScanBounds bounds = test::scan_bounds(want);
  for (const ScanForm& form : scan_forms()) {
    p.poison();
    form.run(p.args(), pool);
    EXPECT_EQ(test::first_outside(p.out, want.out, bounds.out), -1) << form.name << ": out";
    EXPECT_EQ(test::first_outside(p.last, want.last, bounds.last), -1) << form.name << ": state";
  }
}

TEST(SelectiveScan, AgreesWithRefWithinRoundingForOddShapes) {
  ThreadPool pool(2);
  on_each_target([&](const std::string&) {
    std::uint64_t seed = 0;
    for (const std::int64_t d_state : {1, 2, 3, 7, 8, 15, 16, 17, 31, 300})
      expect_matches_ref({.dim = 5, .d_state = d_state, .length = 11}, ++seed, pool);
    for (const std::int64_t dim : {1, 3, 4, 8, 15, 16, 17, 63, 64, 65, 131})
      expect_matches_ref({.batch = 2, .dim = dim, .d_state = 4, .length = 7}, ++seed, pool);
    for (const std::int64_t length : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 128, 129, 197})
      expect_matches_ref({.dim = 19, .d_state = 5, .length = length}, ++seed, pool);
  });
}

TEST(SelectiveScan, AgreesWithRefForEveryKindOfBcGroupsAndOptionalInput) {
  ThreadPool pool(2);
  on_each_target([&](const std::string&) {
    std::uint64_t seed = 100;
    for (const BcKind b : {BcKind::kConstant, BcKind::kPerToken})
      for (const BcKind c : {BcKind::kConstant, BcKind::kPerToken})
        for (int bits = 0; bits < 32; bits += 3)
          expect_matches_ref({.batch = 2,
                              .dim = 42,
                              .d_state = 19,
                              .length = 70,
                              .groups = 3,
                              .b_kind = b,
                              .c_kind = c,
                              .softplus = (bits & 1) != 0,
                              .skip = (bits & 2) != 0,
                              .gate = (bits & 4) != 0,
                              .bias = (bits & 8) != 0,
                              .initial = (bits & 16) != 0},
                             ++seed, pool);
  });
}

TEST(SelectiveScan, RunsTheForcedTarget) {
  ThreadPool pool(1);
  ScanProblem<float> p = random_problem({.dim = 2, .d_state = 2, .length = 2}, 1);
  on_each_target([&](const std::string& target) {
    for (const ScanForm& form : scan_forms()) {
      const std::string ran = form.run(p.args(), pool);
      if (form.name == "custom") {
        EXPECT_EQ(ran, target);
      }
      if (form.name == "compiled" || form.name == "naive") {
        const std::string level = target == "avx512" ? "x86-64-v4"
                                  : target == "avx2" ? "x86-64-v3"
                                                     : "x86-64";
#if defined(__x86_64__)
        EXPECT_EQ(ran, level) << form.name;
#endif
      }
    }
  });
}

TEST(SelectiveScan, GivesTheSameBitsForAnyNumberOfThreads) {
  ThreadPool one(1);
  ScanProblem<float> p = random_problem({.batch = 2, .dim = 150, .d_state = 16, .length = 100}, 2);
  ScanProblem<float> q = p;
  for (const ScanForm& form : scan_forms()) {
    p.poison();
    form.run(p.args(), one);
    for (const std::size_t threads : {2, 3, 5}) {
      ThreadPool pool(threads);
      q.poison();
      form.run(q.args(), pool);
      EXPECT_TRUE(same_bits(p.out, q.out) && same_bits(p.last, q.last)) << form.name << threads;
    }
  }
}

/// Tokens [from, to) of `p` as a problem of its own.
ScanProblem<float> cut(const ScanProblem<float>& p, std::int64_t from, std::int64_t to,
                       const std::vector<float>& initial) {
  const std::int64_t length = p.shape.length;
  const auto part = [&](const std::vector<float>& v) {
    std::vector<float> out;
    for (std::size_t row = 0; row < v.size(); row += static_cast<std::size_t>(length))
      out.insert(out.end(), v.begin() + static_cast<std::ptrdiff_t>(row) + from,
                 v.begin() + static_cast<std::ptrdiff_t>(row) + to);
    return out;
  };
  ScanProblem<float> q = p;
  q.shape.length = to - from;
  q.u = part(p.u), q.delta = part(p.delta), q.b = part(p.b), q.c = part(p.c), q.z = part(p.z);
  q.initial = initial;
  q.poison();
  return q;
}

TEST(SelectiveScan, SplitAnywhereEqualsWhole) {
  ThreadPool pool(2);
  on_each_target([&](const std::string&) {
    ScanProblem<float> whole =
        random_problem({.batch = 2, .dim = 18, .d_state = 9, .length = 131}, 3);
    for (const ScanForm& form : scan_forms()) {
      SCOPED_TRACE(form.name);
      whole.poison();
      form.run(whole.args(), pool);
      float largest = 0;
      for (const float v : whole.out) largest = std::max(largest, std::abs(v));
      for (const std::int64_t at : {1, 2, 17, 63, 64, 65, 130}) {
        ScanProblem<float> left = cut(whole, 0, at, whole.initial);
        form.run(left.args(), pool);
        ScanProblem<float> right = cut(whole, at, 131, left.last);
        form.run(right.args(), pool);
        // Bit for bit in the hand-written form: a token's arithmetic does not depend on its place.
        // The plain loops may treat a vector's tail by scalar code of other last bits: 2e-6, as
        // golden's.
        if (form.name == "custom") {
          EXPECT_TRUE(same_bits(right.last, whole.last)) << at;
        }
        for (std::size_t row = 0; row < 36; ++row)
          for (std::int64_t t = 0; t < 131; ++t) {
            const auto i = [&](std::int64_t width, std::int64_t token) {
              return row * static_cast<std::size_t>(width) + static_cast<std::size_t>(token);
            };
            const float got = t < at ? left.out[i(at, t)] : right.out[i(131 - at, t - at)];
            const float want = whole.out[i(131, t)];
            const float slack = form.name == "custom" ? 0 : 2e-6F * largest;
            ASSERT_LE(std::abs(got - want), slack) << at << " " << t;
          }
      }
    }
  });
}

TEST(SelectiveScan, StaysFiniteForExtremeStepsAndDecays) {
  ThreadPool pool(1);
  on_each_target([&](const std::string&) {
    ScanProblem<float> p = random_problem({.dim = 33, .d_state = 16, .length = 90}, 4);
    for (std::size_t i = 0; i < p.delta.size(); ++i) p.delta[i] = i % 3 == 0 ? 100.0F : -100.0F;
    for (std::size_t i = 0; i < p.a.size(); ++i) p.a[i] = i % 2 == 0 ? -1e4F : -1e-4F;
    for (std::size_t i = 0; i < p.z.size(); ++i) p.z[i] = i % 2 == 0 ? -200.0F : 200.0F;
    for (const ScanForm& form : scan_forms()) {
      p.poison();
      form.run(p.args(), pool);
      for (const float v : p.out) ASSERT_TRUE(std::isfinite(v)) << form.name;
      for (const float v : p.last) ASSERT_TRUE(std::isfinite(v)) << form.name;
    }
  });
}

TEST(SelectiveScan, ZeroStepLeavesTheStateExactly) {
  ThreadPool pool(1);
  on_each_target([&](const std::string&) {
    ScanProblem<float> p = random_problem(
        {.dim = 20, .d_state = 17, .length = 40, .softplus = false, .bias = false}, 5);
    std::fill(p.delta.begin(), p.delta.end(), 0.0F);
    for (const ScanForm& form : scan_forms()) {
      p.poison();
      form.run(p.args(), pool);
      EXPECT_TRUE(same_bits(p.last, p.initial)) << form.name;
    }
  });
}

TEST(SelectiveScan, CarriesNanToItsChannelAndLaterTokensOnly) {
  ThreadPool pool(1);
  on_each_target([&](const std::string&) {
    for (const auto poisoned : {&ScanProblem<float>::u, &ScanProblem<float>::delta}) {
      ScanProblem<float> p = random_problem({.dim = 18, .d_state = 5, .length = 70}, 6);
      (p.*poisoned)[4 * 70 + 30] = std::numeric_limits<float>::quiet_NaN();
      for (const ScanForm& form : scan_forms()) {
        p.poison();
        form.run(p.args(), pool);
        for (std::size_t i = 0; i < p.out.size(); ++i)
          ASSERT_EQ(std::isnan(p.out[i]), i / 70 == 4 && i % 70 >= 30) << form.name << " " << i;
      }
    }
  });
}

TEST(SelectiveScan, LengthZeroReturnsTheInitialState) {
  ThreadPool pool(2);
  for (const bool initial : {false, true}) {
    ScanProblem<float> p =
        random_problem({.batch = 2, .dim = 5, .d_state = 3, .length = 0, .initial = initial}, 7);
    for (const ScanForm& form : scan_forms()) {
      p.poison();
      form.run(p.args(), pool);
      EXPECT_EQ(p.last, initial ? p.initial : std::vector<float>(30, 0.0F)) << form.name;
    }
  }
}

TEST(SelectiveScan, LastStateMayBeOmittedOrBeTheInitialState) {
  ThreadPool pool(2);
  ScanProblem<float> p = random_problem({.batch = 2, .dim = 70, .d_state = 6, .length = 33}, 8);
  for (const ScanForm& form : scan_forms()) {
    p.poison();
    form.run(p.args(), pool);
    ScanProblem<float> q = p;
    q.poison();
    SelectiveScanArgs<float> args = q.args();
    args.last_state = nullptr;
    form.run(args, pool);
    EXPECT_TRUE(same_bits(q.out, p.out)) << form.name;
    args.last_state = q.initial.data();
    form.run(args, pool);
    EXPECT_TRUE(same_bits(q.initial, p.last)) << form.name;
  }
}

TEST(SelectiveScan, AcceptsArraysOfAnyAlignment) {
  ThreadPool pool(2);
  ScanProblem<float> p = random_problem({.dim = 21, .d_state = 8, .length = 67}, 9);
  for (const ScanForm& form : scan_forms()) {
    p.poison();
    form.run(p.args(), pool);
    ScanProblem<float> q = p;
    SelectiveScanArgs<float> args = q.args();
    // One float further than the allocator's alignment.
    std::vector<std::vector<float>> moved;
    const auto shift = [&](const float* v, const std::vector<float>& from) {
      std::vector<float>& copy = moved.emplace_back(1);
      copy.insert(copy.end(), v, v + from.size());
      return copy.data() + 1;
    };
    moved.reserve(16);
    args.u = shift(args.u, q.u), args.delta = shift(args.delta, q.delta);
    args.a = shift(args.a, q.a), args.b = shift(args.b, q.b), args.c = shift(args.c, q.c);
    args.z = shift(args.z, q.z), args.out = shift(args.out, q.out);
    form.run(args, pool);
    EXPECT_TRUE(std::equal(p.out.begin(), p.out.end(), args.out)) << form.name;
  }
}

}  // namespace
}  // namespace krait
