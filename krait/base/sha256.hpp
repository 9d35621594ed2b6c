#pragma once

#include <string>
#include <string_view>

namespace krait {

/// The SHA-256 of bytes in lower-case hexadecimal (FIPS 180-4). For identity, not secrets.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace krait
