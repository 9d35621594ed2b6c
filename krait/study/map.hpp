#pragma once

// The map: for each operator, context, shape and machine, who wins, by how much, and why.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/study/database.hpp"
#include "krait/study/job.hpp"
#include "krait/study/result.hpp"

namespace krait::study {

/// The verdict on hand-written kernels; verdict_of has the rule.
enum class Verdict : std::uint8_t { kNecessary, kWins, kTies, kLoses };
[[nodiscard]] std::string_view name(Verdict verdict);

/// A lowering of more instructions than this does not count as one.
inline constexpr std::int64_t kInstructionLimit = 300'000;
/// Of predictions: no comparison with published times exists for their kind yet.
inline constexpr double kProvisionalBand = 0.05;
/// Of measurements: clock, frequency and neighbours are never steadier than this.
inline constexpr double kLeastMeasuredBand = 0.01;

struct VariantResult {
  std::string name;  // kernel with its tuning
  Role role = Role::kCustom;
  std::string key;  // of its job
  JobSpec spec;
  JobResult result;
  /// A time that may be compared: it ran, its result is right and its program is small enough.
  [[nodiscard]] bool counts() const;
};

struct Entry {
  std::string op, context, machine;
  ParamMap shape;
  bool measured = false;
  std::vector<VariantResult> variants;         // in the plan's order
  std::optional<std::size_t> naive, compiler;  // the fastest of that role that counts
  std::optional<std::size_t> best;             // the fastest hand-written one that counts
  std::optional<double> factor;                // baseline time / best time
  double band = kProvisionalBand;              // relative
  std::string band_note;
  std::optional<Verdict> verdict;  // none: nothing to compare; `cause` says why
  std::string cause;               // one sentence made from counters

  /// The better of naive and compiler.
  [[nodiscard]] const VariantResult* baseline() const;
  [[nodiscard]] const VariantResult* best_variant() const;
  [[nodiscard]] std::string title() const { return label(op, shape); }
};

/// A published figure beside ours.
struct Published {
  std::string what, published, ours;
  std::string reason;             // why they differ by more than 20 %; empty if they do not
  std::vector<std::string> jobs;  // keys
};

struct Map {
  Campaign campaign;
  std::vector<Entry> entries;
  std::vector<Published> published;
  std::vector<JobRow> jobs;  // everything the map rests on
};

/// The rule: `necessary` without a plain form, `wins` or `loses` outside the band, else `ties`.
/// @param baseline_ns  nothing if no plain form of the operator could be had
/// @param best_ns      of the hand-written kernel
[[nodiscard]] Verdict verdict_of(std::optional<double> baseline_ns, double best_ns, double band);

/// Relative spread of samples: half the distance of their 10 % and 90 % quantiles, over the median.
[[nodiscard]] double relative_spread(std::vector<double> samples);
[[nodiscard]] double median(std::vector<double> samples);

/// Makes the entries from finished jobs; pending ones are left out. A pure function of the rows.
[[nodiscard]] std::vector<Entry> make_entries(std::span<const JobRow> rows);

/// The map of a campaign, with times that were imported from real devices.
/// @throws UserError if there is no such campaign
[[nodiscard]] Map make_map(Database& database, std::int64_t campaign);

}  // namespace krait::study
