#pragma once

// The safetensors file format: 8-byte little-endian header length, JSON header (name -> dtype, shape,
// data_offsets relative to the end of the header), raw little-endian row-major data.

#include <filesystem>
#include <map>
#include <string>

#include "krait/tensor/tensor.hpp"

namespace krait {

struct SafetensorsFile {
  TensorMap tensors;                            // bytes shared with the mapping; no copy
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

/// Maps and checks a file. Every offset is checked against shape, dtype and file size; overlapping or
/// missing ranges, duplicate names and unknown dtypes are refused.
/// @throws UserError that names the file and the tensor, with the offending numbers
[[nodiscard]] SafetensorsFile read_safetensors(const std::filesystem::path& path);
/// The same checks on bytes in memory (`source` names them in messages). The tensors share `bytes`.
[[nodiscard]] SafetensorsFile parse_safetensors(std::shared_ptr<std::byte> bytes, std::size_t size,
                                                const std::string& source);
/// Writes atomically; header padded with spaces to 8 bytes, larger dtypes first, then by name.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace krait
