// The seam: which names there are, what each backend computes, and what it refuses.

#include "krait/ops/backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"

namespace krait::ops {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& spec) {
  try {
    (void)make_backend(spec);
  } catch (const UserError& error) {
    return error.report().text();
  }
  return "accepted";
}

Call small(const char* op, const std::vector<std::string>& assignments) {
  Params params(find_operator(op).params);
  for (const std::string& a : assignments) params.set_assignment(a);
  return find_operator(op).make_call(params);
}
Call small_scan() {
  return small("selective_scan", {"length=20", "d_inner=5", "d_state=3"});
}
Call small_norm() {
  return small("rmsnorm", {"rows=3", "width=40"});
}

// --- names ---

TEST(Backends, AreCalledWhatMadeThem) {
  for (const char* name :
       {"ref", "cpu", "cpu:naive", "cpu:compiler", "neuron:trn2", "neuron:trn1/scan_hardware"}) {
    EXPECT_EQ(make_backend(name)->name(), name);
    EXPECT_EQ(make_backend(name)->ran(), name) << "nothing has run yet";
  }
  EXPECT_EQ(make_backend("cpu:custom")->name(), "cpu");
  EXPECT_EQ(make_backend("neuron:v3/rmsnorm_fused")->name(), "neuron:trn2/rmsnorm_fused");
  EXPECT_EQ(make_backend("ref")->precision(), "float64");
  EXPECT_EQ(make_backend("cpu")->precision(), "float32");
  EXPECT_EQ(make_backend("neuron:trn1")->precision(), "float32");
}

TEST(Backends, UnknownNamesGetTheNearest) {
  EXPECT_THAT(refusal("cpo"), HasSubstr("no backend is called 'cpo'"));
  EXPECT_THAT(refusal("cpu:complier"), HasSubstr("did you mean 'cpu:compiler'"));
  EXPECT_THAT(refusal("zzzzzzzz"), HasSubstr("neuron:trn2"));
  EXPECT_THAT(refusal(""), HasSubstr("no backend is called ''"));
  EXPECT_THAT(refusal("neuron:trn22"), HasSubstr("trn2"));
  EXPECT_THAT(refusal("neuron:trn2/scan_hardwear"), HasSubstr("scan_hardware"));
  EXPECT_THAT(refusal("neuron:trn2/"), HasSubstr("no kernel is called ''"));
  EXPECT_THAT(refusal("neuron:"), HasSubstr("trn1"));
}

// --- the simulated machine ---

TEST(NeuronBackend, RefusesAKernelOfAnotherOperator) {
  const auto backend = make_backend("neuron:trn1/rmsnorm_fused");
  try {
    (void)backend->run(find_operator("selective_scan"), small_scan());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.report().what, "kernel rmsnorm_fused computes rmsnorm, not selective_scan");
    EXPECT_EQ(error.report().where, "backend neuron:trn1/rmsnorm_fused");
    EXPECT_EQ(error.report().fix, "use neuron:trn1");
  }
}

TEST(NeuronBackend, WithoutAKernelSaysWhichOneItTook) {
  const auto backend = make_backend("neuron:trn2");
  (void)backend->run(find_operator("rmsnorm"), small_norm());
  EXPECT_EQ(backend->ran(), "neuron:trn2/rmsnorm_fused") << "the only custom kernel";
  (void)backend->run(find_operator("selective_scan"), small_scan());
  EXPECT_THAT(backend->ran(), HasSubstr("neuron:trn2/scan_"));
  EXPECT_EQ(backend->name(), "neuron:trn2");
}

TEST(NeuronBackend, SaysWhyEveryKernelRefused) {
  try {
    (void)make_backend("neuron:trn1")
        ->run(find_operator("rmsnorm"), small("rmsnorm", {"rows=3", "width=8", "has_z=1"}));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.report().what, HasSubstr("no kernel for trn1 takes this rmsnorm"));
    EXPECT_THAT(error.report().got, HasSubstr("rmsnorm_fused: the device kernels have no gate"));
  }
}

TEST(NeuronBackend, RefusesEmptyInputsByName) {
  Call call = small_norm();
  call.inputs.at("x") = Tensor(DType::kF32, {0, 40});
  try {
    (void)make_backend("neuron:trn1")->run(find_operator("rmsnorm"), call);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.report().where, HasSubstr("input x"));
  }
}

TEST(NeuronBackend, ChecksTheCallBeforeItBuildsAnything) {
  Call call = small_norm();
  call.inputs.at("weight") = Tensor(DType::kF32, {41});
  EXPECT_THROW((void)make_backend("neuron:trn1")->run(find_operator("rmsnorm"), call), UserError);
}

TEST(NeuronBackend, Float64InputsAreRoundedAndOutputsAreF32) {
  for (const DType dtype : {DType::kF64, DType::kBf16}) {
    Call call = small_norm();
    call.inputs.at("x") = call.inputs.at("x").cast(dtype);
    const TensorMap out = make_backend("neuron:trn1")->run(find_operator("rmsnorm"), call);
    EXPECT_EQ(out.at("out").dtype(), DType::kF32);
  }
}

// --- what they compute ---

TEST(Backends, AllAgreeWithTheReferenceOnEveryOperator) {
  for (const Operator& op : operators()) {
    const Call call = op.name == "rmsnorm" ? small_norm() : small_scan();
    const TensorMap expected = op.reference(call);
    std::vector<std::string> specs{"ref", "cpu", "cpu:naive", "cpu:compiler"};
    for (const MachineSpec* m : machines())
      for (const kernels::Kernel& k : kernels::kernels())
        if (k.op == op.name) specs.push_back(cat("neuron:", m->name(), "/", k.name));
    for (const std::string& spec : specs)
      for (const Difference& d :
           compare(make_backend(spec, {.threads = 2})->run(op, call), expected))
        EXPECT_TRUE(d.within(op.f32_tolerance)) << spec << " " << d.tensor << " " << d.max_abs;
  }
}

}  // namespace
}  // namespace krait::ops
