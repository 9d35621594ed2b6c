#include "krait/study/database.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <set>

#include "krait/base/file.hpp"
#include "krait/study/lock.hpp"
#include "krait/study/runner.hpp"
#include "krait/study/sqlite.hpp"
#include "krait/study/study_testing.hpp"

namespace krait::study {
namespace {

using testing::campaign_of;
using ::testing::HasSubstr;
using testing::predicted_result;
using testing::predicted_spec;
using testing::refusal;
using testing::TempDir;
using Mode = Database::Mode;

std::vector<JobSpec> three_jobs() {
  return {predicted_spec("a", Role::kNaive), predicted_spec("b", Role::kCustom),
          predicted_spec("c", Role::kCustom)};
}

/// Opening a file in either mode is refused with this text, and the file keeps its bytes.
void expect_refused(const std::filesystem::path& path, const std::string& text) {
  const std::string before = read_file(path);
  for (const Mode mode : {Mode::kCreate, Mode::kExisting})
    EXPECT_THAT(refusal([&] { (void)Database(path, mode); }), HasSubstr(text));
  EXPECT_EQ(read_file(path), before);
}

TEST(Database, StoresEveryFieldOfAJob) {
  const TempDir dir;
  Database db(dir / "d.sqlite", Mode::kCreate);
  JobSpec spec = predicted_spec("a", Role::kProbe);
  spec.tuning = {{"columns", "4"}, {"odd 'name'", "\"<&\n"}};
  spec.rounding = false;
  spec.seed = (std::uint64_t{1} << 63) - 1;
  const auto campaign = db.begin(campaign_of(), {&spec, 1});
  JobResult result = predicted_result(0.1 + 0.2);  // no short decimal
  result.ulp = UlpCount{10, 2, 1};
  const Database::Finished finished{db.jobs(campaign).front().id, result};
  db.finish({&finished, 1});
  const JobRow row = db.jobs(campaign).front();
  EXPECT_EQ(row.spec, spec);
  EXPECT_EQ(row.result(), result);
  EXPECT_EQ(row.key, job_key(spec));
}

TEST(Database, RefusesFilesThatAreNotItsOwnAndLeavesThem) {
  const TempDir dir;
  write_file_atomically(dir / "text", std::string(2000, 'x'));
  expect_refused(dir / "text", "not a database");
  { Connection(dir / "other", true).execute("CREATE TABLE t (x)"); }
  expect_refused(dir / "other", "not a job database of krait");
  { Database(dir / "newer", Mode::kCreate); }
  { Connection(dir / "newer", false).execute("PRAGMA user_version = 2"); }
  expect_refused(dir / "newer", "newer schema");
  EXPECT_THAT(refusal([&] { (void)Database(dir / "none", Mode::kExisting); }),
              HasSubstr("no job database"));
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
}

TEST(Database, ACorruptPageIsAUserError) {
  const TempDir dir;
  {
    Database db(dir / "d", Mode::kCreate);
    (void)db.begin(campaign_of(), three_jobs());
  }
  std::string bytes = read_file(dir / "d");
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = '\x5a';
  write_file_atomically(dir / "d", bytes);
  EXPECT_THAT(refusal([&] { (void)Database(dir / "d", Mode::kExisting).jobs(); }),
              HasSubstr((dir / "d").string()));
}

TEST(Database, ChangedRowsAreUserErrors) {
  const TempDir dir;
  const auto with = [&](const std::string& change) {
    std::filesystem::remove(dir / "d");
    Database db(dir / "d", Mode::kCreate);
    const auto campaign = db.begin(campaign_of(), three_jobs());
    Connection(dir / "d", false).execute(change);
    return refusal([&] {
      for (const JobRow& row : db.jobs(campaign)) (void)row.result();
    });
  };
  EXPECT_THAT(with("UPDATE job SET shape = '[1]'"), HasSubstr("no JSON object"));
  EXPECT_THAT(with("UPDATE job SET status = 'done', result = '{'"), HasSubstr("no JSON"));
  EXPECT_THAT(with("UPDATE job SET status = 'done', result = '{\"outcome\": \"odd\"}'"),
              HasSubstr("no known outcome"));
  EXPECT_THAT(with("UPDATE job SET status = 'done', result = "
                   "'{\"outcome\": \"done\", \"time_ns\": \"fast\"}'"),
              HasSubstr("time_ns"));
}

TEST(Database, TwoConnectionsWriteOneFile) {
  const TempDir dir;
  Database one(dir / "d", Mode::kCreate), two(dir / "d", Mode::kCreate);
  const auto campaign = one.begin(campaign_of(), three_jobs());
  const auto rows = two.jobs(campaign);
  const Database::Finished first{rows[0].id, predicted_result(1)},
      second{rows[1].id, predicted_result(2)};
  two.finish({&first, 1});
  one.finish({&second, 1});
  EXPECT_EQ(two.jobs(campaign)[1].result().time_ns, 2);
  EXPECT_EQ(one.jobs(campaign)[0].result().time_ns, 1);
}

TEST(Database, FindsByNumberAndByStartOfKey) {
  const TempDir dir;
  Database db(dir / "d", Mode::kCreate);
  (void)db.begin(campaign_of(), three_jobs());
  const JobRow row = db.find("2");
  EXPECT_EQ(row.spec.variant, "b");
  EXPECT_EQ(db.find(row.key.substr(0, 8)).id, 2);
  EXPECT_THAT(refusal([&] { (void)db.find("zz"); }), HasSubstr("no such job"));
  EXPECT_THAT(refusal([&] { (void)db.find(""); }), HasSubstr("no such job"));
}

TEST(StudyLock, IsHeldByOneAndGivenBack) {
  const TempDir dir;
  {
    const StudyLock held(dir / "d");
    EXPECT_THAT(refusal([&] { StudyLock(dir / "d", 0); }),
                HasSubstr("process " + std::to_string(getpid())));
  }
  EXPECT_NO_THROW(StudyLock(dir / "d", 0));
  EXPECT_FALSE(std::filesystem::exists(dir / "d-lock"));
  // The file of a process that was killed holds nothing.
  write_file_atomically(dir / "d-lock", "12345");
  EXPECT_NO_THROW(StudyLock(dir / "d", 0));
}

Executor counting(std::atomic<int>& runs) {
  return {.predict = [&runs](const JobSpec& spec) -> JobResult {
            ++runs;
            if (spec.variant == "b") throw UserError(Report{"does not fit", {}, {}, "shrink it"});
            if (spec.variant == "c") throw std::bad_alloc();
            return predicted_result(5);
          },
          .measure = {}};
}

TEST(Runner, ResumeRunsOnlyWhatIsOpenOrBroke) {
  const TempDir dir;
  Database db(dir / "d", Mode::kCreate);
  std::atomic<int> runs = 0;
  const auto jobs = three_jobs();
  const auto first = run_study(db, campaign_of(), jobs, counting(runs), {.threads = 1});
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(db.jobs(first)[1].result().outcome, Outcome::kRefused);
  EXPECT_EQ(db.jobs(first)[2].result().outcome, Outcome::kBroken);
  // Refused is an answer; memory that was short is not.
  EXPECT_EQ(run_study(db, campaign_of(), jobs, counting(runs), {.resume = true, .threads = 1}),
            first);
  EXPECT_EQ(runs, 4);
  // Another preset is another study, and without --resume everything runs again.
  EXPECT_NE(run_study(db, campaign_of("full"), jobs, counting(runs), {.resume = true}), first);
  EXPECT_NE(run_study(db, campaign_of(), jobs, counting(runs)), first);
  EXPECT_EQ(runs, 10);
}

TEST(Runner, ResumeAddsTheJobsOfAGrownPlan) {
  const TempDir dir;
  Database db(dir / "d", Mode::kCreate);
  std::atomic<int> runs = 0;
  const auto jobs = three_jobs();
  const auto id = run_study(db, campaign_of(), std::span(jobs).first(1), counting(runs));
  EXPECT_EQ(
      run_study(db, campaign_of(), std::span(jobs).first(2), counting(runs), {.resume = true}), id);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(db.jobs(id).size(), 2U);
}

}  // namespace
}  // namespace krait::study
