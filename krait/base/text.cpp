#include "krait/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <utility>

namespace krait {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string scaled(double value, std::span<const std::pair<double, const char*>> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && value >= units[unit + 1].first) ++unit;
  const double shown = value / units[unit].first;
  char buffer[48];
  const int digits = shown >= 100 ? 0 : shown >= 10 ? 1 : 2;
  std::snprintf(buffer, sizeof buffer, "%.*f %s", digits, shown, units[unit].second);
  return buffer;
}

}  // namespace

std::string join(std::span<const std::string> items, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator;
    out += items[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> candidates) {
  std::vector<std::pair<std::size_t, std::string>> scored;
  const std::size_t limit = std::max<std::size_t>(2, name.size() / 3);
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(name, candidate);
    const bool prefix = name.size() >= 3 && candidate.starts_with(name);
    if (prefix) distance = 1;
    // Replacing every letter of a short name makes anything of it; that is no likeness.
    if (distance <= limit && distance < name.size()) scored.emplace_back(distance, candidate);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < scored.size() && i < 3; ++i) out.push_back(scored[i].second);
  return out;
}

std::string suggest(std::string_view name, std::span<const std::string> candidates) {
  std::vector<std::string> near = nearest(name, candidates);
  if (near.empty()) return "known: " + join(candidates, ", ");
  for (std::string& item : near) item = cat("'", item, "'");
  return "did you mean " + join(near, " or ") + "?";
}

std::string human_time(double ns) {
  static constexpr std::pair<double, const char*> kUnits[] = {
      {1.0, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  return scaled(ns, kUnits);
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::pair<double, const char*> kUnits[] = {
      {1.0, "B"}, {1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}};
  return scaled(static_cast<double>(bytes), kUnits);
}

std::string short_number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", value);
  return buffer;
}

std::string wrapped(std::string_view text, int indent, int width) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const auto limit = static_cast<std::size_t>(std::max(width - indent, 1));
  std::string out, line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.size() + 1 + word.size() > limit) {
      out += margin + line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return out + (line.empty() ? "" : margin + line + "\n");
}

}  // namespace krait
