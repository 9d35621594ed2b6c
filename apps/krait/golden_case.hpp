#pragma once

// Golden cases: a sidecar F.json beside its data F.safetensors; layout in tests/golden/README.md.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/ops/operator.hpp"

namespace krait::app {

struct GoldenCase {
  std::string name, group;
  const ops::Operator* op = nullptr;  // nullptr: no operator has this group; the rest is then empty
  ops::Call call;      // "in." and "param.", and the attributes that the operator knows
  TensorMap expected;  // "out."
  ops::Tolerance f64, f32;
};

/// The sidecars that a path stands for, sorted: the file itself (either of the pair), or every
/// .json below a folder but index.json, and every .safetensors without one.
/// @throws UserError if there is no such path or nothing in it
[[nodiscard]] std::vector<std::filesystem::path> find_sidecars(const std::filesystem::path& path);

/// Reads a case and checks it: keys, kinds, the data's size and SHA-256 if the sidecar gives them,
/// names of tensors, and that the tensors and attributes make a call of the operator.
/// @throws UserError that says what is wrong with the sidecar or the data
[[nodiscard]] GoldenCase load_case(const std::filesystem::path& sidecar);

/// "in.u" -> {"in", "u"}; no known prefix: {"", name}.
struct PrefixedName {
  std::string_view prefix, rest;
};
[[nodiscard]] PrefixedName split_prefix(std::string_view name);

}  // namespace krait::app
