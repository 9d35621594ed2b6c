// Are published rows read as they were written, said again as the probe that their text describes,
// and judged by plain arithmetic? Predictions are compared with figures of the manuals, written out
// here; how far they are from the published times is reported, not tested.

#include "krait/study/fidelity/fidelity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/study/fidelity/csv.hpp"

namespace krait::study {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const UserError& error) {
    EXPECT_FALSE(error.report().fix.empty()) << error.report().what;
    return error.report().text();
  }
  return "accepted";
}

const Fidelity& built_in() {
  static const Fidelity kAll = compare_published(built_in_published(), built_in_expressions());
  return kAll;
}

const FidelityRow* row_of(const Fidelity& f, const std::string& id) {
  for (const FidelityRow& row : f.rows)
    if (row.id == id) return &row;
  return nullptr;
}

std::vector<std::string> names(const std::vector<ValueRow>& values) {
  std::vector<std::string> out;
  for (const ValueRow& value : values) out.push_back(value.name);
  return out;
}

// --- CSV ---

TEST(Csv, ReadsQuotesCommasAndLineEndsOfAllKinds) {
  const CsvTable t = parse_csv("\xEF\xBB\xBFid,text\r\n1,\"a, \"\"b\"\"\nc\"\r\n\n2,\n3,x", "f");
  EXPECT_THAT(t.header, ElementsAre("id", "text"));
  ASSERT_EQ(t.rows.size(), 3U);
  EXPECT_EQ(t.rows[0].at("text"), "a, \"b\"\nc");
  EXPECT_EQ(t.rows[1].at("text"), "");
  EXPECT_EQ(t.rows[2].at("text"), "x");
}

TEST(Csv, RefusesWhatIsNoTableNamingTheLine) {
  EXPECT_THAT(refusal([] { (void)parse_csv("a,b\n1,2\n1,2,3\n", "f.csv"); }),
              HasSubstr("f.csv, line 3"));
  EXPECT_THAT(refusal([] { (void)parse_csv("a\n\"1\n", "f.csv"); }),
              HasSubstr("a quote is not closed"));
  EXPECT_THAT(refusal([] { (void)parse_csv("a\n\"1\"2\n", "f.csv"); }), HasSubstr("line 2"));
}

// --- the tables that ship ---

bool is_single(const PublishedRow& row) {
  return row.kind.starts_with("instr-") || row.kind == "DMA";
}

TEST(Fidelity, EverySingleInstructionRowIsComparedOrSaysWhyNot) {
  std::set<std::string> expressed;
  for (const Expression& e : built_in_expressions()) {
    EXPECT_TRUE(expressed.insert(e.id).second) << e.id << " is expressed twice";
    EXPECT_TRUE(e.probe != "none" || !e.note.empty()) << e.id << " has no reason";
  }
  std::set<std::string> published;
  for (const PublishedRow& row : built_in_published()) {
    EXPECT_TRUE(published.insert(row.id).second) << row.id << " is published twice";
    const bool wanted = is_single(row) && row.confidence != "low";
    EXPECT_TRUE(!wanted || expressed.contains(row.id)) << row.id;
  }
  for (const std::string& id : expressed) EXPECT_TRUE(published.contains(id)) << id;
}

TEST(Fidelity, NoRowIsDroppedAndNoExpressionRefused) {
  const Fidelity& f = built_in();
  EXPECT_EQ(f.rows.size() + f.not_expressed.size(), built_in_published().size());
  EXPECT_GT(f.rows.size(), 30U);
  for (const NotExpressed& row : f.not_expressed) {
    EXPECT_FALSE(row.reason.empty()) << row.id;
    EXPECT_THAT(row.reason, Not(HasSubstr("refused"))) << row.id;
  }
}

// From the manuals' formulas and clocks, not from the tables.
TEST(Fidelity, PredictionsAreWhatTheFormulasOfTheManualsGive) {
  const Fidelity& f = built_in();
  const auto expect = [&](const std::string& id, double ns) {
    const FidelityRow* row = row_of(f, id);
    ASSERT_NE(row, nullptr) << id;
    EXPECT_NEAR(row->predicted_us * 1e3, ns, 0.01 + 1e-4 * ns) << id;
  };
  expect("K1-ER00", 512 / 2.8);
  expect("K1-ER02", 4 * 512 / 2.8);
  expect("K1-ER10", (512 + 16) / 1.12);
  expect("K1-ER16", (2048 + 16) / 1.12);
  expect("K1-ER23", (2 * 512 + 16) / 1.12);
  expect("K1-ER12", (512 + 16 + 64) / 1.4);
  expect("K1-PV00", 8 * (2 * 512 + 16) / 1.12);
  expect("K1-PV13", 64 * (64 + 16) / 1.4);
  expect("K1-DQ0", 4 * (128 + 16) / 1.12);
  expect("K1-PD00", 8 * (31 + 8192 / 18.3));
  expect("F2-INS00", (512 + 16 + 120) / 1.2);
  expect("F2-INS04", (512 + 16 + 150) / 0.96);
  expect("F2-INS08", (512 / 2 + 16 + 120) / 0.96);
  expect("F2-INS11", (2 * 512 + 8 + 385) / 2.4);
  expect("F2-INS17", 23 + 4096 / 24.8);
}

// A published figure keeps what its source says it holds beside the device's time.
TEST(Fidelity, FloorsThatTheSourceNamesAreTakenOffThePublishedTime) {
  const FidelityRow* row = row_of(built_in(), "K1-DYN1");
  ASSERT_NE(row, nullptr);
  EXPECT_DOUBLE_EQ(row->published_us, 980 - 140);
  EXPECT_DOUBLE_EQ(row_of(built_in(), "K1-ER00")->published_us, 0.219);
}

TEST(Fidelity, MarksAreThoseOfTheValuesThatMoveThePrediction) {
  const FidelityRow* row = row_of(built_in(), "K1-ER10");
  ASSERT_NE(row, nullptr);
  EXPECT_THAT(names(row->values),
              ElementsAre("vector.clock", "vector.extra_occupancy", "vector_rates.base"));
  EXPECT_EQ(row->marks(), "DU");
  const FidelityRow* duration = row_of(built_in(), "F2-INS06");
  EXPECT_THAT(names(duration->values), Contains("vector.latency"));
}

// --- judging, on rows made up here ---

constexpr const char* kHeader =
    "id,generation,latency_us,confidence,notes,probe,set,reading,count,problem\n";

Fidelity compare(const std::string& rows, const FidelityFilter& filter = {}) {
  return compare_published(parse_published(kHeader + rows, "made up"), {}, filter);
}

// Memory-to-memory tensor_tensor, trn1: (2 n + 16) / 1.12 ns.
std::string made_up(const std::string& id, double us, int n, const std::string& problem = "p") {
  return cat(id, ",trn1,", us, ",high,[instr-DVE] x,stream,insn=tensor_tensor n=", n, ",slope,1,",
             problem, "\n");
}
double predicted(int n) {
  return (2 * n + 16) / 1.12 * 1e-3;
}

TEST(Fidelity, BandsAreMedianAndNineTenthsOfTheErrors) {
  std::string rows;
  for (int i = 1; i <= 10; ++i)  // errors of 1 % .. 10 %
    rows += cat("r", i, ",trn1,", predicted(512) / (1 + i * 0.01),
                ",high,[instr-DVE] x,stream,insn=tensor_tensor,slope,1,\n");
  const Fidelity f = compare(rows);
  const auto& all = f.bands.front();
  EXPECT_EQ(all.family, "");
  EXPECT_EQ(all.generation, "trn1");
  EXPECT_EQ(all.count, 10U);
  EXPECT_NEAR(*all.median_error, 0.055, 1e-4);
  EXPECT_NEAR(*all.p90_error, 0.09, 1e-4);
  EXPECT_EQ(f.bands.back().family, "tensor_tensor");
}

TEST(Fidelity, WhatHasNoRowHasNoBand) {
  const Fidelity f = compare(made_up("a", 1, 512) + "k,trn2,5,high,[matmul] x,,,,,\n");
  int without = 0;
  for (const Band& band : f.bands) {
    if (band.count > 0) continue;
    EXPECT_FALSE(band.median_error || band.p90_error) << band.kind << band.generation;
    ++without;
  }
  EXPECT_EQ(without, 2 + 3) << "two generations of the one kind, three of the other";
}

TEST(Fidelity, OrderIsAskedOfVariantsMoreThan15PercentApart) {
  // n = 256 is faster than n = 512: once published so, once against it, once too close to say.
  EXPECT_EQ(compare(made_up("a", 1, 512) + made_up("b", 0.5, 256)).right_pairs(), 1U);
  const Fidelity wrong = compare(made_up("a", 0.5, 512) + made_up("b", 1, 256));
  ASSERT_EQ(wrong.pairs.size(), 1U);
  EXPECT_EQ(wrong.pairs[0].faster, "a");
  EXPECT_FALSE(wrong.pairs[0].right());
  EXPECT_NEAR(wrong.pairs[0].predicted_ratio, predicted(256) / predicted(512), 1e-4);
  EXPECT_EQ(compare(made_up("a", 1, 512) + made_up("b", 0.88, 256)).pairs.size(), 0U);
  // A tie predicts no order; other problems are not compared.
  const Fidelity tie = compare(made_up("a", 1, 512) + made_up("b", 0.5, 512));
  EXPECT_EQ(tie.pairs.size(), 1U);
  EXPECT_EQ(tie.right_pairs(), 0U);
  EXPECT_EQ(compare(made_up("a", 1, 512, "p") + made_up("b", 0.5, 256, "q")).pairs.size(), 0U);
}

TEST(Fidelity, RowsWithoutAComparisonSayWhy) {
  const Fidelity f = compare(
      "a,trn1,1,low,[instr-DVE] x,stream,,slope,1,\n"
      "b,trn1,1,high,[instr-DVE] x,,,,,\n"
      "c,trn1,1,high,[matmul] x,,,,,\n"
      "d,trn1,1,high,[instr-PE] x,stream,insn=nc_matmul dst=sbuf,slope,1,\n");
  ASSERT_EQ(f.not_expressed.size(), 4U);
  EXPECT_THAT(f.not_expressed[0].reason, HasSubstr("confidence"));
  EXPECT_THAT(f.not_expressed[1].reason, HasSubstr("nobody"));
  EXPECT_THAT(f.not_expressed[2].reason, HasSubstr("whole kernels"));
  EXPECT_THAT(f.not_expressed[3].reason, HasSubstr("dst must lie in PSUM"));
}

TEST(Fidelity, FiltersByKindAndGeneration) {
  const std::string rows =
      made_up("a", 1, 512) + "b,trn2,1,high,[instr-PE] x,stream,insn=nc_matmul,slope,1,\n";
  EXPECT_EQ(compare(rows, {.kind = "instr-PE", .generation = {}}).rows.size(), 1U);
  EXPECT_EQ(compare(rows, {.kind = "[instr-PE]", .generation = {}}).rows.size(), 1U);
  EXPECT_EQ(compare(rows, {.kind = {}, .generation = "v2"}).rows.at(0).id, "a");
  EXPECT_THAT(refusal([&] { (void)compare(rows, {.kind = "instr-PEE", .generation = {}}); }),
              HasSubstr("'instr-PE'"));
  EXPECT_THAT(refusal([&] { (void)compare(rows, {.kind = {}, .generation = "trn9"}); }),
              HasSubstr("trn"));
}

TEST(Fidelity, RefusesTablesThatItCannotRead) {
  const auto says = [](const std::string& text) {
    return refusal([&] { (void)parse_published(text, "f.csv"); });
  };
  EXPECT_THAT(says("id,generation,latency,notes\n"), HasSubstr("no column 'latency_us'"));
  EXPECT_THAT(says("id,generation,latency_us,notes\na,trn1,fast,[x] y\n"), HasSubstr("row a"));
  EXPECT_THAT(says("id,generation,latency_us,notes\na,trn1,0,[x] y\n"), HasSubstr("larger than 0"));
  EXPECT_THAT(says("id,generation,latency_us,notes\na,trn9,1,[x] y\n"), HasSubstr("row a"));
  EXPECT_THAT(says("id,generation,latency_us,notes\na,trn1,1,y\n"), HasSubstr("in brackets"));
  EXPECT_THAT(says(cat(kHeader, "a,trn1,1,high,[x] y,stream,,slop,1,\n")), HasSubstr("'slope'"));
}

// --- readings ---

ProbeRun run_of(const char* probe, const char* machine, const std::vector<std::string>& words) {
  const kernels::Probe& p = *kernels::find_probe(probe);
  return {p, find_machine(machine), p.params(words)};
}

TEST(ProbeRun, ReadsOneInARowOneAloneAndAll) {
  const ProbeRun run = run_of("stream", "trn1", {"insn=tensor_reduce", "src=psum"});
  EXPECT_NEAR(run.read(Reading::kSlope), (512 + 16) / 1.12, 0.01);
  EXPECT_NEAR(run.read(Reading::kOccupancy), (512 + 16) / 1.12, 0.01);
  EXPECT_NEAR(run.read(Reading::kDuration), (512 + 16 + 170) / 1.12, 0.01);
  EXPECT_GT(run.read(Reading::kTotal), 272 * (512 + 16) / 1.12);
  EXPECT_EQ(run.bytes(), 0);
}

TEST(ProbeRun, OfATransferAloneHoldsTriggerTransferAndCompletion) {
  const ProbeRun run = run_of("dma", "trn1", {"direction=store"});
  EXPECT_NEAR(run.read(Reading::kDuration), 700 + 8 * (31 + 8192 / 18.3) + 320, 0.01);
  EXPECT_NEAR(run.read(Reading::kOccupancy), 100, 0.01);
  EXPECT_EQ(run.bytes(), 128 * 8192);
}

TEST(ProbeRun, OfAnF32ProductMayBeOfOneOfItsTwoPasses) {
  const ProbeRun run = run_of("stream", "trn2", {"insn=nc_matmul"});
  EXPECT_NEAR(run.read(Reading::kDuration, 1), (2 * (2 * 512 + 8) + 385) / 2.4, 0.01);
  EXPECT_NEAR(run.read(Reading::kDuration, 2), (2 * 512 + 8 + 385) / 2.4, 0.01);
}

TEST(ProbeRun, AsksAShorterSeriesForTheValuesOfAVeryLongOne) {
  const ProbeRun longer = run_of("stream", "trn1", {"insn=tensor_copy", "repeat=100000"});
  const ProbeRun shorter = run_of("stream", "trn1", {"insn=tensor_copy", "repeat=100"});
  EXPECT_EQ(names(longer.values_behind(Reading::kSlope)),
            names(shorter.values_behind(Reading::kSlope)));
  EXPECT_EQ(longer.read(Reading::kSlope), shorter.read(Reading::kSlope));
}

TEST(ProbeRun, NeedsTwoLengths) {
  EXPECT_THAT(refusal([] { (void)run_of("stream", "trn1", {"repeat=16"}); }),
              HasSubstr("repeat must be larger than short"));
}

}  // namespace
}  // namespace krait::study
