// The entries of the operators: names, comparison, parameters, counts, repeatable inputs.

#include "krait/ops/operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::ops {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor vector(const std::vector<double>& values) {
  Tensor t(DType::kF64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.values<double>().begin());
  return t;
}
Difference difference(const std::vector<double>& got, const std::vector<double>& expected) {
  return compare({{"out", vector(got)}}, {{"out", vector(expected)}}).at(0);
}

// --- comparison ---

TEST(Compare, TheLargestDifferenceAgainstTheLargestExpectedValue) {
  const Difference d = difference({1, -9, 3}, {1, -10, 2.5});
  EXPECT_EQ(d.tensor, "out");
  EXPECT_EQ(d.max_abs, 1);
  EXPECT_EQ(d.max_expected, 10);
  EXPECT_EQ(d.relative(), 0.1);
}

TEST(Compare, WithinIsAtTheLimitAndNotBeyond) {
  const Difference d = difference({1.5}, {1});
  EXPECT_TRUE(d.within({.rtol = 0.5, .atol = 0}));
  EXPECT_TRUE(d.within({.rtol = 0.25, .atol = 0.25}));
  EXPECT_FALSE(d.within({.rtol = 0.25, .atol = 0.24}));
}

TEST(Compare, NanIsNeverClose) {
  EXPECT_EQ(difference({kNan, 1}, {1, 1}).max_abs, kInf);
  EXPECT_EQ(difference({1, 1}, {kNan, 1}).max_abs, kInf);
  EXPECT_EQ(difference({kNan}, {kNan}).max_abs, kInf) << "what is expected must be a number";
  EXPECT_FALSE(difference({kNan, 1}, {1, 1}).within({.rtol = 1e300, .atol = 1e300}));
}

TEST(Compare, EqualInfinitiesAreEqualAndOthersFarApart) {
  EXPECT_EQ(difference({kInf, 1}, {kInf, 2}).max_abs, 1);
  EXPECT_EQ(difference({kInf, 1}, {kInf, 2}).max_expected, 2) << "infinity is no scale";
  EXPECT_EQ(difference({-kInf}, {kInf}).max_abs, kInf);
  EXPECT_EQ(difference({1}, {kInf}).max_abs, kInf);
  EXPECT_EQ(difference({kInf}, {1}).max_abs, kInf);
}

TEST(Compare, MissingAndMisshapenTensorsAreInfinitelyFarExtraOnesDoNotCount) {
  const TensorMap expected{{"a", vector({1})}, {"b", vector({1, 2})}};
  const auto d = compare({{"b", vector({1, 2, 3})}, {"extra", vector({9})}}, expected);
  ASSERT_EQ(d.size(), 2U);
  EXPECT_EQ(d[0].tensor, "a");
  EXPECT_EQ(d[0].max_abs, kInf);
  EXPECT_EQ(d[1].max_abs, kInf);
  EXPECT_FALSE(d[1].within({.rtol = 1, .atol = 1}));
}

TEST(Compare, NothingExpectedIsNoScale) {
  EXPECT_EQ(difference({0.5}, {0}).relative(), 0.5);
  EXPECT_EQ(difference({}, {}).max_abs, 0);
}

// --- names ---

TEST(Operators, AreFoundByNameAliasAndGroup) {
  for (const Operator& op : operators()) {
    EXPECT_EQ(&find_operator(op.name), &op);
    for (const std::string& alias : op.aliases) EXPECT_EQ(&find_operator(alias), &op);
    EXPECT_EQ(operator_of_group(op.golden_group), &op);
  }
  EXPECT_EQ(operator_of_group("conv1d"), nullptr);
}

TEST(Operators, AnUnknownNameGetsTheNearest) {
  try {
    (void)find_operator("selective_scna");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.report().what, HasSubstr("no operator is called 'selective_scna'"));
    EXPECT_THAT(error.report().fix, HasSubstr("selective_scan"));
  }
}

// --- calls ---

TEST(Operators, ProblemOfSaysWhatTheCallHolds) {
  Call call;
  call.inputs.emplace("x", Tensor(DType::kBf16, {2, 3}));
  call.attrs["eps"] = 0.5;
  const kernels::Problem p = problem_of(call);
  ASSERT_TRUE(p.has("x"));
  EXPECT_EQ(p.input("x").dtype, DType::kBf16);
  EXPECT_EQ(p.input("x").shape, (Shape{2, 3}));
  EXPECT_EQ(attr_real(p.attrs, "eps", 0), 0.5);
  EXPECT_FALSE(p.has("weight"));
}

TEST(Operators, InputsAreAFunctionOfParametersAndSeed) {
  for (const Operator& op : operators()) {
    Params params(op.params);
    params.set(op.name == "rmsnorm" ? "rows" : "length", "3");
    const Call first = op.make_call(params), again = op.make_call(params);
    params.set("seed", "2");
    const Call other = op.make_call(params);
    bool differs = false;
    for (const auto& [name, tensor] : first.inputs) {
      EXPECT_EQ(tensor.to_f64(), again.inputs.at(name).to_f64()) << op.name << " " << name;
      differs = differs || tensor.to_f64() != other.inputs.at(name).to_f64();
    }
    EXPECT_TRUE(differs) << op.name;
  }
}

TEST(Operators, TheProblemOfACallIsTheProblemOfItsParameters) {
  for (const Operator& op : operators()) {
    const Params params(op.params);
    const kernels::Problem with_data = problem_of(op.make_call(params)),
                           without = op.make_problem(params);
    ASSERT_EQ(with_data.inputs.size(), without.inputs.size());
    for (const auto& [name, type] : without.inputs) {
      EXPECT_EQ(with_data.input(name).shape, type.shape) << name;
      EXPECT_EQ(with_data.input(name).dtype, type.dtype) << name;
    }
    EXPECT_EQ(with_data.attrs, without.attrs);
  }
}

TEST(Operators, TheReferenceGivesTheShapesThatAreAnnounced) {
  for (const Operator& op : operators()) {
    Params params(op.params);
    params.set(op.name == "rmsnorm" ? "rows" : "length", "3");
    const Call call = op.make_call(params);
    const TensorMap out = op.reference(call);
    const auto shapes = op.output_shapes(problem_of(call));
    ASSERT_EQ(out.size(), shapes.size());
    for (const auto& [name, shape] : shapes) {
      EXPECT_EQ(out.at(name).shape(), shape);
      EXPECT_EQ(out.at(name).dtype(), DType::kF64);
    }
  }
}

TEST(Operators, InputsTooLargeToFillAreRefusedBeforeTheyAreMade) {
  const Operator& op = find_operator("rmsnorm");
  Params params(op.params);
  params.set("rows", "16777216"), params.set("width", "16777216");
  try {
    (void)op.make_call(params);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.report().what, HasSubstr("too large to fill"));
    EXPECT_THAT(error.report().where, HasSubstr("input"));
  }
}

TEST(Operators, CountsOfTheNormByHand) {
  const Operator& op = find_operator("rmsnorm");
  Params params(op.params);
  params.set("rows", "2"), params.set("width", "6"), params.set("group_size", "3");
  const Counts c = op.counts(op.make_problem(params));
  // 12 elements: square and sum, * rstd, * weight; 4 groups: mean, + eps, reciprocal.
  EXPECT_EQ(c.flops, 12 * 4 + 4 * 3);
  EXPECT_EQ(c.exps, 4);
  EXPECT_EQ(c.min_bytes, 12 * 4 + 6 * 4 + 12 * 4);
}

TEST(Operators, CountsOfTheScanByHand) {
  const Operator& op = find_operator("selective_scan");
  Params params(op.params);
  for (const char* v : {"batch=1", "length=5", "d_inner=2", "d_state=3"}) params.set_assignment(v);
  const Counts c = op.counts(op.make_problem(params));
  // 30 state steps of 6; 10 tokens: dt * u, + bias, softplus' addition, D (2), gate (3).
  EXPECT_EQ(c.flops, 30 * 6 + 10 * 8);
  EXPECT_EQ(c.exps, 30 + 10 * 2);
  // u, delta, z, out; A; B, C; D, delta_bias; last_state.
  EXPECT_EQ(c.min_bytes, 4 * (4 * 10 + 6 + 2 * 15 + 2 * 2 + 6));
}

// --- parameters of a kernel's run ---

TEST(KernelParams, AKernelsOwnNameComesFirst) {
  const Operator& op = find_operator("selective_scan");
  const kernels::Kernel& kernel = kernels::find_kernel("scan_logdepth");
  const KernelParams p =
      kernel_params(op, kernel, std::vector<std::string>{"dtype=bf16", "length=7"});
  EXPECT_EQ(p.kernel.text("dtype"), "bf16");
  EXPECT_EQ(p.op.integer("length"), 7);
  EXPECT_EQ(op.make_problem(p.op).input("u").dtype, DType::kF32);
}

TEST(KernelParams, UnknownNamesAreRefusedWithTheNearest) {
  try {
    (void)kernel_params(find_operator("selective_scan"), kernels::find_kernel("scan_hardware"),
                        std::vector<std::string>{"chunks=7"});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.report().text(), HasSubstr("chunk"));
  }
}

}  // namespace
}  // namespace krait::ops
