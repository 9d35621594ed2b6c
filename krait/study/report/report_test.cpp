#include "krait/study/report/report.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "krait/study/published.hpp"
#include "krait/study/report/sections.hpp"
#include "krait/study/study_testing.hpp"
#include "krait/study/text.hpp"

namespace krait::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::predicted_result;
using testing::predicted_spec;
using testing::row_of;

constexpr const char* kHostile = "</script><img src=x onerror='alert(1)'>\"&";

Map make(const std::string& variant) {
  Map map;
  map.campaign = testing::campaign_of();
  map.jobs = {row_of(predicted_spec("rmsnorm_naive", Role::kNaive), predicted_result(200e3)),
              row_of(predicted_spec(variant, Role::kCustom), predicted_result(100e3))};
  map.entries = make_entries(map.jobs);
  map.published = make_published(map.entries);
  return map;
}

/// What stands between each `before` and the quote that follows it.
std::set<std::string> values_of(const std::string& text, const std::string& before) {
  std::set<std::string> out;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    out.insert(text.substr(at, text.find('"', at) - at));
  }
  return out;
}

/// The page up to its scripts, which hold a library of 200 kB.
std::string body_of(const Map& map) {
  const std::string html = report_html(map);
  return html.substr(0, html.find("<script"));
}

TEST(Report, LoadsNothingFromElsewhere) {
  const std::string html = report_html(make("rmsnorm_fused"));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_THAT(html, Not(HasSubstr("url(http")));
  EXPECT_THAT(body_of(make("rmsnorm_fused")), Not(HasSubstr("http")));
}

TEST(Report, EveryLinkLeadsToAnAnchorOfThePage) {
  const std::string html = body_of(make("rmsnorm_fused"));
  const auto links = values_of(html, "href=\"#"), ids = values_of(html, " id=\"");
  EXPECT_GE(links.size(), 5U);
  for (const std::string& link : links) EXPECT_TRUE(ids.contains(link)) << link;
}

TEST(Report, ShowsFactorsTimesAndCausesWithoutScripts) {
  const Map map = make("rmsnorm_fused");
  const std::string html = body_of(map);
  EXPECT_THAT(report::map_section(map), HasSubstr("<table"));
  EXPECT_THAT(report::map_section(map), HasSubstr("2.00x"));
  for (const JobRow& job : map.jobs) {
    EXPECT_THAT(html, HasSubstr("<tr id=\"job-" + job.key + "\">"));
    EXPECT_THAT(html, HasSubstr(report::escape(job_json(job))));
  }
  EXPECT_THAT(html, HasSubstr(report::escape(map.entries[0].cause)));
}

TEST(Report, EachPublishedFigureCitesItsJobs) {
  const Map map = make("rmsnorm_fused");
  ASSERT_FALSE(map.published.empty());
  for (const Published& p : map.published) EXPECT_EQ(p.jobs.size(), 2U) << p.what;
  EXPECT_THAT(map.published[0].ours, HasSubstr("2.00x"));
  // 2.00x against 1.57x is more than 20 %.
  EXPECT_THAT(map.published[0].reason, HasSubstr("512 rows f32"));
  EXPECT_THAT(map.published[0].reason, HasSubstr("DMA 50.0 us, VectorE 25.0 us"));
}

TEST(Report, TextsOfJobsCannotBecomeMarkup) {
  Map map = make(kHostile);
  map.campaign.preset = map.campaign.cpu = kHostile;
  const std::string html = report_html(map);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=&#39;"));
  EXPECT_THAT(report::chart_data(map), Not(HasSubstr("<")));
}

TEST(Report, EqualMapsGiveEqualBytes) {
  EXPECT_EQ(report_html(make("rmsnorm_fused")), report_html(make("rmsnorm_fused")));
}

TEST(Report, AnEmptyMapIsAPage) {
  Map map;
  map.campaign = testing::campaign_of();
  EXPECT_THAT(report_html(map), HasSubstr("</html>"));
  EXPECT_THAT(map_json(map), HasSubstr("\"entries\": []"));
}

}  // namespace
}  // namespace krait::study
