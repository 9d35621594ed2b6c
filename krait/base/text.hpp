#pragma once

// Small text helpers: concatenation, name suggestions, human-readable quantities.

#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace krait {

/// Concatenates the arguments as operator<< prints them.
template <class... Args>
[[nodiscard]] std::string cat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

/// Joins items with a separator.
[[nodiscard]] std::string join(std::span<const std::string> items, std::string_view separator);

/// Splits at every occurrence of a separator; empty parts are kept.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// Parses a whole string as a decimal integer; nothing if a character is left or it overflows.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);

/// Parses a whole string as a finite or infinite floating-point number.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);

/// The candidates nearest to a misspelled name (edit distance at most about a third of its length),
/// best first, at most three.
[[nodiscard]] std::vector<std::string> nearest(std::string_view name,
                                               std::span<const std::string> candidates);

/// "did you mean 'a' or 'b'?", or "known: a, b, c" if nothing is near.
[[nodiscard]] std::string suggest(std::string_view name, std::span<const std::string> candidates);

/// "1.50 us", "2.30 ms": a time given in nanoseconds, three significant digits.
[[nodiscard]] std::string human_time(double ns);

/// "1.5 KiB", "24 MiB": a byte count.
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

/// The shortest decimal of three significant digits: "1.23e-07", "0.5", "inf".
[[nodiscard]] std::string short_number(double value);

/// Words broken into lines of at most `width` characters, of which `indent` spaces in front; a
/// longer word has a line of its own.
[[nodiscard]] std::string wrapped(std::string_view text, int indent, int width);

}  // namespace krait
