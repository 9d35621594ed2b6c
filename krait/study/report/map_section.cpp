#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "krait/base/text.hpp"
#include "krait/study/format.hpp"
#include "krait/study/report/sections.hpp"

namespace krait::study::report {
namespace {

/// Signs beside the colours, so that no meaning rests on colour alone.
std::string_view sign(const Entry& e) {
  if (!e.verdict) return "&#9675;";
  constexpr std::array<std::string_view, 4> kSigns{"&#9670;", "&#9650;", "&#9679;", "&#9660;"};
  return kSigns[static_cast<std::size_t>(*e.verdict)];
}

std::string_view verdict_class(const Entry& e) {
  return e.verdict ? name(*e.verdict) : "none";
}
std::string_view origin(const Entry& e) {
  return e.measured ? "measured" : "predicted";
}

std::string linked_time(const VariantResult* v) {
  return v == nullptr ? std::string("none") : job_link(v->key, human_time(v->result.time_ns));
}

std::string times_list(const Entry& e) {
  const auto line = [](std::string_view role, const VariantResult* v) {
    if (v == nullptr) return std::string();
    return cat("<dt>", role, "</dt><dd>", linked_time(v), " <span>", escape(v->name),
               "</span></dd>");
  };
  return cat("<dl class=\"times\">", line("naive", e.naive ? &e.variants[*e.naive] : nullptr),
             line("compiler", e.compiler ? &e.variants[*e.compiler] : nullptr),
             e.measured ? "" : "<dt>compiler</dt><dd>none yet</dd>",
             line("custom", e.best_variant()), "</dl>");
}

std::string tile(const Entry& e, std::size_t index) {
  const VariantResult* best = e.best_variant();
  std::string out =
      cat("<article class=\"tile ", verdict_class(e), ' ', origin(e), "\" id=\"entry-", index,
          "\">\n<header><b>", escape(e.machine), "</b><i>", origin(e), ", ", escape(e.context),
          "</i></header>\n<p class=\"verdict\"><span>", sign(e), ' ',
          e.verdict ? name(*e.verdict) : "no verdict", "</span>");
  if (e.factor && best != nullptr)
    out += cat(" <strong>", job_link(best->key, ratio_text(*e.factor)), "</strong>");
  out += "</p>\n";
  if (e.factor)
    out += cat("<p class=\"band\">band &#177;", percent_text(e.band), ", ", escape(e.band_note),
               "</p>\n");
  out += times_list(e) + "\n";
  out += cat("<p class=\"cause\">", escape(e.cause), "</p>\n<p class=\"jobs\">jobs");
  for (const VariantResult& v : e.variants) out += cat(" ", job_link(v.key));
  return out + "</p>\n</article>\n";
}

std::string column_of(const Entry& e) {
  return cat(e.machine, e.measured ? " (measured)" : "");
}

std::string machines_row(const Map& map, std::vector<std::string>& machines) {
  std::string out;
  for (const Entry& e : map.entries) {
    const std::string column = column_of(e);
    if (std::find(machines.begin(), machines.end(), column) != machines.end()) continue;
    machines.push_back(column);
    out += cat("<th scope=\"col\">", escape(e.machine), "<br><i>", origin(e), "</i></th>");
  }
  return out;
}

/// How strong a cell's colour is, 0 to 1: a factor of 8 either way is full.
double strength(const Entry& e) {
  return e.factor ? std::min(1.0, std::abs(std::log(*e.factor)) / std::log(8.0)) : 0.5;
}

std::string heat_cell(const Entry& e, std::size_t index) {
  const int percent = static_cast<int>(std::lround(12 + 30 * strength(e)));
  const std::string word(e.verdict ? name(*e.verdict) : "no verdict");
  return cat("<td class=\"", verdict_class(e), ' ', origin(e), "\" style=\"--strength:", percent,
             "%\"><a href=\"#entry-", index, "\"><b>", e.factor ? ratio_text(*e.factor) : "-",
             "</b><span>", sign(e), ' ', word, "</span></a></td>");
}

/// Rows of shapes, columns of machines: the whole map at a glance.
std::string heat_table(const Map& map) {
  std::vector<std::string> columns;
  std::string out =
      "<div class=\"scroll\"><table class=\"heat\">\n<thead><tr><th scope=\"col\">operator</th>" +
      machines_row(map, columns) + "</tr></thead>\n<tbody>\n";
  for (const std::string& title : titles(map)) {
    out += cat("<tr><th scope=\"row\">", escape(title), "</th>");
    for (const std::string& column : columns) {
      std::string cell = "<td></td>";
      for (std::size_t i = 0; i < map.entries.size(); ++i)
        if (map.entries[i].title() == title && column_of(map.entries[i]) == column)
          cell = heat_cell(map.entries[i], i);
      out += cell;
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

constexpr std::string_view kLegend =
    "<p class=\"legend\">"
    "<span class=\"key wins\">&#9650; wins</span> "
    "<span class=\"key ties\">&#9679; ties</span> "
    "<span class=\"key loses\">&#9660; loses</span> "
    "<span class=\"key necessary\">&#9670; necessary</span> "
    "<span class=\"key measured\">measured: clocks of real hardware</span> "
    "<span class=\"key predicted\">predicted: simulated</span></p>\n";

std::size_t count_verdict(const Map& map, Verdict verdict) {
  std::size_t n = 0;
  for (const Entry& e : map.entries) n += e.verdict == verdict;
  return n;
}

std::string summary(const Map& map) {
  std::vector<std::string> parts;
  for (const auto& [verdict, one, many] :
       {std::tuple{Verdict::kWins, "win", "wins"}, std::tuple{Verdict::kTies, "tie", "ties"},
        std::tuple{Verdict::kLoses, "loss", "losses"},
        std::tuple{Verdict::kNecessary, "necessity", "necessities"}})
    if (const std::size_t n = count_verdict(map, verdict); n > 0)
      parts.push_back(cat(n, ' ', n == 1 ? one : many));
  const std::size_t n = map.entries.size();
  return cat(n, n == 1 ? " comparison" : " comparisons", parts.empty() ? "" : ": ",
             join(parts, ", "), ".");
}

std::string tables_text(const Map& map) {
  std::set<std::string> tables;
  for (const JobRow& job : map.jobs)
    if (!job.spec.table_hash.empty())
      tables.insert(job.spec.machine + " " + job.spec.table_hash.substr(0, 8));
  const std::vector<std::string> list(tables.begin(), tables.end());
  return list.empty() ? "none" : join(list, ", ");
}

std::string fact(std::string_view term, std::string_view value) {
  return cat("<div><dt>", term, "</dt><dd>", escape(value), "</dd></div>");
}

}  // namespace

std::string header_section(const Map& map) {
  const Campaign& s = map.campaign;
  return cat(
      "<header class=\"page\">\n<p class=\"eyebrow\">Krait map &#183; preset ", escape(s.preset),
      "</p>\n<h1>Where a hand-written kernel pays</h1>\n<p class=\"lede\">", summary(map),
      " A factor is the better of the naive and the compiler's form over the best hand-written "
      "kernel whose result is right. Predicted entries have no compiler's form yet: theirs is over "
      "the naive kernel.</p>\n<dl class=\"facts\">",
      fact("run", s.started), fact("krait", s.version), fact("commit", s.commit),
      fact("this CPU", s.cpu), fact("machine tables", tables_text(map)),
      "</dl>\n<nav><a href=\"#map\">Map</a> <a href=\"#charts\">Speed-ups and rooflines</a> "
      "<a href=\"#published\">Published</a> <a href=\"#entries\">Entries</a> "
      "<a href=\"#engines\">Engines</a> <a href=\"#jobs\">Jobs</a></nav>\n</header>\n");
}

std::string map_section(const Map& map) {
  return cat(
      "<section id=\"map\">\n<h2>The map</h2>\n"
      "<p>How many times faster the best hand-written kernel is than the baseline. "
      "Each cell leads to its times, its cause and its jobs.</p>\n",
      kLegend, heat_table(map), "</section>\n");
}

std::string entries_section(const Map& map) {
  std::string out = "<section id=\"entries\">\n<h2>Entries and their causes</h2>\n";
  for (const std::string& title : titles(map)) {
    out += cat("<h3>", escape(title), "</h3>\n<div class=\"tiles\">\n");
    for (std::size_t i = 0; i < map.entries.size(); ++i)
      if (map.entries[i].title() == title) out += tile(map.entries[i], i);
    out += "</div>\n";
  }
  return out + "</section>\n";
}

}  // namespace krait::study::report
