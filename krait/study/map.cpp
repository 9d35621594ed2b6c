#include "krait/study/map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/study/cause.hpp"
#include "krait/study/published.hpp"

namespace krait::study {
namespace {

constexpr std::array<std::string_view, 4> kVerdictNames{"necessary", "wins", "ties", "loses"};

/// Linear interpolation between order statistics.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

bool same_entry(const Entry& entry, const JobSpec& spec) {
  return entry.op == spec.op && entry.context == spec.context && entry.machine == spec.machine &&
         entry.measured == (spec.kind == JobKind::kMeasure) && entry.shape == spec.shape;
}

Entry& entry_of(std::vector<Entry>& entries, const JobSpec& spec) {
  for (Entry& entry : entries)
    if (same_entry(entry, spec)) return entry;
  Entry entry;
  entry.op = spec.op;
  entry.context = spec.context;
  entry.machine = spec.machine;
  entry.shape = spec.shape;
  entry.measured = spec.kind == JobKind::kMeasure;
  entries.push_back(std::move(entry));
  return entries.back();
}

std::optional<std::size_t> fastest(const Entry& entry, Role role) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < entry.variants.size(); ++i) {
    const VariantResult& v = entry.variants[i];
    if (v.role != role || !v.counts()) continue;
    if (!best || v.result.time_ns < entry.variants[*best].result.time_ns) best = i;
  }
  return best;
}

/// Whether a plain form was tried and cannot exist here: refused, or too many instructions. A form
/// that broke says nothing.
bool no_lowering_exists(const Entry& entry) {
  bool tried = false;
  for (const VariantResult& v : entry.variants) {
    if (v.role != Role::kNaive && v.role != Role::kCompiler) continue;
    const bool too_long = v.result.done() && v.result.instruction_count() > kInstructionLimit;
    if (v.result.outcome != Outcome::kRefused && !too_long) return false;
    tried = true;
  }
  return tried;
}

void set_band(Entry& entry) {
  const VariantResult* baseline = entry.baseline();
  const VariantResult* best = entry.best_variant();
  entry.band_note = "unknown, 5 % provisional";
  if (!entry.measured || baseline == nullptr || best == nullptr) return;
  const auto& slow = baseline->result.samples_ns;
  const auto& fast = best->result.samples_ns;
  if (slow.size() < 3 || fast.size() < 3) return;
  // Both times move, so their spreads add.
  entry.band = std::max(kLeastMeasuredBand, relative_spread(slow) + relative_spread(fast));
  entry.band_note = cat("spread of ", slow.size(), " and ", fast.size(), " repetitions");
}

void judge(Entry& entry) {
  entry.naive = fastest(entry, Role::kNaive);
  entry.compiler = fastest(entry, Role::kCompiler);
  entry.best = fastest(entry, Role::kCustom);
  set_band(entry);
  const VariantResult* baseline = entry.baseline();
  const VariantResult* best = entry.best_variant();
  if (best != nullptr && (baseline != nullptr || no_lowering_exists(entry))) {
    std::optional<double> baseline_ns;
    if (baseline != nullptr) {
      baseline_ns = baseline->result.time_ns;
      entry.factor = *baseline_ns / best->result.time_ns;
    }
    entry.verdict = verdict_of(baseline_ns, best->result.time_ns, entry.band);
  }
  entry.cause = cause_of(entry);
}

}  // namespace

std::string_view name(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

bool VariantResult::counts() const {
  return result.done() && result.time_ns > 0 && result.within_tolerance.value_or(true) &&
         result.instruction_count() <= kInstructionLimit;
}

const VariantResult* Entry::baseline() const {
  if (!naive && !compiler) return nullptr;
  if (!naive) return &variants[*compiler];
  if (!compiler) return &variants[*naive];
  const VariantResult& a = variants[*naive];
  const VariantResult& b = variants[*compiler];
  return a.result.time_ns < b.result.time_ns ? &a : &b;
}

const VariantResult* Entry::best_variant() const {
  return best ? &variants[*best] : nullptr;
}

Verdict verdict_of(std::optional<double> baseline_ns, double best_ns, double band) {
  if (!baseline_ns) return Verdict::kNecessary;
  if (*baseline_ns > best_ns * (1 + band)) return Verdict::kWins;
  if (*baseline_ns * (1 + band) < best_ns) return Verdict::kLoses;
  return Verdict::kTies;
}

double median(std::vector<double> samples) {
  KRAIT_ASSERT(!samples.empty());
  std::sort(samples.begin(), samples.end());
  return quantile(samples, 0.5);
}

double relative_spread(std::vector<double> samples) {
  KRAIT_ASSERT(!samples.empty());
  std::sort(samples.begin(), samples.end());
  const double middle = quantile(samples, 0.5);
  if (!(middle > 0)) return 0;
  return (quantile(samples, 0.9) - quantile(samples, 0.1)) / 2 / middle;
}

std::vector<Entry> make_entries(std::span<const JobRow> rows) {
  std::vector<Entry> entries;
  for (const JobRow& row : rows) {
    if (row.status == JobStatus::kPending) continue;
    entry_of(entries, row.spec)
        .variants.push_back(
            {variant_label(row.spec), row.spec.role, row.key, row.spec, row.result()});
  }
  for (Entry& entry : entries) judge(entry);
  return entries;
}

Map make_map(Database& database, std::int64_t campaign) {
  const auto found = database.campaign(campaign);
  if (!found)
    throw UserError(Report{"no such campaign in the job database",
                           {},
                           cat(campaign),
                           "krait jobs list shows what there is"});
  Map map;
  map.campaign = *found;
  map.jobs = database.jobs(campaign);
  for (JobRow& row : database.device_jobs()) map.jobs.push_back(std::move(row));
  map.entries = make_entries(map.jobs);
  map.published = make_published(map.entries);
  return map;
}

}  // namespace krait::study
