// Do both RMSNorm kernels give the reference's result for any rows and any width, f32 and bf16?

#include "sweep.hpp"

namespace krait::sweep {
namespace {

const ops::Operator& norm() {
  return ops::find_operator("rmsnorm");
}

// bf16 has 8 significant bits, so storing y costs up to 2^-8 of its size. The naive kernel stores
// squares in bf16 too: each is wrong by up to 2^-8 of itself, so is their sum, and half of that
// reaches the root, 2^-9. Twice what the f32 kernel is allowed covers the arithmetic.
ops::Tolerance tolerance(std::string_view kernel, bool bf16) {
  ops::Tolerance t = norm().f32_tolerance;
  if (bf16) t.rtol = 2 * t.rtol + 0x1p-8 + (kernel == "rmsnorm_naive" ? 0x1p-9 : 0);
  return t;
}

void one_case(const kernels::Kernel& kernel, const MachineSpec& machine, std::int64_t rows,
              std::int64_t width, bool bf16, const std::string& chunk) {
  const std::vector<std::string> shape{cat("rows=", rows), cat("width=", width),
                                       bf16 ? "dtype=bf16" : "dtype=f32", cat("seed=", width)};
  SCOPED_TRACE(cat(kernel.name, " on ", machine.name(), ": ", join(shape, " "), " chunk=", chunk));
  Params op(norm().params), params(kernel.params);
  for (const std::string& s : shape) op.set_assignment(s);
  params.set("chunk", chunk);
  const ops::Call call = norm().make_call(op);
  const sim::Result r = run_kernel(kernel, machine, call, params, {.timing = false});
  EXPECT_EQ(r.outputs.at("out").dtype(), bf16 ? DType::kBf16 : DType::kF32);
  expect_close(r.outputs, norm().reference(call), tolerance(kernel.name, bf16));
}

void sweep(const char* kernel_name) {
  const kernels::Kernel& kernel = kernels::find_kernel(kernel_name);
  Choice c(3);
  for (int i = 0; i < 150 / kShare; ++i) {
    // Width first; then as many rows as keep the case small.
    const std::int64_t width =
        c.of<std::int64_t>({1, 2, 127, 511, 1000, 2047, 2048, 2049, 4099, 8192, 12289, 20000});
    const std::int64_t most = std::min<std::int64_t>(300, 1 + 600'000 / width);
    const std::int64_t rows = 1 + c.below(most);
    one_case(kernel, *machines()[static_cast<std::size_t>(i % 3)], rows, width, c.coin(),
             c.of<const char*>({"100", "512", "2048"}));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RmsnormSweep, Naive) {
  sweep("rmsnorm_naive");
}
TEST(RmsnormSweep, Fused) {
  sweep("rmsnorm_fused");
}

TEST(RmsnormSweep, RowsAroundATileOf128) {
  for (const char* name : {"rmsnorm_naive", "rmsnorm_fused"})
    for (const std::int64_t rows : {1, 127, 128, 129, 255, 256, 257, 300})
      one_case(kernels::find_kernel(name), find_machine("trn1"), rows, 37, false, "2048");
}

// Such a row rests on eps alone.
TEST(RmsnormSweep, ARowOfZerosIsZeros) {
  for (const char* name : {"rmsnorm_naive", "rmsnorm_fused"}) {
    const kernels::Kernel& k = kernels::find_kernel(name);
    Params op(norm().params);
    op.set("rows", "3"), op.set("width", "40");
    ops::Call call = norm().make_call(op);
    for (std::size_t i = 40; i < 80; ++i) call.inputs.at("x").values<float>()[i] = 0;
    const auto r = run_kernel(k, find_machine("trn2"), call, Params(k.params));
    for (std::size_t i = 40; i < 80; ++i) EXPECT_EQ(r.outputs.at("out").values<float>()[i], 0);
    expect_close(r.outputs, norm().reference(call), norm().f32_tolerance);
  }
}

}  // namespace
}  // namespace krait::sweep
