#include "krait/study/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "krait/base/text.hpp"
#include "krait/study/format.hpp"

namespace krait::study {
namespace {

constexpr std::size_t kColumns = 100;

/// Words broken at `kColumns`; continuation lines are indented as the first.
std::string wrap(std::string_view text, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string out = margin;
  std::size_t column = indent;
  for (const std::string& word : split(text, ' ')) {
    const bool first = column == indent;
    if (!first && column + 1 + word.size() > kColumns) {
      out += cat('\n', margin);
      column = indent;
    } else if (!first) {
      out.push_back(' ');
      ++column;
    }
    out.append(word);
    column += word.size();
  }
  out.push_back('\n');
  return out;
}

std::string time_of(const Entry& e, std::optional<std::size_t> index) {
  return index ? human_time(e.variants[*index].result.time_ns) : "-";
}

std::string entry_line(const Entry& e) {
  const VariantResult* best = e.best_variant();
  const std::string factor =
      e.factor ? fmt::format("{} +-{}", ratio_text(*e.factor), percent_text(e.band)) : "-";
  return fmt::format("  {:<5} {:<9} {:>9} {:>9} {:>9}  {:<24} {:<14} {}\n", e.machine,
                     e.measured ? "measured" : "predicted", time_of(e, e.naive),
                     time_of(e, e.compiler), time_of(e, e.best), best ? best->name : "-", factor,
                     e.verdict ? name(*e.verdict) : "no verdict");
}

std::string entries_text(const Map& map) {
  std::string out = fmt::format("  {:<5} {:<9} {:>9} {:>9} {:>9}  {:<24} {:<14} {}\n", "", "",
                                "naive", "compiler", "custom", "best custom", "factor", "verdict");
  // Entries of one operator and shape stand together, in the order of their first.
  std::vector<std::string> titles;
  for (const Entry& e : map.entries)
    if (std::find(titles.begin(), titles.end(), e.title()) == titles.end())
      titles.push_back(e.title());
  for (const std::string& title : titles) {
    out += cat("\n", title, "\n");
    for (const Entry& e : map.entries)
      if (e.title() == title) out += entry_line(e) + wrap(e.cause, 8);
  }
  return out;
}

std::string published_text(const Map& map) {
  if (map.published.empty()) return {};
  std::string out = "\nPublished figures beside ours\n";
  for (const Published& p : map.published) {
    out += cat("\n", wrap(p.what, 2), wrap(cat("published  ", p.published), 4),
               wrap(cat("ours       ", p.ours), 4));
    if (!p.reason.empty()) out += wrap(cat("reason     ", p.reason), 4);
  }
  return out;
}

}  // namespace

std::string map_text(const Map& map) {
  std::string out = cat(
      "krait map, preset ", map.campaign.preset, ", ", map.campaign.started, ", krait ",
      map.campaign.version, ", commit ", map.campaign.commit, "\n", "cpu: ", map.campaign.cpu, "\n",
      "Times of trn1, trn2 and trn3 are predicted by simulation unless a line says "
      "measured.\n\n");
  return out + entries_text(map) + published_text(map);
}

}  // namespace krait::study
