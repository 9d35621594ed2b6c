#pragma once

// Files: whole reads, and writes that are either complete or absent.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace krait {

/// Reads a whole file. @throws UserError naming the path and the system's reason
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Writes bytes to a temporary file beside `path`, flushes it to disk and renames it over `path`.
/// A link stays one, its target is replaced; a device or pipe (/dev/stdout) is written in place.
/// @throws UserError naming the path and the reason; a file at `path` is then unchanged and no
/// temporary is left
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);
/// The same for bytes given in parts, written one after the other.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts);
/// Finds out now what write_file_atomically would refuse later, after long work. Leaves nothing.
/// @throws UserError naming the path and the reason
void check_can_write(const std::filesystem::path& path);

}  // namespace krait
