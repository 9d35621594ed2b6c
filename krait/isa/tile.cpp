#include "krait/isa/tile.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "krait/base/text.hpp"

namespace krait::isa {
namespace {

constexpr std::array<std::string_view, kEngineCount> kEngineNames{"TensorE", "VectorE", "ScalarE",
                                                                  "GpSimdE", "SyncE"};
constexpr std::array<std::string_view, 3> kSpaceNames{"hbm", "sbuf", "psum"};

// A cursor over a tile's text; `ok` turns false at the first mismatch and stays so.
struct Cursor {
  std::string_view text;
  bool ok = true;

  void take(std::string_view token) {
    ok = ok && text.starts_with(token);
    if (ok) text.remove_prefix(token.size());
  }
  bool peek(std::string_view token) const { return ok && text.starts_with(token); }
  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    ok = ok && status == std::errc{};
    if (ok) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  }
  std::string_view until(char stop) {
    const std::size_t end = text.find(stop);
    ok = ok && end != std::string_view::npos;
    if (!ok) return {};
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end);
    return part;
  }
};

bool read_space(Cursor& in, Tile& tile) {
  for (std::size_t s = 0; s < kSpaceNames.size(); ++s) {
    if (!in.peek(kSpaceNames[s])) continue;
    in.take(kSpaceNames[s]);
    tile.space = static_cast<Space>(s);
    return true;
  }
  return false;
}

void read_dims(Cursor& in, Tile& tile) {
  tile.rank = 0;
  in.take("{");
  while (in.ok && !in.peek("}")) {
    if (tile.rank > 0) in.take(",");
    if (tile.rank == kMaxFreeDims) in.ok = false;
    if (!in.ok) return;
    Dim& dim = tile.dims[tile.rank++];
    dim.count = in.number();
    in.take("*");
    dim.step = in.number();
  }
  in.take("}");
}

}  // namespace

std::string_view name(Engine engine) {
  return kEngineNames[static_cast<std::size_t>(engine)];
}

std::optional<Engine> parse_engine(std::string_view text) {
  for (std::size_t i = 0; i < kEngineNames.size(); ++i)
    if (kEngineNames[i] == text) return static_cast<Engine>(i);
  return std::nullopt;
}

std::string_view name(Space space) {
  return kSpaceNames[static_cast<std::size_t>(space)];
}

std::int64_t Tile::span_begin() const {
  std::int64_t low = 0;
  for (std::size_t d = 0; d < rank; ++d)
    low += std::min<std::int64_t>(0, dims[d].step * (dims[d].count - 1));
  return low;
}

std::int64_t Tile::span_end() const {
  std::int64_t high = 1;
  for (std::size_t d = 0; d < rank; ++d)
    high += std::max<std::int64_t>(0, dims[d].step * (dims[d].count - 1));
  return high;
}

bool Tile::contiguous() const {
  return inner_run() == free_size();
}

std::int64_t Tile::inner_run() const {
  std::int64_t run = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (dims[d].count == 1) continue;
    if (dims[d].step != run) break;
    run *= dims[d].count;
  }
  return run;
}

bool Tile::in_range() const {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  const auto small = [](std::int64_t v) { return -kMost <= v && v <= kMost; };
  if (rank < 1 || rank > kMaxFreeDims || !small(offset) || !small(partition_step)) return false;
  std::int64_t elements = 1;
  double reach =
      std::abs(static_cast<double>(partition_step)) * partitions;  // exact enough to compare
  for (std::size_t d = 0; d < rank; ++d) {
    if (!small(dims[d].step) || !small(dims[d].count)) return false;
    if (__builtin_mul_overflow(elements, dims[d].count, &elements) || !small(elements))
      return false;
    reach += std::abs(static_cast<double>(dims[d].step) * static_cast<double>(dims[d].count));
  }
  return reach <= static_cast<double>(kMost);
}

std::int64_t Tile::inner_step() const {
  for (std::size_t d = rank; d-- > 0;)
    if (dims[d].count > 1) return dims[d].step;
  return 1;
}

std::string to_string(const Tile& t, std::string_view symbolic_offset) {
  std::string out = cat(name(t.space), ".", t.buffer, "[");
  out +=
      t.in_hbm() ? cat(t.partitions, "/", t.partition_step) : cat(t.partition, "+", t.partitions);
  out += "]@";
  out += symbolic_offset.empty() ? std::to_string(t.offset) : std::string(symbolic_offset);
  out += cat(":", krait::name(t.dtype), "{");
  for (std::size_t d = 0; d < t.rank; ++d)
    out += cat(d == 0 ? "" : ",", t.dims[d].count, "*", t.dims[d].step);
  return out + "}";
}

std::optional<ParsedTile> parse_tile(std::string_view text) {
  Cursor in{text};
  ParsedTile out;
  Tile& t = out.tile;
  if (!read_space(in, t)) return std::nullopt;
  in.take(".");
  const std::int64_t buffer = in.number();
  if (buffer < 0 || buffer > UINT32_MAX) return std::nullopt;
  t.buffer = static_cast<std::uint32_t>(buffer);
  in.take("[");
  const std::int64_t first = in.number();
  in.take(t.in_hbm() ? "/" : "+");
  const std::int64_t second = in.number();
  const std::int64_t partitions = t.in_hbm() ? first : second;
  if (partitions < 1 || partitions > 0xFFFF || (!t.in_hbm() && (first < 0 || first > 0xFFFF)))
    return std::nullopt;
  t.partitions = static_cast<std::uint16_t>(partitions);
  if (t.in_hbm())
    t.partition_step = second;
  else
    t.partition = static_cast<std::uint16_t>(first);
  in.take("]@");
  out.offset_text = std::string(in.until(':'));
  in.take(":");
  const auto dtype = parse_dtype(in.until('{'));
  if (!in.ok || !dtype) return std::nullopt;
  t.dtype = *dtype;
  read_dims(in, t);
  if (!in.ok || !in.text.empty() || out.offset_text.empty()) return std::nullopt;
  if (const auto constant = parse_int(out.offset_text)) {
    t.offset = *constant;
    out.offset_text.clear();
  }
  if (!t.in_range()) return std::nullopt;
  return out;
}

std::string describe(const Tile& tile) {
  if (!tile.present()) return "none";
  constexpr std::array<std::string_view, 3> kUpper{"HBM", "SBUF", "PSUM"};
  std::string out = cat(kUpper[static_cast<std::size_t>(tile.space)], "[", tile.partitions, " x ");
  for (std::size_t d = 0; d < tile.rank; ++d) out += cat(d == 0 ? "" : "x", tile.dims[d].count);
  return out + cat(" ", krait::name(tile.dtype), "]");
}

std::string describe(const Operand& operand) {
  return operand.is_tile() ? describe(operand.tile) : cat(operand.value);
}

}  // namespace krait::isa
