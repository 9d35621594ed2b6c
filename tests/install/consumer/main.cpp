// Writes a tensor with an installed Krait, reads it back and prints it.

#include <cstdio>
#include <string>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/tensor/safetensors.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const krait::Tensor t = krait::Tensor::f32({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  krait::write_safetensors(argv[1], {{"t", t.cast(krait::DType::kBf16)}});
  const krait::Tensor read = krait::read_safetensors(argv[1]).tensors.at("t");
  std::printf("t = %s %s:", krait::to_string(read.shape()).c_str(),
              std::string(krait::name(read.dtype())).c_str());
  for (const double value : read.to_f64()) std::printf(" %g", value);
  std::printf("\n");
  try {
    (void)krait::read_safetensors("absent");  // exceptions cross the border of the library
  } catch (const krait::UserError&) {
    return 0;
  }
  return 1;
}
