// krait fidelity [CSV]: predicted against published times.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/krait/command.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/study/fidelity/fidelity.hpp"

namespace krait::app {
namespace {

using study::Band;
using study::Fidelity;
using study::FidelityRow;
using study::OrderedPair;

// Order within an engine is the program's: there is no pass that reorders.
constexpr bool kScheduling = false;

struct Options {
  std::string csv;  // empty: the rows that ship with the program
  study::FidelityFilter filter;
};

std::string number3(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f", value);
  return buffer;
}

std::string percent(double share) {
  return cat(short_number(share * 100), " %");
}

// --- JSON ---

Json row_json(const FidelityRow& row) {
  Json assumed = Json::array(), values = Json::array();
  for (const ValueRow& value : row.values) {
    values.push_back(value.name);
    if (value.source.evidence == Evidence::kAssumed) assumed.push_back(value.name);
  }
  Json json;
  json["id"] = row.id;
  json["kind"] = row.kind;
  json["family"] = row.family;
  json["generation"] = row.generation;
  json["published_us"] = row.published_us;
  json["predicted_us"] = row.predicted_us;
  json["ratio"] = row.ratio();
  json["statistic"] = row.statistic;
  json["reading"] = row.reading;
  json["evidence"] = row.marks();
  json["values"] = values;
  json["assumed"] = assumed;
  json["scheduling"] = kScheduling;
  json["calibration"] = row.calibration;
  json["note"] = row.note;
  return json;
}

Json band_json(const Band& band) {
  Json json;
  json["kind"] = band.kind;
  json["family"] = band.family.empty() ? Json() : Json(band.family);
  json["generation"] = band.generation;
  json["count"] = band.count;
  json["median_error"] = band.median_error ? Json(*band.median_error) : Json();
  json["p90_error"] = band.p90_error ? Json(*band.p90_error) : Json();
  return json;
}

Json pairs_json(const Fidelity& f) {
  Json list = Json::array();
  for (const OrderedPair& pair : f.pairs)
    list.push_back({{"problem", pair.problem},
                    {"generation", pair.generation},
                    {"faster", pair.faster},
                    {"slower", pair.slower},
                    {"published_ratio", pair.published_ratio},
                    {"predicted_ratio", pair.predicted_ratio},
                    {"right", pair.right()}});
  return {{"right", f.right_pairs()}, {"total", f.pairs.size()}, {"list", std::move(list)}};
}

std::string fidelity_json(const Fidelity& f) {
  Json json;
  json["rows"] = Json::array();
  for (const FidelityRow& row : f.rows) json["rows"].push_back(row_json(row));
  json["kinds"] = Json::array();
  for (const Band& band : f.bands) json["kinds"].push_back(band_json(band));
  json["pairs"] = pairs_json(f);
  json["not_expressed"] = Json::array();
  for (const study::NotExpressed& row : f.not_expressed)
    json["not_expressed"].push_back({{"id", row.id},
                                     {"kind", row.kind},
                                     {"generation", row.generation},
                                     {"reason", row.reason}});
  return document(json);
}

// --- text ---

std::string rows_text(const Fidelity& f, const std::string& kind) {
  TextTable table({"row", "on", "publ. us", "ours us", "ratio", "reading", "marks", "of"});
  for (const FidelityRow& row : f.rows)
    if (row.kind == kind)
      table.add({row.id, row.generation, number3(row.published_us), number3(row.predicted_us),
                 number3(row.ratio()), row.reading, row.marks(), row.family});
  return cat(kind, "\n", table.text(), "\n");
}

/// A table for each kind, in the order of the rows.
std::string rows_text(const Fidelity& f) {
  std::string out;
  std::vector<std::string> seen;
  for (const FidelityRow& row : f.rows) {
    if (std::find(seen.begin(), seen.end(), row.kind) != seen.end()) continue;
    seen.push_back(row.kind);
    out += rows_text(f, row.kind);
  }
  return out;
}

/// Kinds with rows, each generation, no data named as such.
std::string bands_text(const Fidelity& f) {
  std::map<std::string, std::size_t> rows;  // of a kind
  for (const Band& band : f.bands) rows[band.kind] += band.count;
  TextTable table({"kind", "of", "on", "rows", "median error", "90th percentile"});
  std::string without;
  for (const Band& band : f.bands) {
    if (rows[band.kind] == 0) {
      if (!without.ends_with(" " + band.kind + ",")) without += " " + band.kind + ",";
      continue;
    }
    const std::string of = band.family.empty() ? "all" : band.family;
    if (band.count == 0)
      table.add({band.kind, of, band.generation, "0", "no band", ""});
    else
      table.add({band.kind, of, band.generation, cat(band.count), percent(*band.median_error),
                 percent(*band.p90_error)});
  }
  std::string out = table.text();
  if (!without.empty()) {
    without.pop_back();
    out += wrapped(cat("no band, no row compared:", without), 0, output_width());
  }
  return out;
}

std::string pairs_text(const Fidelity& f) {
  const std::string out = wrapped(
      cat("order of two variants of one problem, published more than 15 % apart: ", f.right_pairs(),
          " of ", f.pairs.size(), " right"),
      0, output_width());
  TextTable table({"problem", "on", "faster", "slower", "publ.", "ours", ""});
  for (const OrderedPair& pair : f.pairs)
    table.add({pair.problem, pair.generation, pair.faster, pair.slower,
               cat(number3(pair.published_ratio), "x"), cat(number3(pair.predicted_ratio), "x"),
               pair.right() ? "right" : "WRONG"});
  return f.pairs.empty() ? out : out + table.text();
}

struct Reason {
  std::string text;
  std::vector<std::string> ids;
  std::map<std::string, int> kinds;
};

/// In the order met.
std::vector<Reason> reasons(const Fidelity& f) {
  std::vector<Reason> out;
  for (const study::NotExpressed& row : f.not_expressed) {
    const auto found =
        std::find_if(out.begin(), out.end(), [&](const Reason& r) { return r.text == row.reason; });
    Reason& reason = found == out.end() ? out.emplace_back() : *found;
    reason.text = row.reason;
    reason.ids.push_back(row.id);
    ++reason.kinds[row.kind];
  }
  return out;
}

/// Long lists by kind; --json has every row.
std::string not_expressed_text(const Fidelity& f) {
  constexpr std::size_t kMostIds = 16;
  std::string out = cat("not compared: ", f.not_expressed.size(), "\n");
  for (const Reason& reason : reasons(f)) {
    std::vector<std::string> items = reason.ids;
    if (items.size() > kMostIds) {
      items.clear();
      for (const auto& [kind, count] : reason.kinds) items.push_back(cat(kind, " ", count));
    }
    out += wrapped(cat(reason.text, " (", reason.ids.size(), "): ", join(items, ", ")), 2,
                   output_width());
  }
  return out;
}

std::string notes_text(const Fidelity& f) {
  std::string out;
  for (const FidelityRow& row : f.rows)
    if (!row.note.empty()) out += wrapped(cat(row.id, ": ", row.note), 2, output_width());
  return out.empty() ? out : cat("what differs from the published run\n", out, "\n");
}

std::string fidelity_text(const Fidelity& f) {
  const std::string head =
      wrapped(cat("published times and what the tables predict; ratio: predicted over published; "
                  "marks: evidence of the table values that move the prediction; scheduling ",
                  kScheduling ? "on" : "off"),
              0, output_width());
  return cat(head, "\n", rows_text(f), notes_text(f), bands_text(f), "\n", pairs_text(f), "\n",
             not_expressed_text(f));
}

Reply run(const Options& options, const Context& context) {
  const Progress progress("comparing with published times");
  const std::vector<study::PublishedRow> rows =
      options.csv.empty() ? study::built_in_published()
                          : study::parse_published(read_file(options.csv), options.csv);
  const Fidelity f = study::compare_published(rows, study::built_in_expressions(), options.filter);
  return {context.json ? fidelity_json(f) : fidelity_text(f), 0};
}

}  // namespace

Action declare_fidelity(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("csv", options->csv, "published rows; default: those that ship with the program")
      ->type_name("[CSV]");
  app.add_option("--kind", options->filter.kind, "rows of this kind, e.g. instr-DVE")
      ->type_name("KIND");
  app.add_option("--generation", options->filter.generation, "trn1, trn2 or trn3; default all")
      ->type_name("NAME");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
