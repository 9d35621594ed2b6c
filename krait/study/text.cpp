#include "krait/study/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "krait/base/text.hpp"
#include "krait/study/format.hpp"

namespace krait::study {
namespace {

// 73 columns; the cause below names the best variant.
constexpr const char* kRow = "  {:<5} {:<9} {:>9} {:>9} {:>9}  {:<14} {}\n";

std::string time_of(const Entry& e, std::optional<std::size_t> index) {
  return index ? human_time(e.variants[*index].result.time_ns) : "-";
}

std::string entry_line(const Entry& e) {
  const std::string factor =
      e.factor ? fmt::format("{} +-{}", ratio_text(*e.factor), percent_text(e.band)) : "-";
  return fmt::format(kRow, e.machine, e.measured ? "measured" : "predicted", time_of(e, e.naive),
                     time_of(e, e.compiler), time_of(e, e.best), factor,
                     e.verdict ? name(*e.verdict) : "no verdict");
}

std::string entries_text(const Map& map, int width) {
  std::string out = fmt::format(kRow, "", "", "naive", "compiler", "custom", "factor", "verdict");
  // Entries of one operator and shape stand together, in the order of their first.
  std::vector<std::string> titles;
  for (const Entry& e : map.entries)
    if (std::find(titles.begin(), titles.end(), e.title()) == titles.end())
      titles.push_back(e.title());
  for (const std::string& title : titles) {
    out += cat("\n", title, "\n");
    for (const Entry& e : map.entries)
      if (e.title() == title) out += entry_line(e) + wrapped(e.cause, 8, width);
  }
  return out;
}

std::string published_text(const Map& map, int width) {
  if (map.published.empty()) return {};
  std::string out = "\nPublished figures beside ours\n";
  for (const Published& p : map.published) {
    out += cat("\n", wrapped(p.what, 2, width), wrapped(cat("published  ", p.published), 4, width),
               wrapped(cat("ours       ", p.ours), 4, width));
    if (!p.reason.empty()) out += wrapped(cat("reason     ", p.reason), 4, width);
  }
  return out;
}

}  // namespace

std::string map_text(const Map& map, int width) {
  const Campaign& c = map.campaign;
  const std::string head = cat("krait map, preset ", c.preset, ", ", c.started, ", krait ",
                               c.version, ", commit ", c.commit);
  return cat(
      wrapped(head, 0, width), wrapped(cat("cpu: ", c.cpu), 0, width),
      wrapped("Times of trn1, trn2 and trn3 are predicted by simulation unless a line says "
              "measured. They have no compiler's form yet: their baseline is the naive kernel.",
              0, width),
      "\n", entries_text(map, width), published_text(map, width));
}

}  // namespace krait::study
