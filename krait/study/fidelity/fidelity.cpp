#include "krait/study/fidelity/fidelity.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/study/map.hpp"

namespace krait::study {
namespace {

// Smaller differences between published times are within their own noise.
constexpr double kDistinct = 1.15;

bool is_single(const std::string& kind) {
  return kind.starts_with("instr-") || kind == "DMA";
}

const Expression* expression_for(const PublishedRow& row, std::span<const Expression> known) {
  if (row.own) return &*row.own;
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& e) { return e.id == row.id; });
  return found == known.end() ? nullptr : &*found;
}

FidelityRow blank_row(const PublishedRow& published, const Expression& e,
                      const MachineSpec& machine) {
  FidelityRow out;
  out.id = published.id, out.kind = published.kind, out.generation = machine.name();
  out.statistic = published.statistic;
  out.published_us = published.latency_us - e.floor_us;
  out.problem = e.problem, out.note = e.note;
  return out;
}

FidelityRow table_value(FidelityRow row, const Expression& e, const MachineSpec& machine) {
  const std::string wanted = e.set.empty() ? "" : e.set.front();
  std::vector<std::string> names;
  for (ValueRow& value : list_values(machine)) {
    names.push_back(value.name);
    if (value.name != wanted || value.unit != "ns") continue;
    row.family = "table", row.reading = "value";
    row.predicted_us = value.number * e.count * 1e-3;
    row.values.push_back(std::move(value));
    return row;
  }
  throw UserError(Report{cat("no value in ns is called '", wanted, "'"),
                         cat("row ", e.id),
                         {},
                         suggest(wanted, names)});
}

FidelityRow probed(FidelityRow row, const Expression& e, const MachineSpec& machine) {
  const kernels::Probe* probe = kernels::find_probe(e.probe);
  if (probe == nullptr)
    throw UserError(Report{cat("no probe is called '", e.probe, "'"),
                           cat("row ", e.id),
                           {},
                           "use stream, dma, value or none"});
  const Params params = probe->params(e.set);
  const ProbeRun run(*probe, machine, params);
  row.family = params.has("insn") ? params.text("insn") : e.probe;
  row.reading = name(e.reading);
  row.predicted_us = run.read(e.reading, e.parts) * e.count * 1e-3;
  row.values = run.values_behind(e.reading);
  return row;
}

std::variant<FidelityRow, NotExpressed> compare(const PublishedRow& row,
                                                std::span<const Expression> known) {
  const auto no = [&](std::string reason) {
    return NotExpressed{row.id, row.kind, row.generation, std::move(reason)};
  };
  const Expression* e = expression_for(row, known);
  if (e == nullptr && !is_single(row.kind)) return no("whole kernels are not expressed yet");
  if (row.confidence == "low") return no("its confidence is low");
  if (e == nullptr) return no("nobody has written it as a probe yet");
  if (e->probe == "none") return no(e->note);
  const MachineSpec& machine = find_machine(row.generation);
  FidelityRow blank = blank_row(row, *e, machine);
  if (blank.published_us <= 0) return no("the launch floor is larger than the published time");
  try {
    return e->probe == "value" ? table_value(std::move(blank), *e, machine)
                               : probed(std::move(blank), *e, machine);
  } catch (const UserError& error) {
    return no(cat("refused: ", error.report().what));
  }
}

std::vector<std::string> kinds_of(std::span<const PublishedRow> rows) {
  std::vector<std::string> out;
  for (const PublishedRow& row : rows)
    if (std::find(out.begin(), out.end(), row.kind) == out.end()) out.push_back(row.kind);
  return out;
}

Band band(std::span<const FidelityRow> rows, const std::string& kind, const std::string& family,
          std::string_view generation) {
  std::vector<double> errors;
  for (const FidelityRow& row : rows)
    if (row.kind == kind && row.generation == generation &&
        (family.empty() || row.family == family))
      errors.push_back(row.error());
  Band out{kind, family, std::string(generation), errors.size(), {}, {}};
  if (!errors.empty()) out.median_error = median(errors), out.p90_error = percentile_90(errors);
  return out;
}

std::vector<std::string> families_of(std::span<const FidelityRow> rows, const std::string& kind) {
  std::vector<std::string> out;
  for (const FidelityRow& row : rows)
    if (row.kind == kind && std::find(out.begin(), out.end(), row.family) == out.end())
      out.push_back(row.family);
  return out;
}

/// Of one kind: every generation, then what families it has data of.
void add_bands(std::vector<Band>& out, std::span<const FidelityRow> rows, const std::string& kind,
               std::span<const MachineSpec* const> generations) {
  for (const MachineSpec* m : generations) out.push_back(band(rows, kind, "", m->name()));
  for (const std::string& family : families_of(rows, kind))
    for (const MachineSpec* m : generations)
      if (Band b = band(rows, kind, family, m->name()); b.count > 0) out.push_back(std::move(b));
}

std::vector<OrderedPair> ordered_pairs(std::span<const FidelityRow> rows) {
  std::vector<OrderedPair> out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      const bool swapped = rows[i].published_us > rows[j].published_us;
      const FidelityRow &fast = rows[swapped ? j : i], &slow = rows[swapped ? i : j];
      if (fast.problem.empty() || fast.problem != slow.problem ||
          fast.generation != slow.generation)
        continue;
      const double published = slow.published_us / fast.published_us;
      if (published <= kDistinct) continue;
      out.push_back({fast.problem, fast.generation, fast.id, slow.id, published,
                     slow.predicted_us / fast.predicted_us});
    }
  return out;
}

std::string bare(const std::string& kind) {
  return kind.starts_with('[') && kind.ends_with(']') ? kind.substr(1, kind.size() - 2) : kind;
}

}  // namespace

double FidelityRow::error() const {
  return std::abs(ratio() - 1);
}

std::string FidelityRow::marks() const {
  std::string out;
  for (const Evidence e : {Evidence::kDocumented, Evidence::kDerived, Evidence::kMeasured,
                           Evidence::kThirdParty, Evidence::kAssumed})
    if (std::any_of(values.begin(), values.end(),
                    [e](const ValueRow& v) { return v.source.evidence == e; }))
      out += letter(e);
  return out;
}

std::size_t Fidelity::right_pairs() const {
  return static_cast<std::size_t>(
      std::count_if(pairs.begin(), pairs.end(), [](const OrderedPair& p) { return p.right(); }));
}

double percentile_90(std::vector<double> values) {
  KRAIT_ASSERT(!values.empty());
  std::sort(values.begin(), values.end());
  return values[(values.size() * 9 + 9) / 10 - 1];
}

Fidelity compare_published(std::span<const PublishedRow> rows,
                           std::span<const Expression> expressions, const FidelityFilter& filter) {
  const std::string kind = bare(filter.kind);
  std::vector<std::string> kinds = kinds_of(rows);
  if (!kind.empty()) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      throw UserError(
          Report{cat("no row is of kind '", kind, "'"), "fidelity", {}, suggest(kind, kinds)});
    kinds = {kind};
  }
  std::vector<const MachineSpec*> generations(machines().begin(), machines().end());
  if (!filter.generation.empty()) generations = {&find_machine(filter.generation)};

  Fidelity out;
  for (const PublishedRow& row : rows) {
    const MachineSpec* machine = &find_machine(row.generation);
    if (std::find(generations.begin(), generations.end(), machine) == generations.end() ||
        std::find(kinds.begin(), kinds.end(), row.kind) == kinds.end())
      continue;
    auto compared = compare(row, expressions);
    if (auto* good = std::get_if<FidelityRow>(&compared))
      out.rows.push_back(std::move(*good));
    else
      out.not_expressed.push_back(std::get<NotExpressed>(std::move(compared)));
  }
  for (const std::string& k : kinds) add_bands(out.bands, out.rows, k, generations);
  out.pairs = ordered_pairs(out.rows);
  return out;
}

}  // namespace krait::study
