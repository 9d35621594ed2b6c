#include "krait/study/cause.hpp"

#include <algorithm>
#include <cmath>

#include "krait/base/text.hpp"
#include "krait/study/format.hpp"

namespace krait::study {
namespace {

enum class Counter : std::uint8_t { kBytes, kBusy, kInstructions, kDepth, kElements, kProducts };

/// A counter of two runs, in the words of a sentence: "moves 0.40x the HBM bytes (..)".
struct Fact {
  Counter counter;
  double ratio;
  std::string text;
};

struct Words {
  Counter counter;
  std::string_view verb, noun;
};

void add_fact(std::vector<Fact>& facts, const Words& words, double a, double b,
              std::string (*show)(double)) {
  if (!(a > 0) || !(b > 0)) return;
  facts.push_back({words.counter, a / b,
                   cat(words.verb, ' ', ratio_text(a / b), ' ', words.noun, " (", show(a),
                       " against ", show(b), ')')});
}

std::string show_count(double value) {
  return count_text(std::llround(value));
}

double sum(const std::map<std::string, std::int64_t>& values, std::string_view but = {}) {
  double total = 0;
  for (const auto& [name, value] : values)
    if (name != but) total += static_cast<double>(value);
  return total;
}

template <class T>
double at(const std::map<std::string, T>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? 0 : static_cast<double>(found->second);
}

std::vector<Fact> facts_of(const JobResult& a, const JobResult& b) {
  std::vector<Fact> facts;
  add_fact(facts, {Counter::kBytes, "moves", "the HBM bytes"}, static_cast<double>(a.hbm_bytes()),
           static_cast<double>(b.hbm_bytes()), bytes_text);
  const std::string busy = cat("the ", b.bound_by, " time");
  add_fact(facts, {Counter::kBusy, "needs", busy}, at(a.busy_ns, b.bound_by),
           at(b.busy_ns, b.bound_by), human_time);
  add_fact(facts, {Counter::kInstructions, "executes", "the instructions"},
           static_cast<double>(a.instruction_count()), static_cast<double>(b.instruction_count()),
           show_count);
  add_fact(facts, {Counter::kDepth, "has", "the dependent depth"}, static_cast<double>(a.depth),
           static_cast<double>(b.depth), show_count);
  // Else beside the point.
  const bool products = a.bound_by == "TensorE" || b.bound_by == "TensorE";
  // Elements of the element-wise engines and products of TensorE do not add up to one number.
  add_fact(facts, {Counter::kElements, "does", "the element-wise work"}, sum(a.work, "TensorE"),
           sum(b.work, "TensorE"), show_count);
  if (products)
    add_fact(facts, {Counter::kProducts, "does", "the TensorE products"}, at(a.work, "TensorE"),
             at(b.work, "TensorE"), show_count);
  return facts;
}

double distance(double ratio) {
  return std::abs(std::log(ratio));
}

/// The counter that a run bound by this is about.
Counter counter_of(std::string_view bound_by) {
  if (bound_by.find("latency") != std::string_view::npos || bound_by == "semaphore")
    return Counter::kDepth;
  return bound_by.rfind("DMA", 0) == 0 ? Counter::kBytes : Counter::kBusy;
}

/// A counter explains a difference in time if it differs in the same direction, by over 10 %.
bool explains(const Fact& fact, bool faster) {
  return distance(fact.ratio) >= std::log(1.1) && (fact.ratio < 1) == faster;
}

// The roof that the operator's least work meets first, for a time measured on this CPU.
struct Roof {
  double ns = 0;
  std::string what;
};

Roof roof_of(const WorkCounts& counts, const HostLimits& limits) {
  Roof roof;
  const auto consider = [&roof](double amount, double rate, std::string what) {
    if (!(rate > 0) || amount / rate * 1e9 <= roof.ns) return;
    roof = {amount / rate * 1e9, std::move(what)};
  };
  consider(counts.min_bytes, limits.set_gbps * 1e9,
           cat("read rate of a set of ", bytes_text(counts.min_bytes), ", the least traffic"));
  consider(counts.flops, limits.gflops * 1e9,
           cat("arithmetic rate for ", show_count(counts.flops), " operations"));
  consider(counts.exps, limits.exp_per_s,
           cat("rate of exponentials for ", show_count(counts.exps), " of them"));
  return roof;
}

std::string measured_cause(const VariantResult& baseline, const VariantResult& best) {
  if (!best.result.limits)
    return cat(best.name, " took ", human_time(best.result.time_ns), " and ", baseline.name, ' ',
               human_time(baseline.result.time_ns),
               "; a device that reports times alone gives no counters.");
  const Roof roof = roof_of(best.result.counts, *best.result.limits);
  const auto share = [&](const VariantResult& v) {
    return percent_text(roof.ns / v.result.time_ns);
  };
  return cat(best.name, " reaches ", share(best), " of this CPU's ", roof.what, "; ", baseline.name,
             " reaches ", share(baseline), ".");
}

std::string predicted_cause(const VariantResult& baseline, const VariantResult& best) {
  return contrast_text(baseline, best) + ".";
}

std::string failures(const Entry& entry, Role role) {
  std::string out;
  for (const VariantResult& v : entry.variants) {
    if (v.role != role || v.counts()) continue;
    std::string why = split(v.result.reason, '\n').front();
    if (v.result.done())
      why = v.result.within_tolerance.value_or(true)
                ? cat(count_text(v.result.instruction_count()), " instructions, limit ",
                      count_text(kInstructionLimit))
                : cat("wrong by ", short_number(v.result.max_rel_error.value_or(0)));
    out += cat(out.empty() ? "" : "; ", v.name, ": ", why);
  }
  return out;
}

std::string missing_cause(const Entry& entry) {
  const std::string custom = failures(entry, Role::kCustom);
  const std::string naive = failures(entry, Role::kNaive);
  if (entry.best_variant() == nullptr)
    return cat("no hand-written variant gave a result that counts",
               custom.empty() ? "" : " (" + custom + ")", ".");
  return cat(
      entry.verdict ? "no plain form exists here" : "no plain form gave a result that counts",
      naive.empty() ? "" : " (" + naive + ")", "; ", entry.best_variant()->name, " runs, bound by ",
      bound_text(entry.best_variant()->result), ".");
}

}  // namespace

std::string bound_text(const JobResult& result) {
  if (result.bound_by.empty()) return "nothing that was counted";
  const auto path = result.path_ns.find(result.bound_by);
  if (path != result.path_ns.end() && result.time_ns > 0)
    return cat(result.bound_by, " (", percent_text(path->second / result.time_ns), " of its time)");
  return result.bound_by;
}

std::string counter_text(const JobResult& a, const JobResult& b, std::size_t most) {
  std::vector<Fact> facts = facts_of(a, b);
  const bool faster = a.time_ns < b.time_ns;
  std::erase_if(facts, [faster](const Fact& f) { return !explains(f, faster); });
  const Counter first = counter_of(b.bound_by);  // what bound the other side comes first
  std::stable_sort(facts.begin(), facts.end(), [first](const Fact& x, const Fact& y) {
    if ((x.counter == first) != (y.counter == first)) return x.counter == first;
    return distance(x.ratio) > distance(y.ratio);
  });
  if (facts.size() > most) facts.resize(most);
  std::vector<std::string> texts;
  texts.reserve(facts.size());
  for (const Fact& fact : facts) texts.push_back(fact.text);
  return join(texts, " and ");
}

std::string contrast_text(const VariantResult& other, const VariantResult& told) {
  const std::string facts = counter_text(told.result, other.result, 2);
  return cat(told.name, ' ', facts.empty() ? "has no counter that explains the difference" : facts,
             "; ", other.name, " is bound by ", bound_text(other.result), ", ", told.name, " by ",
             bound_text(told.result));
}

std::string cause_of(const Entry& entry) {
  const VariantResult* baseline = entry.baseline();
  const VariantResult* best = entry.best_variant();
  if (baseline == nullptr || best == nullptr) return missing_cause(entry);
  return entry.measured ? measured_cause(*baseline, *best) : predicted_cause(*baseline, *best);
}

}  // namespace krait::study
