#include "krait/study/archive.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "krait/base/file.hpp"
#include "krait/study/map.hpp"
#include "krait/study/study_testing.hpp"

namespace krait::study {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using testing::predicted_result;
using testing::predicted_spec;
using testing::refusal;
using testing::row_of;
using testing::TempDir;

std::vector<JobRow> two_rows() {
  return {row_of(predicted_spec("plain", Role::kNaive), predicted_result(200)),
          row_of(predicted_spec("ours", Role::kCustom), predicted_result(100))};
}

Json device_times() {
  return Json::parse(R"({"format": "krait-device-times", "format_version": 1,
    "source": {"device": "trn1", "instance": "trn1.2xlarge", "sdk": "2.20", "statistic": "median"},
    "times": [
      {"operator": "rmsnorm", "variant": "plain", "role": "naive",
       "shape": {"rows": 512, "width": "4096"}, "time_ns": 300},
      {"operator": "rmsnorm", "variant": "ours", "shape": {"rows": 512, "width": 4096},
       "samples_ns": [90, 100, 130]}]})");
}

struct Archive : ::testing::Test {
  TempDir dir;
  Database db{dir / "d", Database::Mode::kCreate};

  Imported import(const std::string& text) {
    write_file_atomically(dir / "f.json", text);
    return import_archive(db, dir / "f.json");
  }
  /// A file is refused with this text and nothing was added.
  void refuses(const std::string& text, const std::string& why) {
    EXPECT_THAT(refusal([&] { (void)import(text); }), HasSubstr(why));
    EXPECT_TRUE(db.jobs().empty());
  }
};

TEST_F(Archive, CarriesJobsUnchangedAndAddsThemOnce) {
  const auto rows = two_rows();
  EXPECT_EQ(import(archive_json(rows)).added, 2U);
  const auto back = db.jobs();
  ASSERT_EQ(back.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].spec, rows[i].spec);
    EXPECT_EQ(back[i].result_json, rows[i].result_json);
  }
  EXPECT_EQ(import(archive_json(rows)).added, 0U);
  EXPECT_EQ(db.jobs().size(), 2U);
}

TEST_F(Archive, HoldsTheNewestJobOfEachKey) {
  std::vector<JobRow> rows = two_rows();
  rows.push_back(row_of(rows[0].spec, predicted_result(250)));
  const Json out = Json::parse(archive_json(rows));
  ASSERT_EQ(out["jobs"].size(), 2U);
  EXPECT_EQ(import(archive_json(rows)).added, 2U);
  EXPECT_EQ(db.find(rows[0].key).result().time_ns, 250);
}

TEST_F(Archive, RefusesWhatIsTruncatedAnywhere) {
  const std::string whole = archive_json(two_rows());
  for (std::size_t n = 0; n + 2 < whole.size(); n += 41) refuses(whole.substr(0, n), "not JSON");
}

TEST_F(Archive, RefusesOtherFormatsAndVersions) {
  Json file = Json::parse(archive_json(two_rows()));
  file["format_version"] = 2;
  refuses(file.dump(), "unknown version of the format");
  file["format"] = "odd";
  refuses(file.dump(), "unknown format");
  refuses("[]", "not a JSON object");
  refuses("{}", "'format' is missing");
}

TEST_F(Archive, RefusesJobsThatWereChanged) {
  const Json whole = Json::parse(archive_json(two_rows()));
  const auto with = [&whole](const char* key, const Json& value) {
    Json file = whole;
    file["jobs"][1][key] = value;
    return file.dump();
  };
  refuses(with("machine", "trn2"), "does not belong to the job");
  refuses(with("key", "0000000000000000"), "does not belong to the job");
  refuses(with("seed", -1), "negative");
  refuses(with("seed", "x"), "'seed' has another type");
  refuses(with("kind", "guess"), "unknown kind");
  refuses(with("status", "pending"), "pending");
  refuses(with("result", nullptr), "without a result");
  refuses(with("result", Json{{"outcome", "done"}, {"time_ns", -1}}), "time");
}

TEST_F(Archive, RefusesAJobThatIsGivenTwice) {
  Json file = Json::parse(archive_json(two_rows()));
  file["jobs"].push_back(file["jobs"][0]);
  refuses(file.dump(), "given twice");
  Json times = device_times();
  times["times"].push_back(times["times"][0]);
  refuses(times.dump(), "given twice");
}

TEST_F(Archive, DeviceTimesBecomeAMeasuredEntryWithTheirSource) {
  EXPECT_EQ(import(device_times().dump()).added, 2U);
  const auto rows = db.device_jobs();
  const JobResult result = rows[1].result();
  EXPECT_EQ(result.time_ns, 100);  // median of the samples
  EXPECT_EQ(result.source, (DeviceSource{"trn1", "trn1.2xlarge", "2.20", "median"}));
  const auto entries = make_entries(rows);
  ASSERT_EQ(entries.size(), 1U);  // 4096 and "4096" are one shape
  EXPECT_TRUE(entries[0].measured);
  EXPECT_EQ(entries[0].factor, 3.0);
  EXPECT_THAT(entries[0].cause, HasSubstr("times alone"));
}

TEST_F(Archive, DeviceTimesNeedASourceAndRealTimes) {
  Json file = device_times();
  file["source"].erase("sdk");
  refuses(file.dump(), "'sdk' is missing");
  file = device_times();
  file["source"]["device"] = "trn9";
  refuses(file.dump(), "trn9");
  file = device_times();
  file["times"][0]["time_ns"] = 0;
  refuses(file.dump(), "no time");
  file = device_times();
  file["times"][1]["samples_ns"] = {1, -2};
  refuses(file.dump(), "no time");
}

TEST(Rerun, OfAPredictionComparesEveryField) {
  JobRow row = row_of(predicted_spec("ours", Role::kCustom), predicted_result(100));
  double now = 100;
  const Executor executor{.predict = [&now](const JobSpec&) { return predicted_result(now); },
                          .measure = {}};
  EXPECT_TRUE(rerun(row, executor).same);
  now = 101;
  const Rerun changed = rerun(row, executor);
  EXPECT_FALSE(changed.same);
  EXPECT_THAT(changed.differences, ::testing::Contains(HasSubstr("time_ns: stored 100")));
}

}  // namespace
}  // namespace krait::study
