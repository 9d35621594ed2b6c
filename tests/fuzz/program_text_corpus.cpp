// Writes the seed inputs of fuzz_program_text: every device kernel on every machine, printed, for
// shapes small enough that a seed stays short but with a ragged tail and loops.
//
// Usage: program_text_corpus FOLDER      (default: corpus/program_text beside this source)
// The files are committed; run this again when a kernel or the text form changes.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "krait/ir/text.hpp"
#include "krait/kernels/kernel.hpp"
#include "krait/machine/registry.hpp"

namespace {

using krait::DType;
using krait::kernels::Kernel;
using krait::kernels::Problem;

// 130 rows leave a tail of 2 beside a whole tile of 128.
Problem rmsnorm() {
  Problem p;
  p.inputs["x"] = {DType::kBf16, {130, 24}};
  p.inputs["weight"] = {DType::kF32, {24}};
  return p;
}

// Every optional input, grouped B and C.
Problem scan() {
  Problem p;
  for (const char* name : {"u", "delta", "z"}) p.inputs[name] = {DType::kF32, {2, 4, 9}};
  for (const char* name : {"B", "C"}) p.inputs[name] = {DType::kF32, {2, 2, 2, 9}};
  for (const char* name : {"D", "delta_bias"}) p.inputs[name] = {DType::kF32, {4}};
  p.inputs["A"] = {DType::kF32, {4, 2}};
  p.inputs["initial_state"] = {DType::kF32, {2, 4, 2}};
  p.attrs["delta_softplus"] = true;
  return p;
}

void write(const std::filesystem::path& folder, const Kernel& kernel,
           const krait::MachineSpec& machine) {
  const Problem problem = kernel.op == "selective_scan" ? scan() : rmsnorm();
  const auto program = kernel.build(machine, problem, krait::Params(kernel.params));
  std::ofstream out(folder / (std::string(kernel.name) + "_" + std::string(machine.name())));
  out << krait::ir::print(program);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder =
      argc > 1 ? std::filesystem::path(argv[1])
               : std::filesystem::path(__FILE__).parent_path() / "corpus" / "program_text";
  std::filesystem::create_directories(folder);
  for (const Kernel& kernel : krait::kernels::kernels())
    for (const krait::MachineSpec* machine : krait::machines()) write(folder, kernel, *machine);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "program_text_corpus: %s\n", error.what());
  return 1;
}
