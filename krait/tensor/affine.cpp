#include "krait/tensor/affine.hpp"

#include <algorithm>
#include <charconv>

namespace krait {
namespace {

Affine combine(const Affine& a, const Affine& b, std::int64_t sign) {
  Affine out(a.constant + sign * b.constant);
  std::size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    AffineTerm term;
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].loop < b.terms[j].loop)) {
      term = a.terms[i++];
    } else if (i == a.terms.size() || b.terms[j].loop < a.terms[i].loop) {
      term = {b.terms[j].loop, sign * b.terms[j].coefficient};
      ++j;
    } else {
      term = {a.terms[i].loop, a.terms[i].coefficient + sign * b.terms[j].coefficient};
      ++i, ++j;
    }
    if (term.coefficient != 0) out.terms.push_back(term);
  }
  return out;
}

// A cursor over the text form; every reader returns false and stays usable on a mismatch.
struct Reader {
  std::string_view text;

  void skip_spaces() {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!text.starts_with(token)) return false;
    text.remove_prefix(token.size());
    return true;
  }
  bool number(std::int64_t& value) {
    skip_spaces();
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  }
  bool loop(std::uint16_t& id) {
    std::int64_t value = 0;
    if (!take("i") || !number(value) || value < 0 || value > 0xFFFF) return false;
    id = static_cast<std::uint16_t>(value);
    return true;
  }
};

// Numbers beyond 2^48 address no memory; bounding them keeps sums of hostile text from overflowing.
bool small(const Affine& a) {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  const auto fits = [](std::int64_t v) { return -kMost <= v && v <= kMost; };
  return fits(a.constant) && std::all_of(a.terms.begin(), a.terms.end(),
                                         [&](const AffineTerm& t) { return fits(t.coefficient); });
}

// affine := item (" + " item)*   item := number | number "*i" id
bool read_affine(Reader& reader, Affine& out) {
  do {
    Reader before = reader;
    std::int64_t value = 0;
    if (!reader.number(value)) {
      reader = before;
      return false;
    }
    if (!small(Affine(value)) || !small(out)) return false;
    if (!reader.take("*")) {
      out = out + Affine(value);
      continue;
    }
    std::uint16_t loop = 0;
    if (!reader.loop(loop)) {  // "N*((...) mod ...)": the caller's rotation
      reader = before;
      return small(out);
    }
    out = out + Affine::index(loop) * value;
  } while (reader.take("+"));
  return small(out);
}

}  // namespace

std::pair<std::int64_t, std::int64_t> Affine::range(std::span<const std::int64_t> extents) const {
  std::int64_t low = constant, high = constant;
  for (const AffineTerm& term : terms) {
    const std::int64_t reach = term.coefficient * (extents[term.loop] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

Affine operator+(const Affine& a, const Affine& b) {
  return combine(a, b, 1);
}
Affine operator-(const Affine& a, const Affine& b) {
  return combine(a, b, -1);
}

Affine operator*(const Affine& a, std::int64_t factor) {
  if (factor == 0) return {};
  Affine out = a;
  out.constant *= factor;
  for (AffineTerm& term : out.terms) term.coefficient *= factor;
  return out;
}

std::pair<std::int64_t, std::int64_t> Offset::range(std::span<const std::int64_t> extents) const {
  auto [low, high] = base.range(extents);
  const std::int64_t turns = std::min(modulus - 1, count.range(extents).second);
  if (stride > 0) high += stride * turns;
  if (stride < 0) low += stride * turns;
  return {low, high};
}

std::string to_string(const Affine& affine) {
  std::string out = std::to_string(affine.constant);
  for (const AffineTerm& term : affine.terms)
    out += " + " + std::to_string(term.coefficient) + "*i" + std::to_string(term.loop);
  return out;
}

std::string to_string(const Offset& offset) {
  std::string out = to_string(offset.base);
  if (offset.modulus != 1)
    out += " + " + std::to_string(offset.stride) + "*((" + to_string(offset.count) + ") mod " +
           std::to_string(offset.modulus) + ")";
  return out;
}

std::optional<Offset> parse_offset(std::string_view text) {
  Reader reader{text};
  Offset out;
  if (!read_affine(reader, out.base)) return std::nullopt;
  std::int64_t stride = 0;
  if (reader.number(stride)) {
    if (!small(Affine(stride)) || !reader.take("*") || !reader.take("(") || !reader.take("("))
      return std::nullopt;
    if (!read_affine(reader, out.count) || !reader.take(")") || !reader.take("mod"))
      return std::nullopt;
    if (!reader.number(out.modulus) || !reader.take(")") || out.modulus < 2) return std::nullopt;
    out.stride = stride;
  }
  reader.skip_spaces();
  if (!reader.text.empty()) return std::nullopt;
  return out;
}

}  // namespace krait
