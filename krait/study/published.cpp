#include "krait/study/published.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "krait/base/text.hpp"
#include "krait/study/cause.hpp"
#include "krait/study/format.hpp"

namespace krait::study {
namespace {

// The published measurements, trn1: RMSNorm at width 4096 and the selective scan at length 128,
// 1536 channels, 16 states. docs/study.md says where they stand.
constexpr double kNaiveNs = 176e3, kFusedNs = 112e3, kFusedSpeedUp = 1.57, kTrafficCeiling = 2.5;
constexpr double kScanError = 3e-7, kLogDepthSpeedUp = 1.14, kErrorBar = 1e-3;
constexpr double kAgreement = 0.20;  // relative

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
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

std::string text_of(const ParamMap& params, const std::string& name, const std::string& fallback) {
  const auto found = params.find(name);
  return found == params.end() ? fallback : found->second;
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
Choose plain(const std::string& name) {
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
  return cat(text_of(entry.shape, "rows", "?"), " rows ", text_of(entry.shape, "dtype", "f32"));
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

double log_distance(double a, double b) {
  return std::abs(std::log(a / b));
}

/// The pair whose `side` is nearest to a published time.
const Pair& nearest_pair(const std::vector<Pair>& pairs, const VariantResult* Pair::*side,
                         double ns) {
  return *std::min_element(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
    return log_distance((a.*side)->result.time_ns, ns) <
           log_distance((b.*side)->result.time_ns, ns);
  });
}

/// The engines that work for over 5 % of the time: "DMA 60.2 us, VectorE 33.9 us".
std::string busy_text(const JobResult& r) {
  std::vector<std::string> parts;
  for (const auto& [engine, ns] : r.busy_ns)
    if (ns > 0.05 * r.time_ns) parts.push_back(cat(engine, ' ', human_time(ns)));
  return join(parts, ", ");
}

double busy_sum(const JobResult& r) {
  double total = 0;
  for (const auto& [engine, ns] : r.busy_ns) total += ns;
  return total;
}

std::string norm_reason(const std::vector<Pair>& pairs) {
  const Pair& naive = nearest_pair(pairs, &Pair::slow, kNaiveNs);
  const Pair& fused = nearest_pair(pairs, &Pair::fast, kFusedNs);
  const JobResult &slow = naive.slow->result, &fast = naive.fast->result;
  return cat("Our naive time is nearest to 176 us at ", shape_text(*naive.entry), " (",
             human_time(slow.time_ns), "), our fused time to 112 us at ", shape_text(*fused.entry),
             " (", human_time(fused.fast->result.time_ns), "). At the former, naive moves ",
             bytes_text(static_cast<double>(slow.hbm_bytes())), " and is bound by ",
             bound_text(slow), "; fused moves ", bytes_text(static_cast<double>(fast.hbm_bytes())),
             " in ", human_time(fast.time_ns),
             " because loads, arithmetic and stores of its tiles overlap (busy: ", busy_text(fast),
             "). A kernel that overlapped nothing would take the sum of its engines, ",
             human_time(busy_sum(fast)), ".");
}

/// "128 rows f32: 66.6 us / 31.0 us = 2.15x"
std::string pair_text(const Pair& p) {
  return cat(shape_text(*p.entry), ": ", human_time(p.slow->result.time_ns), " / ",
             human_time(p.fast->result.time_ns), " = ", ratio_text(p.speed_up()));
}

void cite(Published& row, const Pair& p) {
  cite(row, *p.slow);
  cite(row, *p.fast);
}

void add_norm_times(std::vector<Published>& out, const std::vector<Pair>& pairs) {
  if (pairs.empty()) return;
  Published row{.what = "RMSNorm, width 4096, trn1: fused against naive, alone",
                .published = "1.57x (176 us against 112 us; the number of rows was not published)"};
  Range range;
  std::vector<std::string> texts;
  for (const Pair& p : pairs) {
    range.add(p.speed_up());
    texts.push_back(pair_text(p));
    cite(row, p);
  }
  row.ours = cat(range.text(), " (", join(texts, "; "), ")");
  // A sweep contains a given factor easily; what counts is the row count that the times point to.
  const Pair& nearest = nearest_pair(pairs, &Pair::slow, kNaiveNs);
  if (log_distance(nearest.speed_up(), kFusedSpeedUp) > std::log(1 + kAgreement))
    row.reason = norm_reason(pairs);
  out.push_back(std::move(row));
}

double bytes_ratio(const Pair& p) {
  return static_cast<double>(p.slow->result.hbm_bytes()) /
         static_cast<double>(p.fast->result.hbm_bytes());
}

/// Both kernels' bytes where the ratio is farthest from the published one.
std::string traffic_reason(const Pair& p) {
  const auto slow = static_cast<double>(p.slow->result.hbm_bytes());
  const auto fast = static_cast<double>(p.fast->result.hbm_bytes());
  const double five = kTrafficCeiling * fast;
  return cat("At ", shape_text(*p.entry), " fused moves ", bytes_text(fast), " and naive ",
             bytes_text(slow), ", ", bytes_text(std::abs(slow - five)),
             slow > five ? " more" : " less", " than five such transfers to its two.");
}

void add_norm_traffic(std::vector<Published>& out, const std::vector<Pair>& pairs) {
  if (pairs.empty()) return;
  Published row{.what = "RMSNorm: ceiling that traffic sets, naive over fused HBM bytes",
                .published = "2.5x"};
  Range range;
  const Pair* farthest = &pairs.front();
  for (const Pair& p : pairs) {
    range.add(bytes_ratio(p));
    cite(row, p);
    if (log_distance(bytes_ratio(p), kTrafficCeiling) >
        log_distance(bytes_ratio(*farthest), kTrafficCeiling))
      farthest = &p;
  }
  row.ours = range.text();
  if (log_distance(bytes_ratio(*farthest), kTrafficCeiling) > std::log(1 + kAgreement))
    row.reason = traffic_reason(*farthest);
  out.push_back(std::move(row));
}

void add_norm_bits(std::vector<Published>& out, const std::vector<Pair>& pairs) {
  Published row{.what = "RMSNorm: fused output equals the float64 reference rounded to f32",
                .published = "bit for bit"};
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
        "A row's mean square is one f32 sum of all its elements. Its rounding changes the row's "
        "factor and with it every element of the row by the same relative amount. The published "
        "order of summation is not known.";
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
    texts.push_back(cat(kernel, ' ', short_number(*v->result.max_rel_error)));
    cite(row, *v);
  }
  if (texts.empty()) return;
  row.ours = join(texts, ", ");
  // An error is a matter of magnitude: a factor of three either way is the same figure.
  if (worst > 3 * kScanError || worst < kScanError / 3)
    row.reason =
        cat("The largest error over all outputs, relative to the largest value of the output; "
            "inputs of the published run are not known, ours come from a seed.");
  out.push_back(std::move(row));
}

void add_log_depth(std::vector<Published>& out, const Entry& e) {
  const VariantResult* fast = fastest(e, plain("scan_logdepth"));
  const auto steps = all(e, plain("scan_stepwise"));
  if (fast == nullptr || steps.empty()) return;
  Published row{.what = "Selective scan, 128 x 1536 x 16, trn1: log-depth against step by step",
                .published = "1.14x (the layout of the step-by-step kernel was not published)"};
  Range range;
  std::vector<std::string> texts;
  const VariantResult* quickest = steps.front();
  for (const VariantResult* step : steps) {
    const double ratio = step->result.time_ns / fast->result.time_ns;
    range.add(ratio);
    texts.push_back(cat(step->name, ": ", ratio_text(ratio)));
    if (step->result.time_ns < quickest->result.time_ns) quickest = step;
    cite(row, *step);
  }
  cite(row, *fast);
  row.ours = cat(range.text(), " (", join(texts, "; "), ")");
  const double least = quickest->result.time_ns / fast->result.time_ns;
  if (log_distance(least, kLogDepthSpeedUp) > std::log(1 + kAgreement))
    row.reason =
        cat("The factor hangs on how many columns one instruction of the step-by-step "
            "kernel covers",
            range.agrees(kLogDepthSpeedUp) ? "; 1.14x lies within our range. " : ". ",
            "Against the fastest layout: ", contrast_text(*fast, *quickest), ".");
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
  if (gain > 1 + kAgreement || gain < 1 / (1 + kAgreement))
    row.reason = contrast_text(*f32, *bf16) + ".";
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
      .ours = cat(passes ? "passes" : "fails", ", error ", short_number(error))};
  cite(row, *v);
  if (passes == rounding)
    row.reason =
        cat("The error is ", short_number(error), ", the bar ", short_number(kErrorBar),
            "; bf16 keeps 8 bits, one rounding is up to ", short_number(0x1.0p-8), " of a value.");
  out.push_back(std::move(row));
}

/// What bounds a run, and how much of its time that is: the share an engine works or, for a bound
/// that is no engine (latency), its share of the critical path.
std::string bound_share(const JobResult& r) {
  if (r.busy_ns.contains(r.bound_by))
    return cat(r.bound_by, " bounds it and works for ", percent_text(r.busy_share(r.bound_by)),
               " of the time");
  return cat("bound by ", bound_text(r));
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
                 "; ", bound_share(hardware->result));
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
