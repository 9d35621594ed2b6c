#include "krait/study/fidelity/published_row.hpp"

#include <algorithm>
#include <initializer_list>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/study/embedded.hpp"
#include "krait/study/fidelity/csv.hpp"

namespace krait::study {
namespace {

using Record = std::map<std::string, std::string, std::less<>>;

/// One record and where it stands, for messages.
class Row {
 public:
  Row(const Record& record, std::string_view where) : record_(record), where_(where) {}

  [[nodiscard]] std::string text(std::string_view column, std::string_view fallback = {}) const {
    const auto found = record_.find(column);
    return found == record_.end() || found->second.empty() ? std::string(fallback) : found->second;
  }
  [[nodiscard]] double number(std::string_view column, std::string_view fallback) const {
    const std::string value = text(column, fallback);
    const auto parsed = parse_double(value);
    if (!parsed || !(*parsed >= 0))
      fail(cat(column, " must be a number of at least 0"), cat(column, "=", value),
           "write it as digits, e.g. 0.219");
    return *parsed;
  }
  [[noreturn]] void fail(const std::string& what, const std::string& got,
                         const std::string& fix) const {
    throw UserError(Report{what, cat(where_, ", row ", text("id")), got, fix});
  }

 private:
  const Record& record_;
  std::string_view where_;
};

void require_columns(const CsvTable& table, std::string_view where,
                     std::initializer_list<const char*> columns) {
  for (const char* column : columns)
    if (std::find(table.header.begin(), table.header.end(), column) == table.header.end())
      throw UserError(Report{cat("there is no column '", column, "'"), std::string(where),
                             join(table.header, ", "), suggest(column, table.header)});
}

Reading reading_of(const Row& row) {
  const std::string wanted = row.text("reading", "slope");
  std::vector<std::string> names;
  for (const Reading reading : readings()) {
    if (name(reading) == wanted) return reading;
    names.emplace_back(name(reading));
  }
  row.fail(cat("no reading is called '", wanted, "'"), {}, suggest(wanted, names));
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out = split(text, ' ');
  std::erase(out, "");
  return out;
}

Expression expression_of(const Row& row) {
  return {.id = row.text("id"),
          .probe = row.text("probe"),
          .set = words(row.text("set")),
          .reading = reading_of(row),
          .count = row.number("count", "1"),
          .parts = std::max(1, static_cast<int>(row.number("parts", "1"))),
          .floor_us = row.number("floor_us", "0"),
          .problem = row.text("problem"),
          .note = row.text("note")};
}

/// "[instr-PE] 0.43 ns ..." -> "instr-PE".
std::string kind_of(const Row& row) {
  const std::string notes = row.text("notes");
  const std::size_t end = notes.find(']');
  if (!notes.starts_with('[') || end == std::string::npos)
    row.fail("the notes must start with the kind in brackets", notes.substr(0, 40),
             "e.g. [instr-PE] or [matmul]");
  return notes.substr(1, end - 1);
}

/// The name of the machine table, whatever alias the row uses.
std::string generation_of(const Row& row) {
  const std::string text = row.text("generation");
  try {
    return std::string(find_machine(text).name());
  } catch (const UserError& error) {
    row.fail(error.report().what, error.report().got, error.report().fix);
  }
}

PublishedRow published_of(const Row& row) {
  PublishedRow out{.id = row.text("id"),
                   .generation = generation_of(row),
                   .kind = kind_of(row),
                   .latency_us = row.number("latency_us", ""),
                   .statistic = row.text("statistic"),
                   .confidence = row.text("confidence", "high"),
                   .own = {}};
  if (out.latency_us <= 0)
    row.fail("a published time must be larger than 0", row.text("latency_us"), "leave the row out");
  if (!row.text("probe").empty()) out.own = expression_of(row);
  return out;
}

}  // namespace

std::vector<PublishedRow> parse_published(std::string_view text, std::string_view where) {
  const CsvTable table = parse_csv(text, where);
  require_columns(table, where, {"id", "generation", "latency_us", "notes"});
  std::vector<PublishedRow> out;
  for (const Record& record : table.rows) out.push_back(published_of(Row(record, where)));
  return out;
}

std::vector<Expression> parse_expressions(std::string_view text, std::string_view where) {
  const CsvTable table = parse_csv(text, where);
  require_columns(table, where, {"id", "probe", "set", "reading", "count", "note"});
  std::vector<Expression> out;
  for (const Record& record : table.rows) out.push_back(expression_of(Row(record, where)));
  return out;
}

std::vector<PublishedRow> built_in_published() {
  return parse_published(embedded::kPublishedCsv, "published.csv");
}

std::vector<Expression> built_in_expressions() {
  return parse_expressions(embedded::kInstructionsCsv, "instructions.csv");
}

}  // namespace krait::study
