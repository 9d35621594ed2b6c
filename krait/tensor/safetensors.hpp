#pragma once

// The safetensors file format: 8-byte little-endian header length, JSON header (name -> dtype,
// shape, data_offsets relative to the end of the header), raw little-endian row-major data.
//
// A reader here trusts nothing. The header must be one JSON object of at most 100,000,000 bytes
// (the limit of the reference reader) that starts with '{'; entries have exactly dtype, shape and
// data_offsets; shapes have at most 64 dimensions; the ranges of all tensors, in order of their
// offsets, must tile the data without hole or overlap, each with the bytes of its shape and dtype.
// Source: docs/sources.md, SAFETENSORS (format description and reference reader).

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "krait/tensor/tensor.hpp"

namespace krait {

struct SafetensorsFile {
  TensorMap tensors;                            // bytes shared with the mapping; no copy, see below
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

/// Maps and checks a file. Every offset is checked against shape, dtype and file size; overlapping
/// or missing ranges, duplicate names and unknown dtypes are refused. The tensors keep the mapping
/// alive; one whose bytes do not lie at a multiple of its element size, and only such a one, is
/// copied. The file must not shrink while tensors of it live: the system answers access past the
/// end of a mapped file with SIGBUS. Replacing the file by rename, as write_safetensors does, is
/// safe.
/// @throws UserError that names the file and the tensor, with the offending numbers
[[nodiscard]] SafetensorsFile read_safetensors(const std::filesystem::path& path);
/// The same checks on bytes in memory (`source` names them in messages). The tensors share `bytes`.
[[nodiscard]] SafetensorsFile parse_safetensors(const std::shared_ptr<std::byte>& bytes,
                                                std::size_t size, const std::string& source);
/// Writes atomically; header padded with spaces to 8 bytes, larger dtypes first, then by name.
/// @throws UserError if a dtype has no name in the format, a name or metadata text is not UTF-8, a
/// tensor is named "__metadata__" or was default-constructed, or the file cannot be written
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace krait
