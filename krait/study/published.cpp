#include "krait/study/published.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "krait/base/text.hpp"
#include "krait/study/cause.hpp"
#include "krait/study/format.hpp"

namespace krait::study {
namespace {

// The published measurements, trn1: RMSNorm at width 4096 and the selective scan at length 128,
// 1536 channels, 16 states. Key SEED in docs/study.md.
constexpr double kNaiveNs = 176e3, kFusedNs = 112e3, kFusedSpeedUp = 1.57, kTrafficCeiling = 2.5;
constexpr double kScanError = 3e-7, kLogDepthSpeedUp = 1.14, kErrorBar = 1e-3;
constexpr double kAgreement = 0.20;  // relative

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
  [[nodiscard]] std::string text() const {
    const std::string a = ratio_text(low), b = ratio_text(high);
    return a == b ? a : a + " to " + b;
  }
  /// Whether some value in the range lies within 20 % of the published one.
  [[nodiscard]] bool agrees(double published) const {
    return high >= published / (1 + kAgreement) && low <= published * (1 + kAgreement);
  }
};

std::string text_of(const ParamMap& params, const std::string& name, std::string fallback) {
  const auto found = params.find(name);
  return found == params.end() ? std::move(fallback) : found->second;
}

bool is_norm(const Entry& e) {
  return e.op == "rmsnorm" && !e.measured && e.machine == "trn1" &&
         text_of(e.shape, "width", "") == "4096";
}

bool is_scan(const Entry& e) {
  return e.op == "selective_scan" && !e.measured && text_of(e.shape, "length", "") == "128" &&
         text_of(e.shape, "d_inner", "") == "1536" && text_of(e.shape, "d_state", "") == "16" &&
         text_of(e.shape, "dtype", "f32") == "f32";
}

using Choose = std::function<bool(const VariantResult&)>;

/// Kernel `name` with f32 shift products and rounding on: the plain use of it.
Choose plain(std::string name) {
  return [name](const VariantResult& v) {
    return v.spec.variant == name && v.spec.rounding && v.result.done() &&
           text_of(v.spec.tuning, "dtype", "f32") == "f32";
  };
}

Choose bf16_products(bool rounding) {
  return [rounding](const VariantResult& v) {
    return v.spec.variant == "scan_logdepth" && v.spec.rounding == rounding && v.result.done() &&
           text_of(v.spec.tuning, "dtype", "f32") == "bf16";
  };
}

std::vector<const VariantResult*> all(const Entry& entry, const Choose& choose) {
  std::vector<const VariantResult*> out;
  for (const VariantResult& v : entry.variants)
    if (choose(v)) out.push_back(&v);
  return out;
}

const VariantResult* fastest(const Entry& entry, const Choose& choose) {
  const VariantResult* best = nullptr;
  for (const VariantResult* v : all(entry, choose))
    if (best == nullptr || v->result.time_ns < best->result.time_ns) best = v;
  return best;
}

void cite(Published& row, const VariantResult& v) {
  if (std::find(row.jobs.begin(), row.jobs.end(), v.key) == row.jobs.end())
    row.jobs.push_back(v.key);
}

std::string shape_text(const Entry& entry) {
  return cat("rows ", text_of(entry.shape, "rows", "?"), ' ', text_of(entry.shape, "dtype", "f32"));
}

/// What separates two runs, for a reason.
std::string contrast(const VariantResult& slow, const VariantResult& fast) {
  const std::string counters = counter_text(fast.result, slow.result, 3);
  return cat(slow.name, " is bound by ", bound_text(slow.result), "; ", fast.name, ' ',
             counters.empty() ? "has about the same counters" : counters, ", bound by ",
             bound_text(fast.result));
}

/// A pair of variants of each chosen entry, and what is told of them.
struct Pair {
  const Entry* entry;
  const VariantResult *slow, *fast;
  [[nodiscard]] double speed_up() const { return slow->result.time_ns / fast->result.time_ns; }
};

std::vector<Pair> norm_pairs(std::span<const Entry> entries) {
  std::vector<Pair> pairs;
  for (const Entry& e : entries) {
    if (!is_norm(e)) continue;
    const VariantResult* slow = fastest(e, plain("rmsnorm_naive"));
    const VariantResult* fast = fastest(e, plain("rmsnorm_fused"));
    if (slow != nullptr && fast != nullptr) pairs.push_back({&e, slow, fast});
  }
  return pairs;
}

void add_norm_times(std::vector<Published>& out, const std::vector<Pair>& pairs) {
  if (pairs.empty()) return;
  Published row{.what = "RMSNorm, width 4096, trn1: fused against naive, alone",
                .published = "1.57x (176 us against 112 us; the number of rows was not published)"};
  Range range;
  std::vector<std::string> texts;
  const Pair* nearest = &pairs.front();
  for (const Pair& p : pairs) {
    range.add(p.speed_up());
    texts.push_back(cat(shape_text(*p.entry), ": ", human_time(p.slow->result.time_ns), " / ",
                        human_time(p.fast->result.time_ns), " = ", ratio_text(p.speed_up())));
    cite(row, *p.slow);
    cite(row, *p.fast);
    const auto off = [](const Pair& q) {
      return std::abs(std::log(q.slow->result.time_ns / kNaiveNs));
    };
    if (off(p) < off(*nearest)) nearest = &p;
  }
  row.ours = cat(range.text(), " (", join(texts, "; "), ")");
  if (!range.agrees(kFusedSpeedUp))
    row.reason = cat("where our naive time is nearest to 176 us (", shape_text(*nearest->entry),
                     ") we predict ", human_time(nearest->fast->result.time_ns),
                     " for the fused one, published ", human_time(kFusedNs), ": ",
                     contrast(*nearest->slow, *nearest->fast));
  out.push_back(std::move(row));
}

void add_norm_traffic(std::vector<Published>& out, const std::vector<Pair>& pairs) {
  if (pairs.empty()) return;
  Published row{.what = "RMSNorm: ceiling that traffic sets, naive over fused HBM bytes",
                .published = "2.5x"};
  Range range;
  for (const Pair& p : pairs) {
    range.add(static_cast<double>(p.slow->result.hbm_bytes()) /
              static_cast<double>(p.fast->result.hbm_bytes()));
    cite(row, *p.slow);
    cite(row, *p.fast);
  }
  row.ours = range.text();
  if (!range.agrees(kTrafficCeiling)) {
    const Pair& p = pairs.front();
    row.reason =
        cat("our naive kernel moves ", bytes_text(static_cast<double>(p.slow->result.hbm_bytes())),
            " and the fused one ", bytes_text(static_cast<double>(p.fast->result.hbm_bytes())),
            " where reading each input and writing the output once is ",
            bytes_text(p.fast->result.counts.min_bytes));
  }
  out.push_back(std::move(row));
}

void add_norm_bits(std::vector<Published>& out, const std::vector<Pair>& pairs) {
  Published row{.what = "RMSNorm: fused output equals the float64 reference rounded to f32",
                .published = "bit for bit"};
  std::vector<std::string> texts;
  bool equal = true;
  std::int64_t elements = 0, mismatches = 0, max_ulp = 0;
  for (const Pair& p : pairs) {
    const auto& ulp = p.fast->result.ulp;
    if (!ulp || text_of(p.entry->shape, "dtype", "f32") != "f32") continue;
    elements += ulp->elements;
    mismatches += ulp->mismatches;
    max_ulp = std::max(max_ulp, ulp->max_ulp);
    equal = equal && ulp->mismatches == 0;
    cite(row, *p.fast);
  }
  if (row.jobs.empty()) return;
  row.ours = equal ? cat("bit for bit, ", count_text(elements), " elements")
                   : cat(count_text(mismatches), " of ", count_text(elements),
                         " elements differ, by at most ", max_ulp, " units in the last place");
  if (!equal)
    row.reason =
        cat("the kernel sums in f32 and rounds after every instruction, the reference in "
            "float64 and once; the largest relative error is ",
            short_text(pairs.front().fast->result.max_rel_error.value_or(0)));
  out.push_back(std::move(row));
}

void add_scan_error(std::vector<Published>& out, const Entry& e) {
  Published row{.what = "Selective scan, 128 x 1536 x 16, trn1: largest relative error",
                .published = "about 3e-7"};
  std::vector<std::string> texts;
  double worst = 0;
  for (const char* kernel : {"scan_stepwise", "scan_logdepth", "scan_hardware"}) {
    const VariantResult* v = fastest(e, plain(kernel));
    if (v == nullptr || !v->result.max_rel_error) continue;
    worst = std::max(worst, *v->result.max_rel_error);
    texts.push_back(cat(kernel, ' ', short_text(*v->result.max_rel_error)));
    cite(row, *v);
  }
  if (texts.empty()) return;
  row.ours = join(texts, ", ");
  // An error is a matter of magnitude: a factor of three either way is the same figure.
  if (worst > 3 * kScanError || worst < kScanError / 3)
    row.reason =
        cat("largest error over all outputs, relative to the largest value of the output; "
            "inputs of the published run are not known, ours come from a seed");
  out.push_back(std::move(row));
}

void add_log_depth(std::vector<Published>& out, const Entry& e) {
  const VariantResult* fast = fastest(e, plain("scan_logdepth"));
  const auto steps = all(e, plain("scan_stepwise"));
  if (fast == nullptr || steps.empty()) return;
  Published row{.what = "Selective scan, 128 x 1536 x 16, trn1: log-depth against step by step",
                .published = "1.14x"};
  Range range;
  const VariantResult* nearest = steps.front();
  for (const VariantResult* step : steps) {
    const double ratio = step->result.time_ns / fast->result.time_ns;
    range.add(ratio);
    if (std::abs(std::log(ratio / kLogDepthSpeedUp)) <
        std::abs(std::log(nearest->result.time_ns / fast->result.time_ns / kLogDepthSpeedUp)))
      nearest = step;
    cite(row, *step);
  }
  cite(row, *fast);
  row.ours = cat(range.text(), " over ", steps.size(), " layout", steps.size() == 1 ? "" : "s",
                 " of the step-by-step kernel; nearest: ", nearest->name);
  if (!range.agrees(kLogDepthSpeedUp)) row.reason = contrast(*nearest, *fast);
  out.push_back(std::move(row));
}

void add_bf16_time(std::vector<Published>& out, const Entry& e) {
  const VariantResult* f32 = fastest(e, plain("scan_logdepth"));
  const VariantResult* bf16 = fastest(e, bf16_products(true));
  if (f32 == nullptr || bf16 == nullptr) return;
  const double gain = f32->result.time_ns / bf16->result.time_ns;
  Published row{.what = "Log-depth scan, trn1: shift products in bf16 against f32, time",
                .published = "no gain (1.00x)",
                .ours = ratio_text(gain)};
  cite(row, *f32);
  cite(row, *bf16);
  if (gain > 1 + kAgreement || gain < 1 / (1 + kAgreement)) row.reason = contrast(*f32, *bf16);
  out.push_back(std::move(row));
}

void add_bf16_error(std::vector<Published>& out, const Entry& e, bool rounding) {
  const VariantResult* v = fastest(e, bf16_products(rounding));
  if (v == nullptr || !v->result.max_rel_error) return;
  const double error = *v->result.max_rel_error;
  const bool passes = error <= kErrorBar;
  Published row{
      .what = cat("Log-depth scan with bf16 shift products against a bar of 1e-3, ",
                  rounding ? "the machine's rounding" : "a simulator that does not round"),
      .published = rounding ? "fails (on the chip)" : "passes",
      .ours = cat(passes ? "passes" : "fails", ", error ", short_text(error))};
  cite(row, *v);
  if (passes == rounding)
    row.reason =
        cat("the error is ", short_text(error), ", the bar ", short_text(kErrorBar),
            "; bf16 keeps 8 bits, one rounding is up to ", short_text(0x1.0p-9), " of a value");
  out.push_back(std::move(row));
}

/// Share of its time that the bounding engine is busy; the critical path's share if the bound is
/// none.
double bound_share(const JobResult& r) {
  const auto path = r.path_ns.find(r.bound_by);
  const double on_path = path == r.path_ns.end() ? 0 : path->second / r.time_ns;
  return std::max(r.busy_share(r.bound_by), on_path);
}

void add_hardware_scan(std::vector<Published>& out, const Entry& e) {
  const VariantResult* hardware = fastest(e, plain("scan_hardware"));
  if (hardware == nullptr) return;
  std::vector<std::string> texts;
  Published row{.what = cat("Scan instruction, 128 x 1536 x 16, ", e.machine,
                            ": against the other two, and the share of its bound"),
                .published = "not published"};
  cite(row, *hardware);
  for (const char* other : {"scan_stepwise", "scan_logdepth"}) {
    const VariantResult* v = fastest(e, plain(other));
    if (v == nullptr) continue;
    texts.push_back(
        cat(ratio_text(v->result.time_ns / hardware->result.time_ns), " over ", v->name));
    cite(row, *v);
  }
  row.ours = cat(human_time(hardware->result.time_ns), texts.empty() ? "" : ", ", join(texts, ", "),
                 "; ", hardware->result.bound_by, " at ",
                 percent_text(bound_share(hardware->result)), " of the time");
  out.push_back(std::move(row));
}

}  // namespace

std::vector<Published> make_published(std::span<const Entry> entries) {
  std::vector<Published> out;
  const std::vector<Pair> pairs = norm_pairs(entries);
  add_norm_times(out, pairs);
  add_norm_traffic(out, pairs);
  add_norm_bits(out, pairs);
  for (const Entry& e : entries) {
    if (!is_scan(e) || e.machine != "trn1") continue;
    add_scan_error(out, e);
    add_log_depth(out, e);
    add_bf16_time(out, e);
    add_bf16_error(out, e, false);
    add_bf16_error(out, e, true);
  }
  for (const Entry& e : entries)
    if (is_scan(e)) add_hardware_scan(out, e);
  return out;
}

}  // namespace krait::study
