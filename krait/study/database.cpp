#include "krait/study/database.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/study/embedded.hpp"
#include "krait/study/provenance.hpp"
#include "krait/study/sqlite.hpp"

namespace krait::study {
namespace {

constexpr std::int64_t kApplicationId = 0x4B524154;  // "KRAT"
constexpr std::int64_t kSchemaVersion = 1;
constexpr std::string_view kStatusNames[] = {"pending", "done", "failed"};
constexpr std::string_view kJobColumns =
    "id, campaign, key, kind, operator, context, machine, variant, role, shape, tuning, rounding, "
    "seed, table_hash, host, version, command, commit_, status, result, created, finished";
constexpr std::string_view kCampaignColumns =
    "id, kind, preset, machines, version, commit_, cpu, started";

std::string params_json(const ParamMap& params) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [key, value] : params) out[key] = value;
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ParamMap parse_params(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ParamMap out;
  bool good = json.is_object();
  if (good)
    for (const auto& [key, value] : json.items()) {
      good = good && value.is_string();
      if (value.is_string()) out[key] = value.get<std::string>();
    }
  if (!good)
    throw UserError(Report{"a job's parameters are no JSON object of texts",
                           {},
                           text.substr(0, 80),
                           "the database was changed by another program"});
  return out;
}

JobStatus parse_status(const std::string& text) {
  for (std::size_t i = 0; i < std::size(kStatusNames); ++i)
    if (kStatusNames[i] == text) return static_cast<JobStatus>(i);
  throw UserError(Report{
      "a job has an unknown status", {}, text, "the database was changed by another program"});
}

JobRow read_job(const Statement& s) {
  JobRow row{.id = s.integer(0), .campaign = s.integer(1), .key = s.text(2)};
  row.spec = JobSpec{.kind = parse_kind(s.text(3)),
                     .op = s.text(4),
                     .context = s.text(5),
                     .machine = s.text(6),
                     .variant = s.text(7),
                     .role = parse_role(s.text(8)),
                     .shape = parse_params(s.text(9)),
                     .tuning = parse_params(s.text(10)),
                     .rounding = s.integer(11) != 0,
                     .seed = static_cast<std::uint64_t>(s.integer(12)),
                     .table_hash = s.text(13),
                     .host = s.text(14),
                     .version = s.text(15)};
  row.command = s.text(16);
  row.commit = s.text(17);
  row.status = parse_status(s.text(18));
  row.result_json = s.text(19);
  row.created = s.text(20);
  row.finished = s.text(21);
  return row;
}

Campaign read_campaign(const Statement& s) {
  return {.id = s.integer(0),
          .kind = s.text(1),
          .preset = s.text(2),
          .machines = s.text(3),
          .version = s.text(4),
          .commit = s.text(5),
          .cpu = s.text(6),
          .started = s.text(7)};
}

JobRow pending_row(const JobSpec& spec, std::int64_t campaign) {
  return {.campaign = campaign,
          .key = job_key(spec),
          .spec = spec,
          .command = command_of(spec),
          .commit = std::string(build_commit()),
          .created = utc_now()};
}

bool is_digits(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

}  // namespace

std::string_view name(JobStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

JobResult JobRow::result() const {
  if (status == JobStatus::kPending)
    throw UserError(Report{"the job is not finished", "job " + key, "status pending",
                           "run krait map with --resume"});
  try {
    return result_from_json(result_json);
  } catch (const UserError& e) {
    Report report = e.report();
    report.where = cat("job ", key, report.where.empty() ? "" : ", ", report.where);
    throw UserError(report);
  }
}

struct Database::State {
  Connection db;
  std::string path;

  State(const std::filesystem::path& file, bool create) : db(file, create), path(file.string()) {}

  void check_identity() {
    const std::int64_t application = db.integer("PRAGMA application_id");
    const std::int64_t version = db.integer("PRAGMA user_version");
    if (application != kApplicationId)
      throw UserError(Report{"not a job database of krait: " + path,
                             {},
                             "an SQLite database of another program",
                             "name another file with --db; this one is left as it is"});
    if (version != kSchemaVersion)
      throw UserError(
          Report{cat("the job database has ", version > kSchemaVersion ? "a newer" : "an unknown",
                     " schema: ", path),
                 {},
                 cat("schema ", version, "; this program knows ", kSchemaVersion),
                 "use the krait that wrote it, or another file with --db"});
  }
  [[nodiscard]] bool is_empty() {
    return db.integer("SELECT count(*) FROM sqlite_master") == 0 &&
           db.integer("PRAGMA application_id") == 0;
  }
  void make_schema() {
    db.execute("PRAGMA journal_mode = WAL");
    Transaction transaction(db);
    if (is_empty()) {  // not made meanwhile by another process
      db.execute(std::string(embedded::kSchemaSql));
      db.execute(cat("PRAGMA application_id = ", kApplicationId));
      db.execute(cat("PRAGMA user_version = ", kSchemaVersion));
    }
    transaction.commit();
  }

  void insert_campaign(const Campaign& s, std::int64_t& id) {
    Statement insert = db.prepare(
        "INSERT INTO campaign (kind, preset, machines, version, commit_, cpu, started) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    insert.bind(1, s.kind).bind(2, s.preset).bind(3, s.machines).bind(4, s.version);
    insert.bind(5, s.commit).bind(6, s.cpu).bind(7, s.started).run();
    id = db.integer("SELECT last_insert_rowid()");
  }
  void insert_jobs(std::span<const JobRow> rows) {
    Statement insert =
        db.prepare(cat("INSERT INTO job (", kJobColumns.substr(4),
                       ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
                       "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21) "
                       "ON CONFLICT (campaign, key) DO NOTHING"));
    for (const JobRow& row : rows) {
      const JobSpec& s = row.spec;
      insert.bind(1, row.campaign).bind(2, row.key).bind(3, name(s.kind)).bind(4, s.op);
      insert.bind(5, s.context).bind(6, s.machine).bind(7, s.variant).bind(8, name(s.role));
      insert.bind(9, params_json(s.shape)).bind(10, params_json(s.tuning));
      insert.bind(11, std::int64_t{s.rounding}).bind(12, static_cast<std::int64_t>(s.seed));
      insert.bind(13, s.table_hash).bind(14, s.host).bind(15, s.version).bind(16, row.command);
      insert.bind(17, row.commit).bind(18, name(row.status)).bind(19, row.result_json);
      insert.bind(20, row.created).bind(21, row.finished).run();
    }
  }
  std::vector<JobRow> read_jobs(Statement& select) const {
    std::vector<JobRow> rows;
    while (select.step()) rows.push_back(read_job(select));
    return rows;
  }
  Statement select_jobs(std::string_view where) {
    return db.prepare(cat("SELECT ", kJobColumns, " FROM job ", where));
  }
  std::optional<Campaign> one_campaign(Statement& select) const {
    if (!select.step()) return std::nullopt;
    return read_campaign(select);
  }
  Statement select_campaign(std::string_view where) {
    return db.prepare(cat("SELECT ", kCampaignColumns, " FROM campaign ", where));
  }
};

Database::Database(const std::filesystem::path& path, Mode mode) {
  std::error_code status;
  if (mode == Mode::kExisting && !std::filesystem::exists(path, status))
    throw UserError(Report{"no job database at " + path.string(),
                           {},
                           {},
                           "krait map makes one; name another file with --db"});
  state_ = std::make_unique<State>(path, mode == Mode::kCreate);
  if (mode == Mode::kCreate && state_->is_empty()) state_->make_schema();
  state_->check_identity();
  // A finished job is on the disk before the next is reported, also if the machine loses power.
  state_->db.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
}

Database::~Database() = default;
Database::Database(Database&&) noexcept = default;

std::int64_t Database::begin(const Campaign& campaign, std::span<const JobSpec> plan) {
  Transaction transaction(state_->db);
  std::int64_t id = 0;
  state_->insert_campaign(campaign, id);
  std::vector<JobRow> rows;
  for (const JobSpec& spec : plan) rows.push_back(pending_row(spec, id));
  state_->insert_jobs(rows);
  transaction.commit();
  return id;
}

void Database::extend(std::int64_t campaign, std::span<const JobSpec> plan) {
  Transaction transaction(state_->db);
  std::vector<JobRow> rows;
  for (const JobSpec& spec : plan) rows.push_back(pending_row(spec, campaign));
  state_->insert_jobs(rows);
  transaction.commit();
}

void Database::finish(std::span<const Finished> jobs) {
  Transaction transaction(state_->db);
  Statement update =
      state_->db.prepare("UPDATE job SET status = ?2, result = ?3, finished = ?4 WHERE id = ?1");
  const std::string now = utc_now();
  for (const Finished& job : jobs) {
    const JobStatus status = job.result.done() ? JobStatus::kDone : JobStatus::kFailed;
    update.bind(1, job.id).bind(2, name(status)).bind(3, to_json(job.result)).bind(4, now).run();
  }
  transaction.commit();
}

std::size_t Database::import(const Campaign& campaign, std::span<const JobRow> jobs) {
  Transaction transaction(state_->db);
  Statement known = state_->db.prepare("SELECT 1 FROM job WHERE key = ?1 AND result = ?2");
  std::vector<JobRow> fresh;
  for (const JobRow& job : jobs) {
    known.bind(1, job.key).bind(2, job.result_json);
    const bool found = known.step();
    while (known.step()) {
    }
    if (!found) fresh.push_back(job);
  }
  if (!fresh.empty()) {
    std::int64_t id = 0;
    state_->insert_campaign(campaign, id);
    for (JobRow& job : fresh) job.campaign = id;
    state_->insert_jobs(fresh);
  }
  transaction.commit();
  return fresh.size();
}

std::optional<Campaign> Database::campaign(std::int64_t id) {
  Statement select = state_->select_campaign("WHERE id = ?1");
  select.bind(1, id);
  return state_->one_campaign(select);
}

std::optional<Campaign> Database::latest_study() {
  Statement select = state_->select_campaign("WHERE kind = 'study' ORDER BY id DESC LIMIT 1");
  return state_->one_campaign(select);
}

std::optional<Campaign> Database::latest_study(const Campaign& like) {
  Statement select = state_->select_campaign(
      "WHERE kind = 'study' AND preset = ?1 AND machines = ?2 AND cpu = ?3 "
      "AND version = ?4 ORDER BY id DESC LIMIT 1");
  select.bind(1, like.preset).bind(2, like.machines).bind(3, like.cpu).bind(4, like.version);
  return state_->one_campaign(select);
}

std::vector<JobRow> Database::jobs(std::optional<std::int64_t> campaign) {
  Statement select = state_->select_jobs("WHERE ?1 < 0 OR campaign = ?1 ORDER BY id");
  select.bind(1, campaign.value_or(-1));
  return state_->read_jobs(select);
}

std::vector<JobRow> Database::device_jobs() {
  Statement select = state_->select_jobs(
      "WHERE kind = 'measure' AND machine <> 'cpu' AND status = 'done' "
      "AND id IN (SELECT max(id) FROM job GROUP BY key) ORDER BY id");
  return state_->read_jobs(select);
}

JobRow Database::find(std::string_view id_or_key) {
  if (const auto id = parse_int(id_or_key); id && is_digits(id_or_key, "0123456789")) {
    Statement select = state_->select_jobs("WHERE id = ?1");
    select.bind(1, *id);
    if (const auto rows = state_->read_jobs(select); !rows.empty()) return rows.front();
  }
  std::vector<JobRow> rows;
  if (id_or_key.size() >= 4 && is_digits(id_or_key, "0123456789abcdef")) {
    Statement select = state_->select_jobs("WHERE substr(key, 1, length(?1)) = ?1 ORDER BY id");
    select.bind(1, id_or_key);
    rows = state_->read_jobs(select);
  }
  if (rows.empty())
    throw UserError(Report{"no such job", state_->path, std::string(id_or_key),
                           "krait jobs list shows numbers and keys"});
  if (rows.front().key != rows.back().key)
    throw UserError(Report{"several jobs have keys that start so", state_->path,
                           cat(id_or_key, ": ", rows.front().key, ", ", rows.back().key),
                           "give more digits"});
  return rows.back();
}

}  // namespace krait::study
