// Lesson 2: an operator on three backends.
//
// An operator is one entry: its parameters, its float64 reference, its CPU forms and its device
// kernels. A backend runs a call of it. This lesson runs one selective scan (Mamba-1) as the
// reference, as the SIMD kernel of this CPU and as a kernel on the simulated Trainium2, and
// compares them.

#include <cstdio>
#include <string>

#include "krait/base/error.hpp"
#include "krait/ops/backend.hpp"
#include "krait/ops/operator.hpp"

int main() {
  const krait::ops::Operator& scan = krait::ops::find_operator("selective_scan");

  // 1. A call: inputs by name and attributes. The operator makes random ones from its parameters;
  //    equal parameters, the seed included, give equal inputs.
  krait::Params params(scan.params);
  for (const char* setting : {"batch=2", "length=77", "d_inner=40", "d_state=16", "seed=7"})
    params.set_assignment(setting);
  const krait::ops::Call call = scan.make_call(params);
  for (const auto& [name, tensor] : call.inputs)
    std::printf("in   %-12s %s\n", name.c_str(), krait::to_string(tensor.shape()).c_str());

  // 2. Run it everywhere. The tolerance is that of float32 arithmetic and belongs to the operator.
  const krait::TensorMap expected = scan.reference(call);
  for (const char* backend_name : {"cpu", "neuron:trn2/scan_hardware"}) {
    const auto backend = krait::ops::make_backend(backend_name);
    const krait::TensorMap got = backend->run(scan, call);
    for (const krait::ops::Difference& d : krait::ops::compare(got, expected)) {
      std::printf("out  %-12s %-26s relative error %.1e\n", d.tensor.c_str(), backend_name,
                  d.relative());
      if (!d.within(scan.f32_tolerance)) return 1;
    }
  }

  // 3. A call that contradicts itself is refused by name, before anything runs.
  krait::ops::Call wrong = call;
  wrong.inputs["delta"] = wrong.inputs.at("delta").reshaped({2, 77, 40});
  try {
    krait::ops::validate(scan, wrong);
  } catch (const krait::UserError& error) {
    std::printf("\n%s\n", error.what());
    return 0;
  }
  return 1;
}
