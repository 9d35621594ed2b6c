#pragma once

// The JSON header of a safetensors file, as written: syntax and types are checked here, meaning
// (dtypes, offsets against sizes) in safetensors.cpp. Internal to the tensor layer, not installed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "krait/tensor/tensor.hpp"

namespace krait::detail {

struct HeaderEntry {
  std::string name;
  std::string dtype;
  Shape shape;
  std::array<std::uint64_t, 2> offsets{};  // [begin, end) in the data section

  [[nodiscard]] std::uint64_t begin() const { return offsets[0]; }
  [[nodiscard]] std::uint64_t end() const { return offsets[1]; }
};

struct Header {
  std::vector<HeaderEntry> entries;             // in file order
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

/// @throws UserError naming `source`, the tensor and the offending text
[[nodiscard]] Header parse_header(std::string_view json, const std::string& source);

/// The inverse, without padding. @throws UserError if a text is not UTF-8
[[nodiscard]] std::string format_header(const Header& header, const std::string& source);

/// A name from the file, safe to print: in single quotes, bytes outside printable ASCII as \xNN,
/// shortened to about 80 characters.
[[nodiscard]] std::string printable(std::string_view text);

/// "FILE, tensor 'NAME'"
[[nodiscard]] std::string tensor_place(const std::string& source, std::string_view tensor);

}  // namespace krait::detail
