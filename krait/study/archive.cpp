#include "krait/study/archive.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/machine/values.hpp"
#include "krait/study/map.hpp"
#include "krait/study/preset.hpp"
#include "krait/study/provenance.hpp"
#include "krait/study/text.hpp"

namespace krait::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kJobsFormat = "krait-jobs";
constexpr std::string_view kTimesFormat = "krait-device-times";
constexpr int kFormatVersion = 1;

/// Keys of one object of the file, with messages that say where.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("not a JSON object", {});
  }
  [[noreturn]] void fail(const std::string& what, const std::string& got) const {
    throw UserError(Report{what, where_, got, "docs/study.md shows both formats"});
  }
  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  template <class T>
  [[nodiscard]] T get(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) fail(cat("key '", key, "' is missing"), {});
    try {
      return found->get<T>();
    } catch (const Json::exception&) {
      fail(cat("key '", key, "' has another type"),
           found->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80));
    }
  }
  template <class T>
  [[nodiscard]] T get_or(const char* key, T fallback) const {
    return has(key) ? get<T>(key) : fallback;
  }
  [[nodiscard]] const Json& list(const char* key) const {
    if (!has(key) || !object_.at(key).is_array()) fail(cat("key '", key, "' is no list"), {});
    return object_.at(key);
  }
  [[nodiscard]] Reader object(const char* key) const {
    if (!has(key)) fail(cat("key '", key, "' is missing"), {});
    return {object_.at(key), cat(where_, ", ", key)};
  }
  /// Parameters: texts, or numbers and flags that a person wrote without quotes.
  [[nodiscard]] ParamMap params(const char* key) const {
    ParamMap out;
    if (!has(key)) return out;
    if (!object_.at(key).is_object()) fail(cat("key '", key, "' is no object"), {});
    for (const auto& [name, value] : object_.at(key).items())
      out[name] = value.is_string() ? value.get<std::string>() : value.dump();
    return out;
  }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  const Json& object_;
  std::string where_;
};

Json table_json(const MachineSpec& machine) {
  Json out;
  out["hash"] = hex16(table_hash(machine));
  Json& values = out["values"] = Json::object();
  for_each_value(machine, [&values](const ValueRow& row) {
    values[row.name] = {{"text", row.text},
                        {"unit", row.unit},
                        {"evidence", std::string(1, letter(row.source.evidence))}};
  });
  return out;
}

Json tables_json(std::span<const JobRow> jobs) {
  std::set<std::string> used;
  for (const JobRow& job : jobs)
    if (!job.spec.table_hash.empty()) used.insert(job.spec.machine);
  Json out = Json::object();
  for (const MachineSpec* machine : machines())
    if (used.contains(std::string(machine->name())))
      out[std::string(machine->name())] = table_json(*machine);
  return out;
}

JobStatus status_of(const Reader& in) {
  const auto text = in.get<std::string>("status");
  for (const JobStatus status : {JobStatus::kPending, JobStatus::kDone, JobStatus::kFailed})
    if (text == name(status)) return status;
  in.fail("unknown status", text);
}

JobSpec read_spec(const Reader& in) {
  const auto seed = in.get<std::int64_t>("seed");
  if (seed < 0) in.fail("the seed is negative", std::to_string(seed));
  return {.kind = parse_kind(in.get<std::string>("kind")),
          .op = in.get<std::string>("operator"),
          .context = in.get<std::string>("context"),
          .machine = in.get<std::string>("machine"),
          .variant = in.get<std::string>("variant"),
          .role = parse_role(in.get<std::string>("role")),
          .shape = in.params("shape"),
          .tuning = in.params("tuning"),
          .rounding = in.get<bool>("rounding"),
          .seed = static_cast<std::uint64_t>(seed),
          .table_hash = in.get<std::string>("table_hash"),
          .host = in.get<std::string>("host"),
          .version = in.get<std::string>("version")};
}

JobRow read_job(const Json& json, const std::string& where) {
  const Reader in(json, where);
  JobRow row{.key = in.get<std::string>("key"), .spec = read_spec(in)};
  if (row.key != job_key(row.spec))
    in.fail("the key does not belong to the job: the file was changed",
            cat("key ", row.key, ", the job's is ", job_key(row.spec)));
  row.command = command_of(row.spec);
  row.commit = in.get<std::string>("commit");
  row.status = status_of(in);
  if (row.status == JobStatus::kPending) in.fail("a pending job has no result to import", {});
  // Through our own type: unknown keys go, and the text is as this program writes it.
  row.result_json = to_json(result_from_json(json.at("result").dump()));
  row.created = in.get<std::string>("created");
  row.finished = in.get<std::string>("finished");
  return row;
}

std::vector<JobRow> read_jobs(const Reader& file) {
  std::vector<JobRow> rows;
  for (const Json& json : file.list("jobs")) {
    const std::string where = cat(file.where(), ", job ", rows.size() + 1);
    if (!json.is_object() || !json.contains("result") || !json.at("result").is_object())
      throw UserError(Report{"a job without a result", where, {}, "export it again"});
    rows.push_back(read_job(json, where));
  }
  return rows;
}

JobResult read_time(const Reader& in, const DeviceSource& source) {
  JobResult result;
  result.samples_ns = in.get_or<std::vector<double>>("samples_ns", {});
  result.time_ns = in.has("time_ns") || result.samples_ns.empty() ? in.get<double>("time_ns")
                                                                  : median(result.samples_ns);
  for (const double ns : result.samples_ns)
    if (!(ns > 0) || !std::isfinite(ns)) in.fail("a sample is no time", cat(ns, " ns"));
  if (!(result.time_ns > 0) || !std::isfinite(result.time_ns))
    in.fail("time_ns is no time", cat(result.time_ns, " ns"));
  result.ran_on = source.device;
  result.source = source;
  return result;
}

std::vector<JobRow> read_times(const Reader& file) {
  const Reader from = file.object("source");
  const DeviceSource source{
      .device = std::string(find_machine(from.get<std::string>("device")).name()),
      .instance = from.get<std::string>("instance"),
      .sdk = from.get<std::string>("sdk"),
      .statistic = from.get<std::string>("statistic")};
  std::vector<JobRow> rows;
  for (const Json& json : file.list("times")) {
    const Reader in(json, cat(file.where(), ", time ", rows.size() + 1));
    JobRow row;
    row.spec = {.kind = JobKind::kMeasure,
                .op = in.get<std::string>("operator"),
                .context = in.get_or<std::string>("context", "alone"),
                .machine = source.device,
                .variant = in.get<std::string>("variant"),
                .role = parse_role(in.get_or<std::string>("role", "custom")),
                .shape = in.params("shape"),
                .tuning = in.params("tuning"),
                .host = cat(source.instance, ", SDK ", source.sdk)};
    row.key = job_key(row.spec);
    row.command = cat("imported: ", source.statistic, " on ", source.instance);
    row.commit = std::string(build_commit());
    row.status = JobStatus::kDone;
    row.result_json = to_json(read_time(in, source));
    row.created = row.finished = utc_now();
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A file that tells one job twice contradicts itself, or was put together by hand.
void require_unique(const std::vector<JobRow>& rows, const Reader& file) {
  std::set<std::string> seen;
  for (const JobRow& row : rows)
    if (!seen.insert(row.key).second)
      file.fail("a job is given twice",
                cat(label(row.spec.op, row.spec.shape), ", ", variant_label(row.spec)));
}

/// The newest finished job of each key, in their order: what one archive can hold.
std::vector<const JobRow*> newest_of(std::span<const JobRow> jobs) {
  std::map<std::string, const JobRow*> newest;
  for (const JobRow& job : jobs)
    if (job.status != JobStatus::kPending) newest[job.key] = &job;
  std::vector<const JobRow*> out;
  for (const JobRow& job : jobs)
    if (const auto found = newest.find(job.key); found != newest.end() && found->second == &job)
      out.push_back(&job);
  return out;
}

std::vector<JobRow> read_archive(const std::filesystem::path& path) {
  const Json json = Json::parse(read_file(path), nullptr, false);
  if (json.is_discarded())
    throw UserError(
        Report{"not JSON: " + path.string(), {}, {}, "give a file of krait jobs export"});
  const Reader file(json, path.string());
  const auto format = file.get<std::string>("format");
  if (format != kJobsFormat && format != kTimesFormat)
    file.fail("unknown format", cat(format, "; known: ", kJobsFormat, ", ", kTimesFormat));
  if (const auto version = file.get<std::int64_t>("format_version"); version != kFormatVersion)
    file.fail("unknown version of the format",
              cat(version, "; this program knows ", kFormatVersion));
  std::vector<JobRow> rows = format == kJobsFormat ? read_jobs(file) : read_times(file);
  require_unique(rows, file);
  return rows;
}

Rerun compare_times(const JobRow& job, const JobResult& stored, JobResult fresh) {
  Rerun out{.fresh = std::move(fresh)};
  if (!out.fresh.done()) {
    out.differences.push_back("outcome: stored done, now " + out.fresh.reason);
    return out;
  }
  const double band = std::max(kLeastMeasuredBand, relative_spread(stored.samples_ns) +
                                                       relative_spread(out.fresh.samples_ns));
  const double ratio = out.fresh.time_ns / stored.time_ns;
  out.same =
      out.fresh.within_tolerance.value_or(true) && ratio <= 1 + band && ratio >= 1 / (1 + band);
  out.note = cat("medians ", human_time(stored.time_ns), " stored and ",
                 human_time(out.fresh.time_ns), " now; the spreads allow a factor of ", 1 + band);
  if (!out.same)
    out.differences.push_back(cat("time_ns: stored ", stored.time_ns, ", now ", out.fresh.time_ns));
  if (here(job.spec).host != job.spec.host) out.note += "; another processor: " + job.spec.host;
  return out;
}

std::string other_build(const JobSpec& stored, const JobSpec& now) {
  std::vector<std::string> parts;
  if (stored.version != now.version)
    parts.push_back("version " + stored.version + ", now " + now.version);
  if (stored.table_hash != now.table_hash)
    parts.push_back("machine table " + stored.table_hash + ", now " + now.table_hash);
  return parts.empty() ? "same version and machine table" : "stored by " + join(parts, "; ");
}

}  // namespace

std::string archive_json(std::span<const JobRow> jobs) {
  Json out;
  out["format"] = kJobsFormat;
  out["format_version"] = kFormatVersion;
  out["version"] = program_version();
  out["commit"] = build_commit();
  out["tables"] = tables_json(jobs);
  out["jobs"] = Json::array();
  for (const JobRow* job : newest_of(jobs)) out["jobs"].push_back(Json::parse(job_json(*job)));
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Imported import_archive(Database& database, const std::filesystem::path& file) {
  const std::vector<JobRow> rows = read_archive(file);
  const Campaign campaign{.kind = "import",
                          .preset = file.filename().string(),
                          .machines = {},
                          .version = std::string(program_version()),
                          .commit = std::string(build_commit()),
                          .cpu = cpu_model(),
                          .started = utc_now()};
  return {.read = rows.size(), .added = database.import(campaign, rows)};
}

Rerun rerun(const JobRow& job, const Executor& executor) {
  const JobResult stored = job.result();
  const JobSpec now = here(job.spec);
  if (job.spec.kind == JobKind::kMeasure) {
    if (stored.source || job.spec.machine != "cpu")
      throw UserError(Report{"measured on a device that is not here", "job " + job.key,
                             job.spec.host, "run the variant there and import the new times"});
    const JobSpec spec = now;
    if (!stored.done()) {
      Rerun out{.fresh = run_measured({&spec, 1}, executor).front()};
      out.same = out.fresh.outcome == stored.outcome;
      return out;
    }
    return compare_times(job, stored, run_measured({&spec, 1}, executor).front());
  }
  Rerun out{.fresh = run_predicted(now, executor)};
  out.differences = differences(stored, out.fresh);
  out.same = out.differences.empty();
  out.note = other_build(job.spec, now);
  return out;
}

}  // namespace krait::study
