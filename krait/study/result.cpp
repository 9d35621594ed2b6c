#include "krait/study/result.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOutcomes[] = {"done", "refused", "broken"};

Json json_of(const std::map<std::string, double>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

Json json_of(const std::map<std::string, std::int64_t>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

template <class T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_predicted(Json& out, const JobResult& r) {
  out["engines"] = json_of(r.busy_ns);
  out["path"] = json_of(r.path_ns);
  out["work"] = json_of(r.work);
  out["instructions"] = json_of(r.instructions);
  out["dma_bytes"] = {{"read", r.hbm_read_bytes}, {"write", r.hbm_write_bytes}};
  out["sbuf_bytes_per_partition"] = r.sbuf_bytes;
  out["psum_bytes_per_partition"] = r.psum_bytes;
  out["depth"] = r.depth;
  out["bound_by"] = r.bound_by;
  out["findings"] = r.findings;
  out["evidence"] = r.evidence;
}

void add_measured(Json& out, const JobResult& r) {
  out["samples_ns"] = r.samples_ns;
  out["ran_on"] = r.ran_on;
  if (r.limits)
    out["limits"] = {{"gflops", r.limits->gflops},
                     {"gbps", r.limits->gbps},
                     {"set_gbps", r.limits->set_gbps},
                     {"exp_per_s", r.limits->exp_per_s}};
  if (r.source)
    out["source"] = {{"device", r.source->device},
                     {"instance", r.source->instance},
                     {"sdk", r.source->sdk},
                     {"statistic", r.source->statistic}};
}

constexpr const char* kForeign = "the database was changed by another program";

/// Reads keys of one object with messages that name the key.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {
    if (!object.is_object())
      throw UserError(Report{"a job's result is no JSON object", {}, object.type_name(), kForeign});
  }
  [[nodiscard]] bool has(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && !found->is_null();
  }
  template <class T>
  void read(const char* key, T& out) const {
    if (!has(key)) return;
    try {
      object_.at(key).get_to(out);
    } catch (const Json::exception&) {
      throw UserError(Report{"a job's result holds a value of another type", key,
                             object_.at(key).dump().substr(0, 80), "make the job again"});
    }
  }
  template <class T>
  void read(const char* key, std::optional<T>& out) const {
    if (!has(key)) return;
    out.emplace();
    read(key, *out);
  }
  [[nodiscard]] Reader object(const char* key) const { return Reader(object_.at(key)); }

 private:
  const Json& object_;
};

Outcome parse_outcome(const Reader& in) {
  std::string text;
  in.read("outcome", text);
  for (std::size_t i = 0; i < std::size(kOutcomes); ++i)
    if (kOutcomes[i] == text) return static_cast<Outcome>(i);
  throw UserError(Report{"a job's result has no known outcome", "outcome", text,
                         "one of done, refused, broken"});
}

void read_groups(const Reader& in, JobResult& r) {
  if (in.has("counts")) {
    const Reader counts = in.object("counts");
    counts.read("flops", r.counts.flops);
    counts.read("exps", r.counts.exps);
    counts.read("min_bytes", r.counts.min_bytes);
  }
  if (in.has("ulp")) {
    const Reader ulp = in.object("ulp");
    r.ulp.emplace();
    ulp.read("elements", r.ulp->elements);
    ulp.read("mismatches", r.ulp->mismatches);
    ulp.read("max_ulp", r.ulp->max_ulp);
  }
  if (in.has("dma_bytes")) {
    const Reader dma = in.object("dma_bytes");
    dma.read("read", r.hbm_read_bytes);
    dma.read("write", r.hbm_write_bytes);
  }
}

void read_host(const Reader& in, JobResult& r) {
  if (in.has("limits")) {
    const Reader limits = in.object("limits");
    r.limits.emplace();
    limits.read("gflops", r.limits->gflops);
    limits.read("gbps", r.limits->gbps);
    limits.read("set_gbps", r.limits->set_gbps);
    limits.read("exp_per_s", r.limits->exp_per_s);
  }
  if (in.has("source")) {
    const Reader source = in.object("source");
    r.source.emplace();
    source.read("device", r.source->device);
    source.read("instance", r.source->instance);
    source.read("sdk", r.source->sdk);
    source.read("statistic", r.source->statistic);
  }
}

}  // namespace

std::int64_t JobResult::instruction_count() const {
  std::int64_t total = 0;
  for (const auto& [engine, count] : instructions) total += count;
  return total;
}

double JobResult::busy_share(std::string_view engine) const {
  const auto found = busy_ns.find(std::string(engine));
  return found == busy_ns.end() || !(time_ns > 0) ? 0 : found->second / time_ns;
}

std::string to_json(const JobResult& r) {
  Json out;
  out["outcome"] = kOutcomes[static_cast<std::size_t>(r.outcome)];
  if (!r.done()) out["reason"] = r.reason;
  out["time_ns"] = r.time_ns;
  out["max_rel_error"] = json_or_null(r.max_rel_error);
  out["within_tolerance"] = json_or_null(r.within_tolerance);
  if (r.ulp)
    out["ulp"] = {{"elements", r.ulp->elements},
                  {"mismatches", r.ulp->mismatches},
                  {"max_ulp", r.ulp->max_ulp}};
  out["counts"] = {
      {"flops", r.counts.flops}, {"exps", r.counts.exps}, {"min_bytes", r.counts.min_bytes}};
  if (r.samples_ns.empty() && !r.source)
    add_predicted(out, r);
  else
    add_measured(out, r);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

JobResult result_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    throw UserError(
        Report{"a job's result is no JSON", {}, std::string(text.substr(0, 80)), kForeign});
  const Reader in(json);
  JobResult r;
  r.outcome = parse_outcome(in);
  in.read("reason", r.reason);
  in.read("time_ns", r.time_ns);
  in.read("max_rel_error", r.max_rel_error);
  in.read("within_tolerance", r.within_tolerance);
  in.read("engines", r.busy_ns);
  in.read("path", r.path_ns);
  in.read("work", r.work);
  in.read("instructions", r.instructions);
  in.read("sbuf_bytes_per_partition", r.sbuf_bytes);
  in.read("psum_bytes_per_partition", r.psum_bytes);
  in.read("depth", r.depth);
  in.read("bound_by", r.bound_by);
  in.read("findings", r.findings);
  in.read("evidence", r.evidence);
  in.read("samples_ns", r.samples_ns);
  in.read("ran_on", r.ran_on);
  read_groups(in, r);
  read_host(in, r);
  if (!std::isfinite(r.time_ns) || r.time_ns < 0)
    throw UserError(
        Report{"a job's time is not a number of nanoseconds", "time_ns", cat(r.time_ns), kForeign});
  return r;
}

std::vector<std::string> differences(const JobResult& stored, const JobResult& fresh) {
  const Json a = Json::parse(to_json(stored)), b = Json::parse(to_json(fresh));
  std::vector<std::string> out;
  for (const auto& [key, value] : a.items()) {
    const auto found = b.find(key);
    const std::string now = found == b.end() ? "absent" : found->dump();
    if (value.dump() != now) out.push_back(cat(key, ": stored ", value.dump(), ", now ", now));
  }
  for (const auto& [key, value] : b.items())
    if (!a.contains(key)) out.push_back(cat(key, ": stored absent, now ", value.dump()));
  return out;
}

}  // namespace krait::study
