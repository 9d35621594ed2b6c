// Lesson 1: tensors, number formats and files.
//
// A tensor is a dtype, a shape and shared bytes. This lesson makes one, rounds it to bf16, writes
// both to a safetensors file, reads them back without a copy, and looks at an error message.

#include <cmath>
#include <cstdio>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/tensor/safetensors.hpp"

int main() {
  // 1. Two rows of three f32 values, in row-major order.
  const krait::Tensor exact =
      krait::Tensor::f32({2, 3}, std::vector<float>{1.0F, 0.1F, 3.14159F, -2.5F, 1e-3F, 65504.0F});

  // 2. bf16 keeps 8 bits of significand (7 stored), so rounding to nearest moves a value by at most
  //    2^-8 of its size.
  const krait::Tensor rounded = exact.cast(krait::DType::kBf16);

  // 3. Write and read. The reader maps the file: nothing is copied until it is used.
  krait::write_safetensors("lesson1.safetensors", {{"exact", exact}, {"rounded", rounded}},
                           {{"made_by", "lesson 1"}});
  const krait::SafetensorsFile file = krait::read_safetensors("lesson1.safetensors");

  const std::vector<double> a = file.tensors.at("exact").to_f64();
  const std::vector<double> b = file.tensors.at("rounded").to_f64();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(b[i] - a[i]) / std::abs(a[i]);
    std::printf("%12.6g -> %12.6g   relative error %.1e\n", a[i], b[i], error);
    if (error > 0x1p-8) return 1;
  }

  // 4. Mistakes are explained: what, where, what was got, how to fix it.
  try {
    (void)exact.reshaped({4, 2});
  } catch (const krait::UserError& error) {
    std::printf("\n%s\n", error.what());
    return 0;
  }
  return 1;
}
