#pragma once

// The device kernels, one entry each, in kernels.cpp's list. A kernel is a function that builds a
// Program for a problem: which inputs exist, with which shapes and dtypes, and the operator's
// attributes. Its buffers carry the operator's names: inputs "u", "delta", ...; outputs "out",
// "last_state".

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/base/params.hpp"
#include "krait/ir/program.hpp"

namespace krait::kernels {

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
};

struct Problem {
  std::map<std::string, TensorType, std::less<>> inputs;
  Attrs attrs;

  [[nodiscard]] bool has(std::string_view input) const {
    return inputs.find(input) != inputs.end();
  }
  /// @throws UserError if the input is missing
  [[nodiscard]] const TensorType& input(std::string_view name) const;
};

enum class Form : std::uint8_t { kNaive, kCustom };  // its place in the map

struct Kernel {
  std::string_view name;  // "scan_hardware"
  std::string_view op;    // "selective_scan"
  Form form;
  std::string_view summary;       // one line: what it does and what bounds it
  std::vector<ParamSpec> params;  // tuning; shapes come from the operator
  /// @throws UserError where the kernel refuses the problem (by name, with the remedy)
  ir::Program (*build)(const MachineSpec& machine, const Problem& problem, const Params& params);
};

/// All kernels, in list order.
[[nodiscard]] std::span<const Kernel> kernels();
/// By name. @throws UserError with the nearest names
[[nodiscard]] const Kernel& find_kernel(std::string_view name);

}  // namespace krait::kernels
