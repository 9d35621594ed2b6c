// Is every mistake in a call named, with the argument, what was given and the remedy? Also: nothing
// that is right is refused.

#include "krait/ops/call_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "krait/base/error.hpp"

namespace krait::ops {
namespace {

using kernels::Problem;
using ::testing::HasSubstr;

Problem scan() {
  Problem p;
  p.inputs["u"] = p.inputs["delta"] = p.inputs["z"] = {DType::kF32, {2, 6, 10}};
  p.inputs["A"] = {DType::kF32, {6, 3}};
  p.inputs["B"] = {DType::kF32, {2, 2, 3, 10}};
  p.inputs["C"] = {DType::kF32, {2, 3, 10}};
  p.inputs["D"] = p.inputs["delta_bias"] = {DType::kF32, {6}};
  p.inputs["initial_state"] = {DType::kF32, {2, 6, 3}};
  p.attrs["delta_softplus"] = true;
  return p;
}
Problem norm() {
  Problem p;
  p.inputs["x"] = p.inputs["z"] = {DType::kF32, {4, 3, 8}};
  p.inputs["weight"] = {DType::kF32, {8}};
  p.attrs["group_size"] = std::int64_t{4};
  p.attrs["eps"] = 1e-5;
  p.attrs["norm_before_gate"] = true;
  return p;
}

std::string complaint(const char* op, const Problem& problem) {
  try {
    find_operator(op).validate(problem);
  } catch (const UserError& error) {
    const Report& r = error.report();
    EXPECT_FALSE(r.what.empty() || r.where.empty() || r.fix.empty()) << r.text();
    EXPECT_THAT(r.what, HasSubstr(op)) << "the operator is named";
    return r.text();
  }
  return "accepted";
}

struct Mistake {
  const char* name;
  std::function<void(Problem&)> make;
  std::vector<const char*> said;
};

void expect_all(const char* op, const Problem& good, const std::vector<Mistake>& mistakes) {
  ASSERT_EQ(complaint(op, good), "accepted");
  for (const Mistake& m : mistakes) {
    Problem p = good;
    m.make(p);
    const std::string text = complaint(op, p);
    for (const char* part : m.said) EXPECT_THAT(text, HasSubstr(part)) << m.name;
  }
}

auto shape_of(const char* input, Shape shape) {
  return [=](Problem& p) { p.inputs[input].shape = shape; };
}
auto without(const char* input) {
  return [=](Problem& p) { p.inputs.erase(input); };
}
template <class T>
auto attribute(const char* name, T value) {
  return [=](Problem& p) { p.attrs[name] = value; };
}

TEST(SelectiveScanCheck, NamesEveryMistakenInput) {
  expect_all(
      "selective_scan", scan(),
      {{"u", without("u"), {"input u is missing", "give u [batch, d_inner, length]"}},
       {"delta", without("delta"), {"input delta is missing"}},
       {"A", without("A"), {"input A is missing", "[d_inner, d_state]"}},
       {"B", without("B"), {"input B is missing", "[batch, ngroups, d_state, length]"}},
       {"C", without("C"), {"input C is missing"}},
       {"rank", shape_of("u", {6, 10}), {"u must have 3 dimensions", "f32[6, 10]"}},
       {"rank", shape_of("A", {6}), {"A must have 2 dimensions"}},
       {"rank", shape_of("B", {6}), {"B must have 2, 3 or 4 dimensions"}},
       {"rank", shape_of("C", {1, 2, 3, 4, 5}), {"C must have 2, 3 or 4 dimensions"}},
       {"delta", shape_of("delta", {2, 6, 11}), {"delta must be", "= [2, 6, 10]", "f32[2, 6, 11]"}},
       {"A", shape_of("A", {7, 3}), {"A must be [d_inner, d_state] = [6, 3]"}},
       {"z", shape_of("z", {2, 6, 9}), {"z must be"}},
       {"D", shape_of("D", {5}), {"D must be [d_inner] = [6]"}},
       {"bias", shape_of("delta_bias", {6, 1}), {"delta_bias must be [d_inner] = [6]"}},
       {"state", shape_of("initial_state", {6, 3}), {"initial_state must be", "= [2, 6, 3]"}},
       {"B const", shape_of("B", {6, 4}), {"B must be [d_inner, d_state] = [6, 3]"}},
       {"C token", shape_of("C", {2, 3, 9}), {"C must be [batch, d_state, length] = [2, 3, 10]"}},
       {"B grouped", shape_of("B", {2, 2, 4, 10}), {"= [2, 2, 3, 10]"}},
       {"groups", shape_of("B", {2, 4, 3, 10}), {"the 4 groups of B do not divide d_inner = 6"}},
       {"groups", shape_of("B", {2, 0, 3, 10}), {"the 0 groups of B"}},
       {"batch", shape_of("u", {0, 6, 10}), {"batch must be at least 1"}},
       {"d_inner", shape_of("u", {2, 0, 10}), {"d_inner must be at least 1"}},
       {"d_state", shape_of("A", {6, 0}), {"d_state must be at least 1"}}});
}

TEST(SelectiveScanCheck, NamesUnknownNamesTypesAndContradictions) {
  expect_all("selective_scan", scan(),
             {{"name",
               [](Problem& p) { p.inputs["detla"] = p.inputs["delta"]; },
               {"no input is called 'detla'", "delta"}},
              {"name",
               [](Problem& p) { p.inputs["qqqqqq"] = p.inputs["D"]; },
               {"'qqqqqq'", "inputs: u, delta, A"}},
              {"dtype",
               [](Problem& p) { p.inputs["u"].dtype = DType::kI32; },
               {"u must hold floating-point numbers", "i32"}},
              {"dtype",
               [](Problem& p) { p.inputs["D"].dtype = DType::kI64; },
               {"D must hold floating-point numbers"}},
              {"attribute",
               attribute("softplus", true),
               {"no attribute is called 'softplus'", "softplus = true", "delta_softplus"}},
              {"type",
               attribute("batch", std::int64_t{3}),
               {"attribute batch contradicts the tensors", "batch = 3, the tensors say 2"}},
              {"dim", attribute("d_inner", std::int64_t{5}), {"the tensors say 6"}},
              {"length", attribute("seqlen", std::int64_t{5}), {"the tensors say 10"}},
              {"state", attribute("d_state", std::int64_t{5}), {"the tensors say 3"}},
              {"groups", attribute("groups", std::int64_t{1}), {"the tensors say 2"}},
              {"kind", attribute("B_kind", std::string("3d")), {"B_kind = 3d, the tensors say 4d"}},
              {"kind", attribute("C_kind", std::string("const")), {"the tensors say 3d"}},
              {"has", attribute("has_z", false), {"has_z = false, the tensors say true"}},
              {"has", attribute("has_initial_state", false), {"has_initial_state"}}});
}

TEST(SelectiveScanCheck, AttributesOfAnotherTypeAreTheCallersError) {
  Problem p = scan();
  p.attrs["delta_softplus"] = std::string("yes");
  try {
    find_operator("selective_scan").validate(p);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.report().text(), HasSubstr("delta_softplus"));
  }
}

TEST(SelectiveScanCheck, DescriptionsThatAgreeAndEmptySequencesAreAccepted) {
  Problem p = scan();
  p.attrs["batch"] = std::int64_t{2}, p.attrs["B_kind"] = std::string("4d");
  p.attrs["has_z"] = true, p.attrs["seed"] = std::int64_t{77};
  EXPECT_EQ(complaint("selective_scan", p), "accepted");
  for (auto& [name, type] : p.inputs)
    if (type.shape.size() > 2 && name != "initial_state") type.shape.back() = 0;
  EXPECT_EQ(complaint("selective_scan", p), "accepted") << "no tokens";
}

TEST(RmsnormCheck, NamesEveryMistake) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  expect_all("rmsnorm", norm(),
             {{"x", without("x"), {"input x is missing", "give x [..., width]"}},
              {"scalar", shape_of("x", {}), {"x must have at least 1 dimension"}},
              {"width", shape_of("x", {4, 0}), {"width must be at least 1"}},
              {"weight", shape_of("weight", {7}), {"weight must be [width] = [8]", "f32[7]"}},
              {"z", shape_of("z", {12, 8}), {"z must be the shape of x = [4, 3, 8]"}},
              {"group",
               attribute("group_size", std::int64_t{3}),
               {"group_size = 3 does not divide the width 8"}},
              {"group", attribute("group_size", std::int64_t{0}), {"group_size = 0"}},
              {"group", attribute("group_size", std::int64_t{-4}), {"group_size = -4"}},
              {"eps", attribute("eps", -1.0), {"eps = -1 must be a finite number of at least 0"}},
              {"eps", attribute("eps", kNan), {"eps"}},
              {"eps", attribute("eps", std::numeric_limits<double>::infinity()), {"eps = inf"}},
              {"name",
               [](Problem& p) { p.inputs["wieght"] = p.inputs["weight"]; },
               {"no input is called 'wieght'", "weight"}},
              {"dtype",
               [](Problem& p) { p.inputs["x"].dtype = DType::kU8; },
               {"x must hold floating-point numbers"}},
              {"attribute", attribute("epsilon", 1e-5), {"no attribute is called 'epsilon'"}},
              {"has", attribute("has_z", false), {"the tensors say true"}},
              {"has", attribute("has_weight", false), {"the tensors say true"}},
              {"rows", attribute("rows", std::int64_t{4}), {"rows = 4, the tensors say 12"}},
              {"width", attribute("width", std::int64_t{4}), {"the tensors say 8"}}});
}

TEST(CallCheck, AttributesAreShownAsTheyAreWritten) {
  EXPECT_EQ(to_string(Attr{true}), "true");
  EXPECT_EQ(to_string(Attr{std::int64_t{-3}}), "-3");
  EXPECT_EQ(to_string(Attr{0.5}), "0.5");
  EXPECT_EQ(to_string(Attr{std::string("3d")}), "3d");
}

TEST(CallCheck, ParametersStandForTheirDtype) {
  Params params({dtype_param()});
  EXPECT_EQ(dtype_of(params), DType::kF32);
  params.set("dtype", "bf16");
  EXPECT_EQ(dtype_of(params), DType::kBf16);
  EXPECT_THROW(params.set("dtype", "i32"), UserError);
}

}  // namespace
}  // namespace krait::ops
