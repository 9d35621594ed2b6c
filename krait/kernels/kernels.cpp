#include <string>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/kernels/kernel.hpp"

namespace krait::kernels {

#define KRAIT_KERNEL(entry) Kernel entry();
#include "krait/kernels/kernel_list.inc"
#undef KRAIT_KERNEL

std::span<const Kernel> kernels() {
  static const std::vector<Kernel> kAll{
#define KRAIT_KERNEL(entry) entry(),
#include "krait/kernels/kernel_list.inc"
#undef KRAIT_KERNEL
  };
  return kAll;
}

const Kernel& find_kernel(std::string_view name) {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels()) {
    if (kernel.name == name) return kernel;
    names.emplace_back(kernel.name);
  }
  throw UserError(Report{cat("no kernel is called '", name, "'"), {}, {}, suggest(name, names)});
}

const TensorType& Problem::input(std::string_view name) const {
  const auto found = inputs.find(name);
  if (found == inputs.end())
    throw UserError(Report{cat("input '", name, "' is missing"),
                           "device kernel",
                           {},
                           cat("pass a tensor named ", name)});
  return found->second;
}

}  // namespace krait::kernels
