#pragma once

// Numbers as people read them.

#include <cstdint>
#include <string>

namespace krait::study {

[[nodiscard]] std::string ratio_text(double ratio);        // "1.57x", "0.031x", "24x"
[[nodiscard]] std::string percent_text(double share);      // "92 %", "0.4 %"
[[nodiscard]] std::string count_text(std::int64_t count);  // "18,944"
[[nodiscard]] std::string bytes_text(double bytes);        // "16.0 MiB"

}  // namespace krait::study
