#include <nlohmann/json.hpp>

#include "krait/study/text.hpp"

namespace krait::study {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ParamMap& params) {
  Json out = Json::object();
  for (const auto& [name, value] : params) out[name] = value;
  return out;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json time_of(const Entry& e, std::optional<std::size_t> index) {
  return index ? Json(e.variants[*index].result.time_ns) : Json(nullptr);
}

Json variant_json(const VariantResult& v) {
  Json out;
  out["variant"] = v.name;
  out["ns"] = v.result.done() ? Json(v.result.time_ns) : Json(nullptr);
  out["error"] = or_null(v.result.max_rel_error);
  out["role"] = name(v.role);
  out["within_tolerance"] = or_null(v.result.within_tolerance);
  if (!v.result.done()) out["reason"] = v.result.reason;
  out["job"] = v.key;
  return out;
}

Json entry_json(const Entry& e) {
  Json out;
  out["operator"] = e.op;
  out["context"] = e.context;
  out["machine"] = e.machine;
  out["shape"] = json_of(e.shape);
  out["measured"] = e.measured;
  out["naive_ns"] = time_of(e, e.naive);
  out["compiler_ns"] = time_of(e, e.compiler);
  Json custom = Json::array(), others = Json::array(), jobs = Json::array();
  for (const VariantResult& v : e.variants) {
    (v.role == Role::kCustom ? custom : others).push_back(variant_json(v));
    jobs.push_back(v.key);
  }
  out["custom"] = std::move(custom);
  out["others"] = std::move(others);
  const VariantResult* best = e.best_variant();
  out["best"] = best != nullptr ? Json(best->name) : Json(nullptr);
  out["factor"] = or_null(e.factor);
  out["band"] = e.band;
  out["band_note"] = e.band_note;
  out["verdict"] = e.verdict ? Json(name(*e.verdict)) : Json(nullptr);
  out["cause"] = e.cause;
  out["jobs"] = std::move(jobs);
  return out;
}

Json published_json(const Published& p) {
  Json out;
  out["what"] = p.what;
  out["published"] = p.published;
  out["ours"] = p.ours;
  out["reason"] = p.reason.empty() ? Json(nullptr) : Json(p.reason);
  out["jobs"] = p.jobs;
  return out;
}

std::string document(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string map_json(const Map& map) {
  Json out;
  out["entries"] = Json::array();
  for (const Entry& e : map.entries) out["entries"].push_back(entry_json(e));
  out["published"] = Json::array();
  for (const Published& p : map.published) out["published"].push_back(published_json(p));
  out["preset"] = map.campaign.preset;
  out["version"] = map.campaign.version;
  return document(out);
}

std::string job_json(const JobRow& job) {
  const JobSpec& s = job.spec;
  Json out;
  out["id"] = job.id;
  out["key"] = job.key;
  out["kind"] = name(s.kind);
  out["operator"] = s.op;
  out["context"] = s.context;
  out["machine"] = s.machine;
  out["variant"] = s.variant;
  out["role"] = name(s.role);
  out["shape"] = json_of(s.shape);
  out["tuning"] = json_of(s.tuning);
  out["rounding"] = s.rounding;
  out["seed"] = s.seed;
  out["table_hash"] = s.table_hash;
  out["host"] = s.host;
  out["version"] = s.version;
  out["command"] = job.command;
  out["commit"] = job.commit;
  out["status"] = name(job.status);
  out["result"] = Json(nullptr);
  if (job.status != JobStatus::kPending)
    out["result"] = Json::parse(job.result_json, nullptr, false);
  if (out["result"].is_discarded()) out["result"] = job.result_json;
  out["created"] = job.created;
  out["finished"] = job.finished;
  return document(out);
}

}  // namespace krait::study
