#include "krait/study/format.hpp"

#include <fmt/format.h>

#include <cmath>

#include "krait/base/text.hpp"

namespace krait::study {

std::string ratio_text(double ratio) {
  if (ratio >= 9.995) return fmt::format("{:.0f}x", ratio);
  if (ratio >= 0.0995 || !(ratio > 0)) return fmt::format("{:.2f}x", ratio);
  return fmt::format("1/{:.0f}", 1 / ratio);  // 0.033x says less than 1/30
}

std::string percent_text(double share) {
  const double percent = share * 100;
  return percent >= 9.95 || percent == 0 ? fmt::format("{:.0f} %", percent)
                                         : fmt::format("{:.1f} %", percent);
}

std::string count_text(std::int64_t count) {
  const std::string digits = std::to_string(count);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool first = i == 0 || digits[i - 1] == '-';
    if (!first && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string bytes_text(double bytes) {
  return human_bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

}  // namespace krait::study
