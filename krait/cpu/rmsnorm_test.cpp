// Are the forms of RMSNorm the function that ref/ defines, whatever threads and alignment?

#include "krait/cpu/rmsnorm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/cpu/ref/rmsnorm.hpp"
#include "krait/numerics/cpu_target.hpp"

namespace krait {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Form {
  std::string name;
  std::function<std::string(const RmsNormArgs<float>&, ThreadPool&)> run;
};

std::vector<Form> forms() {
  using Args = RmsNormArgs<float>;
  return {
      {"ref",
       [](const Args& s, ThreadPool&) {
         ref::rmsnorm(s);
         return std::string("ref");
       }},
      {"naive",
       [](const Args& s, ThreadPool& pool) {
         std::vector<float> scratch(rmsnorm_naive_scratch(s), kNan);
         return std::string(rmsnorm_naive(s, pool, scratch.data()));
       }},
      {"compiled",
       [](const Args& s, ThreadPool& pool) { return std::string(rmsnorm_compiled(s, pool)); }},
      {"custom", [](const Args& s, ThreadPool& pool) { return std::string(rmsnorm(s, pool)); }}};
}

struct Problem {
  std::int64_t rows, width, group_size;
  bool weighted = true, gated = false, norm_before_gate = true;
  std::vector<float> x{}, weight{}, z{}, out{};

  Problem& fill(std::uint64_t seed) {
    const auto size = static_cast<std::size_t>(rows * width);
    x.resize(size), z.resize(size), weight.resize(static_cast<std::size_t>(width));
    fill_normal(x, seed, 0, 3);
    fill_normal(z, seed, 1, 4);
    fill_normal(weight, seed, 2, 1, 1);
    out.assign(size, kNan);
    return *this;
  }
  [[nodiscard]] RmsNormArgs<float> args() {
    RmsNormArgs<float> s{.rows = rows, .width = width, .group_size = group_size};
    s.norm_before_gate = norm_before_gate;
    s.x = x.data(), s.weight = weighted ? weight.data() : nullptr;
    s.z = gated ? z.data() : nullptr, s.out = out.data();
    return s;
  }
  [[nodiscard]] std::vector<double> expected() const {
    const std::vector<double> xd(x.begin(), x.end()), wd(weight.begin(), weight.end());
    const std::vector<double> zd(z.begin(), z.end());
    std::vector<double> yd(x.size());
    RmsNormArgs<double> s{.rows = rows, .width = width, .group_size = group_size};
    s.eps = static_cast<double>(1e-5F);
    s.norm_before_gate = norm_before_gate;
    s.x = xd.data(), s.weight = weighted ? wd.data() : nullptr;
    s.z = gated ? zd.data() : nullptr, s.out = yd.data();
    ref::rmsnorm(s);
    return yd;
  }
};

void expect_matches_ref(Problem p, std::uint64_t seed, ThreadPool& pool) {
  const std::vector<double> want = p.fill(seed).expected();
  // Per element: a sum of n squares in f32 is off by at most n eps, its root by half of that; silu
  // 12 eps, once more through the statistics; five products and quotients.
  const double bound = (0.5 * static_cast<double>(p.group_size) + 32) * 0x1p-24;
  for (const Form& form : forms()) {
    p.out.assign(p.out.size(), kNan);
    form.run(p.args(), pool);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_LE(std::abs(p.out[i] - want[i]), bound * std::abs(want[i]) + 1e-36)
          << form.name << " rows " << p.rows << " width " << p.width << " at " << i;
  }
}

TEST(RmsNorm, AgreesWithRefWithinRoundingForOddShapes) {
  ThreadPool pool(2);
  for (const std::string& target : available_cpu_targets()) {
    const ScopedCpuTarget forced(target);
    SCOPED_TRACE(target);
    std::uint64_t seed = 0;
    for (const std::int64_t width : {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000})
      for (const bool gated : {false, true})
        for (const bool before : {false, true})
          expect_matches_ref({.rows = 5,
                              .width = width,
                              .group_size = width,
                              .weighted = width % 2 == 1,
                              .gated = gated,
                              .norm_before_gate = before},
                             ++seed, pool);
    for (const std::int64_t group : {1, 3, 8, 24, 40, 120})
      expect_matches_ref({.rows = 7,
                          .width = 240,
                          .group_size = group,
                          .gated = true,
                          .norm_before_gate = group % 3 == 0},
                         ++seed, pool);
    expect_matches_ref({.rows = 0, .width = 8, .group_size = 8}, ++seed, pool);
  }
}

TEST(RmsNorm, RunsTheForcedTarget) {
  ThreadPool pool(1);
  Problem p{.rows = 1, .width = 4, .group_size = 4};
  p.fill(1);
  for (const std::string& target : available_cpu_targets()) {
    const ScopedCpuTarget forced(target);
    EXPECT_EQ(rmsnorm(p.args(), pool), target);
  }
}

TEST(RmsNorm, UngatedGivesTheSameBitsOnEveryTarget) {
  ThreadPool pool(1);
  Problem p{.rows = 9, .width = 301, .group_size = 301};
  p.fill(2);
  std::vector<float> first;
  for (const std::string& target : available_cpu_targets()) {
    const ScopedCpuTarget forced(target);
    rmsnorm(p.args(), pool);
    if (first.empty()) first = p.out;
    EXPECT_EQ(std::memcmp(first.data(), p.out.data(), first.size() * sizeof(float)), 0) << target;
  }
}

TEST(RmsNorm, GivesTheSameBitsForAnyNumberOfThreads) {
  Problem p{.rows = 301, .width = 200, .group_size = 50, .gated = true};
  p.fill(3);
  for (const Form& form : forms()) {
    ThreadPool one(1);
    form.run(p.args(), one);
    const std::vector<float> want = p.out;
    for (const std::size_t threads : {2, 3, 5}) {
      ThreadPool pool(threads);
      p.out.assign(p.out.size(), kNan);
      form.run(p.args(), pool);
      EXPECT_EQ(p.out, want) << form.name << threads;
    }
  }
}

TEST(RmsNorm, WorksInPlaceOverXAndOverTheGate) {
  ThreadPool pool(2);
  for (const bool before : {false, true}) {
    Problem p{.rows = 6, .width = 99, .group_size = 33, .gated = true, .norm_before_gate = before};
    p.fill(4);
    for (const Form& form : forms()) {
      if (form.name == "ref") continue;  // the definition reads x again after writing out
      form.run(p.args(), pool);
      const std::vector<float> want = p.out;
      for (const auto target : {&Problem::x, &Problem::z}) {
        Problem q = p;
        RmsNormArgs<float> args = q.args();
        args.out = (q.*target).data();
        form.run(args, pool);
        EXPECT_EQ(q.*target, want) << form.name << (target == &Problem::x ? " x" : " z");
      }
    }
  }
}

TEST(RmsNorm, AcceptsArraysOfAnyAlignment) {
  ThreadPool pool(1);
  Problem p{.rows = 4, .width = 67, .group_size = 67, .gated = true};
  p.fill(5);
  for (const Form& form : forms()) {
    form.run(p.args(), pool);
    std::vector<float> x(1), out(p.out.size() + 1, kNan);
    x.insert(x.end(), p.x.begin(), p.x.end());
    RmsNormArgs<float> args = p.args();
    args.x = x.data() + 1, args.out = out.data() + 1;
    form.run(args, pool);
    EXPECT_TRUE(std::equal(p.out.begin(), p.out.end(), out.begin() + 1)) << form.name;
  }
}

TEST(RmsNorm, KeepsRowsApartWhenOneIsNanOrZero) {
  ThreadPool pool(1);
  Problem p{.rows = 3, .width = 40, .group_size = 40};
  p.fill(6);
  p.x[45] = kNan;
  std::fill_n(p.x.begin() + 80, 40, 0.0F);
  for (const Form& form : forms()) {
    form.run(p.args(), pool);
    for (std::size_t i = 0; i < 120; ++i) {
      ASSERT_EQ(std::isnan(p.out[i]), i / 40 == 1) << form.name;
      if (i >= 80) {
        ASSERT_EQ(p.out[i], 0.0F) << form.name;
      }
    }
  }
}

}  // namespace
}  // namespace krait
