#pragma once

// The job database: campaigns (one run of a study, or one import) and their jobs. schema.sql has
// the columns. Every finished job is one committed transaction, so that a process killed at any
// point loses only what was running.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krait/study/job.hpp"
#include "krait/study/result.hpp"

namespace krait::study {

enum class JobStatus : std::uint8_t { kPending, kDone, kFailed };
[[nodiscard]] std::string_view name(JobStatus status);

struct Campaign {
  std::int64_t id = 0;
  std::string kind = "study";  // or "import"
  std::string preset;          // or the imported file's name
  std::string machines;        // "cpu,trn1"
  std::string version, commit, cpu, started;
};

struct JobRow {
  std::int64_t id = 0, campaign = 0;
  std::string key;
  JobSpec spec;
  std::string command, commit;
  JobStatus status = JobStatus::kPending;
  std::string result_json;  // empty while pending
  std::string created, finished;

  /// @throws UserError if the job is pending or its result cannot be read
  [[nodiscard]] JobResult result() const;
};

class Database {
 public:
  enum class Mode : std::uint8_t { kCreate, kExisting };
  /// Opens, and with kCreate makes, a database of this schema.
  /// @throws UserError: no database, of another program, of a newer schema, unreadable, locked
  explicit Database(const std::filesystem::path& path, Mode mode);
  ~Database();
  Database(Database&&) noexcept;

  /// Adds a campaign and its pending jobs in one transaction. @return the campaign's id
  std::int64_t begin(const Campaign& campaign, std::span<const JobSpec> plan);
  /// Adds the jobs of a plan that the campaign does not have yet, as pending.
  void extend(std::int64_t campaign, std::span<const JobSpec> plan);
  /// Stores the results of jobs in one transaction.
  struct Finished {
    std::int64_t id;
    JobResult result;
  };
  void finish(std::span<const Finished> jobs);
  /// A campaign whose jobs are complete already (import), in one transaction.
  /// @return how many were new; equal key and result already here are skipped
  std::size_t import(const Campaign& campaign, std::span<const JobRow> jobs);

  [[nodiscard]] std::optional<Campaign> campaign(std::int64_t id);
  /// The newest study, or the newest of this preset, machines, cpu and version.
  [[nodiscard]] std::optional<Campaign> latest_study();
  [[nodiscard]] std::optional<Campaign> latest_study(const Campaign& like);
  /// Jobs by id; of one campaign, or all.
  [[nodiscard]] std::vector<JobRow> jobs(std::optional<std::int64_t> campaign = std::nullopt);
  /// Times measured on real devices, from imports: the newest of each key.
  [[nodiscard]] std::vector<JobRow> device_jobs();
  /// A job by its number or by the start of its key (at least four digits; the newest job if a key
  /// occurs twice). @throws UserError if there is none or the start fits several keys
  [[nodiscard]] JobRow find(std::string_view id_or_key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krait::study
