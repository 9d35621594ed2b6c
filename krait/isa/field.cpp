#include "krait/isa/field.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "krait/base/text.hpp"

namespace krait::isa {
namespace {

constexpr std::array<std::string_view, 5> kRings{"sync", "scalar", "gpsimd", "vector", "tensor"};
constexpr std::array<std::string_view, 3> kModes{"static", "software", "hardware"};
constexpr std::array<std::string_view, 6> kReduceCmds{"default", "idle",         "reset",
                                                      "reduce",  "reset_reduce", "load_reduce"};

template <class E, std::size_t N>
bool parse_enum(const std::array<std::string_view, N>& names, std::string_view text, E& value) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] != text) continue;
    value = static_cast<E>(i);
    return true;
  }
  return false;
}

template <class T>
bool assign(const std::optional<T>& parsed, T& value) {
  if (parsed) value = *parsed;
  return parsed.has_value();
}

}  // namespace

std::string attr_text(AluOp value) {
  return std::string(name(value));
}
std::string attr_text(UnaryFn value) {
  return std::string(krait::name(value));
}
std::string attr_text(Engine value) {
  return std::string(name(value));
}
std::string attr_text(DmaRing value) {
  return std::string(kRings[static_cast<std::size_t>(value)]);
}
std::string attr_text(DgeMode value) {
  return std::string(kModes[static_cast<std::size_t>(value)]);
}
std::string attr_text(bool value) {
  return value ? "true" : "false";
}
std::string attr_text(std::int32_t value) {
  return std::to_string(value);
}

std::string attr_text(float value) {
  char buffer[32];  // the shortest text that reads back to the same bits
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

std::string attr_text(const IotaPattern& p) {
  std::string out = cat("(", p.offset, ",", p.multiplier);
  for (std::size_t d = 0; d < p.rank && d < kMaxFreeDims; ++d)
    out += cat(",", p.dims[d].count, "*", p.dims[d].step);
  return out + ")";
}

std::string attr_text(ReduceCmd value) {
  return std::string(kReduceCmds[static_cast<std::size_t>(value)]);
}

std::string attr_text(const ShuffleMask& mask) {
  std::string out;
  for (const std::uint8_t lane : mask.lane) out += cat(out.empty() ? "(" : ",", int{lane});
  return out + ")";
}

bool parse_attr(std::string_view text, AluOp& value) {
  return assign(parse_alu_op(text), value);
}
bool parse_attr(std::string_view text, UnaryFn& value) {
  return assign(parse_unary_fn(text), value);
}
bool parse_attr(std::string_view text, Engine& value) {
  return assign(parse_engine(text), value);
}
bool parse_attr(std::string_view text, DmaRing& value) {
  return parse_enum(kRings, text, value);
}
bool parse_attr(std::string_view text, DgeMode& value) {
  return parse_enum(kModes, text, value);
}

bool parse_attr(std::string_view text, ReduceCmd& value) {
  return parse_enum(kReduceCmds, text, value);
}

bool parse_attr(std::string_view text, ShuffleMask& value) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  const auto parts = split(text.substr(1, text.size() - 2), ',');
  if (parts.size() != value.lane.size()) return false;
  for (std::size_t j = 0; j < parts.size(); ++j) {
    const auto lane = parse_int(parts[j]);
    if (!lane || *lane < 0 || *lane > 255) return false;
    value.lane[j] = static_cast<std::uint8_t>(*lane);
  }
  return true;
}

bool parse_attr(std::string_view text, bool& value) {
  value = text == "true";
  return value || text == "false";
}

bool parse_attr(std::string_view text, float& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

bool parse_attr(std::string_view text, std::int32_t& value) {
  const auto parsed = parse_int(text);
  if (!parsed || *parsed < INT32_MIN || *parsed > INT32_MAX) return false;
  value = static_cast<std::int32_t>(*parsed);
  return true;
}

bool parse_attr(std::string_view text, IotaPattern& value) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  const auto parts = split(text.substr(1, text.size() - 2), ',');
  if (parts.size() < 3 || parts.size() > 2 + kMaxFreeDims) return false;
  if (!parse_attr(parts[0], value.offset) || !parse_attr(parts[1], value.multiplier)) return false;
  value.rank = static_cast<std::uint8_t>(parts.size() - 2);
  for (std::size_t d = 0; d < value.rank; ++d) {
    const auto pair = split(parts[d + 2], '*');
    const auto count = parse_int(pair[0]);
    const auto step = pair.size() == 2 ? parse_int(pair[1]) : std::nullopt;
    if (!count || !step) return false;
    value.dims[d] = {*step, *count};
  }
  return true;
}

}  // namespace krait::isa
