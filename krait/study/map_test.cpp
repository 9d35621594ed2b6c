#include "krait/study/map.hpp"

#include <gmock/gmock.h>

#include "krait/study/cause.hpp"
#include "krait/study/format.hpp"
#include "krait/study/study_testing.hpp"

namespace krait::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::predicted_result;
using testing::predicted_spec;
using testing::row_of;

std::vector<Entry> entries(const JobResult& naive, const JobResult& custom) {
  return make_entries(std::vector<JobRow>{row_of(predicted_spec("plain", Role::kNaive), naive),
                                          row_of(predicted_spec("ours", Role::kCustom), custom)});
}

JobResult refused() {
  JobResult r;
  r.outcome = Outcome::kRefused;
  r.reason = "SBUF is too small\n  fix    fewer columns";
  return r;
}

JobResult long_program(std::int64_t instructions) {
  JobResult r = predicted_result(100);
  r.instructions = {{"VectorE", instructions}};
  return r;
}

TEST(Verdict, IsATieUpToTheBandOnBothSidesAndNotBeyond) {
  // 0.25 and the products are exact in binary.
  EXPECT_EQ(verdict_of(125.0, 100, 0.25), Verdict::kTies);
  EXPECT_EQ(verdict_of(125.5, 100, 0.25), Verdict::kWins);
  EXPECT_EQ(verdict_of(100.0, 125, 0.25), Verdict::kTies);
  EXPECT_EQ(verdict_of(100.0, 125.5, 0.25), Verdict::kLoses);
  EXPECT_EQ(verdict_of(100.0, 100, 0.0), Verdict::kTies);
}

TEST(Verdict, IsNecessaryWithoutABaseline) {
  EXPECT_EQ(verdict_of(std::nullopt, 1, 0.05), Verdict::kNecessary);
}

TEST(Statistics, MedianInterpolatesBetweenTheMiddleTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Statistics, SpreadIsHalfTheInnerEightTenthsOverTheMedian) {
  // 0..10 times ten plus 50: quantiles 60 and 140, median 100.
  std::vector<double> samples;
  for (int i = 0; i <= 10; ++i) samples.push_back(50 + 10 * i);
  EXPECT_DOUBLE_EQ(relative_spread(samples), 0.4);
  EXPECT_EQ(relative_spread({5, 5, 5}), 0);
}

TEST(Entries, ComparesTheFastestOfEachRole) {
  std::vector<JobRow> rows{row_of(predicted_spec("plain_a", Role::kNaive), predicted_result(300)),
                           row_of(predicted_spec("plain_b", Role::kNaive), predicted_result(200)),
                           row_of(predicted_spec("fused", Role::kCompiler), predicted_result(150)),
                           row_of(predicted_spec("ours_a", Role::kCustom), predicted_result(50)),
                           row_of(predicted_spec("ours_b", Role::kCustom), predicted_result(75)),
                           row_of(predicted_spec("probe", Role::kProbe), predicted_result(1))};
  const auto out = make_entries(rows);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].variants[*out[0].naive].name, "plain_b");
  EXPECT_EQ(out[0].baseline()->name, "fused");
  EXPECT_EQ(out[0].best_variant()->name, "ours_a");
  EXPECT_EQ(out[0].factor, 3.0);
  EXPECT_EQ(out[0].verdict, Verdict::kWins);
}

TEST(Entries, ARefusedPlainFormMakesItNecessary) {
  const auto out = entries(refused(), predicted_result(100));
  EXPECT_EQ(out[0].verdict, Verdict::kNecessary);
  EXPECT_FALSE(out[0].factor);
  EXPECT_THAT(out[0].cause, HasSubstr("SBUF is too small"));
}

TEST(Entries, ALoweringMayHave300000InstructionsAndNotOneMore) {
  EXPECT_EQ(entries(long_program(300'000), predicted_result(10))[0].verdict, Verdict::kWins);
  const auto over = entries(long_program(300'001), predicted_result(10));
  EXPECT_EQ(over[0].verdict, Verdict::kNecessary);
  EXPECT_THAT(over[0].cause, HasSubstr("300,001 instructions, limit 300,000"));
}

TEST(Entries, ABrokenPlainFormSaysNothing) {
  JobResult broken = refused();
  broken.outcome = Outcome::kBroken;
  const auto out = entries(broken, predicted_result(100));
  EXPECT_FALSE(out[0].verdict);
  EXPECT_THAT(out[0].cause, HasSubstr("no plain form gave a result that counts"));
}

TEST(Entries, AWrongResultDoesNotCount) {
  JobResult wrong = predicted_result(1);
  wrong.within_tolerance = false;
  wrong.max_rel_error = 0.5;
  const auto out = entries(predicted_result(100), wrong);
  EXPECT_FALSE(out[0].best);
  EXPECT_FALSE(out[0].verdict);
  EXPECT_THAT(out[0].cause, HasSubstr("ours: wrong by 0.5"));
}

TEST(Entries, PendingJobsAreLeftOut) {
  JobRow pending = row_of(predicted_spec("ours", Role::kCustom), predicted_result(1));
  pending.status = JobStatus::kPending;
  EXPECT_TRUE(make_entries(std::vector<JobRow>{pending}).empty());
}

TEST(Entries, TheBandOfMeasurementsIsTheSumOfBothSpreads) {
  JobSpec naive = predicted_spec("naive", Role::kNaive), custom = naive;
  custom.variant = "custom";
  custom.role = Role::kCustom;
  naive.kind = custom.kind = JobKind::kMeasure;
  JobResult slow, fast;
  slow.samples_ns = {50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150};  // spread 0.4
  slow.time_ns = 100;
  fast.samples_ns = {80, 80, 80};
  fast.time_ns = 80;
  const auto out = make_entries(std::vector<JobRow>{row_of(naive, slow), row_of(custom, fast)});
  EXPECT_DOUBLE_EQ(out[0].band, 0.4);
  EXPECT_EQ(out[0].verdict, Verdict::kTies);  // 1.25x inside 0.4
}

TEST(Cause, NamesTheCounterOfTheBoundFirstAndAtMostOneMore) {
  JobResult slow = predicted_result(1000), fast = predicted_result(400);
  slow.hbm_read_bytes = 4'500;  // 5,000 against 1,000
  slow.depth = 300;             // the larger difference, yet not what bounds it
  slow.work["VectorE"] = 90'000;
  const std::string cause = entries(slow, fast)[0].cause;
  EXPECT_THAT(cause,
              HasSubstr("ours moves 0.20x the HBM bytes (1000 B against 4.88 KiB) and does 1/90 "
                        "the element-wise work"));
  EXPECT_THAT(cause, Not(HasSubstr("depth")));
  EXPECT_THAT(cause, HasSubstr("plain is bound by DMA transfer (80 % of its time)"));
}

TEST(Cause, DropsCountersThatPointTheOtherWay) {
  JobResult slow = predicted_result(1000), fast = predicted_result(400);
  slow.hbm_read_bytes = 4'500;
  fast.work["TensorE"] = 1'000'000;  // more work cannot be why it is faster
  slow.work["TensorE"] = 10;
  EXPECT_THAT(entries(slow, fast)[0].cause, Not(HasSubstr("TensorE")));
}

TEST(Cause, ComparesBusyTimeWhereAnEngineBounds) {
  JobResult slow = predicted_result(1000), fast = predicted_result(500);
  slow.bound_by = "VectorE";
  EXPECT_THAT(entries(slow, fast)[0].cause,
              HasSubstr("needs 0.50x the VectorE time (125 ns against 250 ns)"));
}

TEST(Cause, ExplainsALossByWhatGrew) {
  JobResult naive = predicted_result(100), ours = predicted_result(400);
  ours.hbm_read_bytes = 4'500;
  const auto out = entries(naive, ours);
  EXPECT_EQ(out[0].verdict, Verdict::kLoses);
  EXPECT_THAT(out[0].cause, HasSubstr("ours moves 5.00x the HBM bytes"));
}

TEST(Format, SmallRatiosAreFractions) {
  EXPECT_EQ(ratio_text(1.0 / 30), "1/30");
  EXPECT_EQ(ratio_text(0.5), "0.50x");
  EXPECT_EQ(ratio_text(12.4), "12x");
}

}  // namespace
}  // namespace krait::study
