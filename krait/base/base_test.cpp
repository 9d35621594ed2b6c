#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/params.hpp"
#include "krait/base/rng.hpp"
#include "krait/base/text.hpp"
#include "krait/base/units.hpp"

namespace krait {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Error, TextShowsEveryPart) {
  const UserError error(Report{"what", "here", "this", "do that"});
  EXPECT_STREQ(error.what(), "what\n  where  here\n  got    this\n  fix    do that");
  EXPECT_STREQ(UserError(Report{"plain", {}, {}, {}}).what(), "plain");
}

TEST(Error, AssertThrowsInternalErrorWithFileAndLine) {
  try {
    KRAIT_ASSERT(1 == 2);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("base_test.cpp:"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("1 == 2"), std::string::npos);
  }
}

TEST(Text, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_int("-42"), -42);
  EXPECT_FALSE(parse_int("4x"));
  EXPECT_FALSE(parse_int(""));
  EXPECT_FALSE(parse_int("99999999999999999999"));
  EXPECT_EQ(parse_double("1e-5"), 1e-5);
  EXPECT_FALSE(parse_double("1e"));
}

TEST(Text, SplitsAndJoins) {
  EXPECT_EQ(split("a=b=c", '='), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, ", "), "a, b");
}

TEST(Text, SuggestsNearNamesAndElseListsAll) {
  const std::vector<std::string> names{"trn1", "trn2", "trn3"};
  EXPECT_EQ(suggest("trn", names), "did you mean 'trn1' or 'trn2' or 'trn3'?");
  EXPECT_EQ(suggest("zzzzzzz", names), "known: trn1, trn2, trn3");
  const std::vector<std::string> kernels{"scan_hardware", "rmsnorm_fused"};
  EXPECT_EQ(suggest("scan_hardwear", kernels), "did you mean 'scan_hardware'?");
}

TEST(Text, NoNameIsLikeOneThatSharesNoLetter) {
  const std::vector<std::string> names{"op", "map"};
  EXPECT_EQ(suggest("", names), "known: op, map");
  EXPECT_EQ(suggest("xy", names), "known: op, map");
  EXPECT_EQ(suggest("o", names), "known: op, map");
  EXPECT_EQ(suggest("po", names), "known: op, map");  // two edits make it anything of two letters
  EXPECT_EQ(suggest("opp", names), "did you mean 'op' or 'map'?");
}

Params three_params() {
  return Params({{"mode", ParamKind::kChoice, "fast", 0, 0, {"fast", "slow"}, "how"},
                 {"note", ParamKind::kText, "", 0, 0, {}, "anything"},
                 {"count", ParamKind::kInt, "1", 1, 9, {}, "how many"}});
}

TEST(Params, TextTakesAnything) {
  Params params = three_params();
  params.set_assignment("note=a=b, c");
  EXPECT_EQ(params.text("note"), "a=b, c");
  params.set("note", "");
  EXPECT_EQ(params.text("note"), "");
}

TEST(Params, SeveralAssignmentsSetEachNameOnce) {
  Params params = three_params();
  params.set_assignments(std::vector<std::string>{"count=3", "mode=slow"});
  EXPECT_EQ(params.integer("count"), 3);
  EXPECT_EQ(params.text("mode"), "slow");
  try {
    params.set_assignments(std::vector<std::string>{"count=3", "count=4"});
    FAIL() << "which of two values was meant?";
  } catch (const UserError& error) {
    EXPECT_EQ(error.report().what, "parameter count is given twice");
  }
}

TEST(Params, AWrongChoiceGetsTheNearest) {
  try {
    three_params().set("mode", "fasst");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.report().fix, "did you mean 'fast'?");
  }
}

TEST(Params, RangesAreShownInFull) {
  Params params(
      {{.name = "length", .default_value = "256", .min = 1, .max = 1 << 24, .help = "h"}});
  try {
    params.set("length", "16777217");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("from 1 to 16777216"));
  }
  params.set("length", "16777216");
  EXPECT_EQ(params.integer("length"), 16777216);
}

TEST(Text, HumanQuantities) {
  EXPECT_EQ(human_time(12.34), "12.3 ns");
  EXPECT_EQ(human_time(1500), "1.50 us");
  EXPECT_EQ(human_time(2.3e6), "2.30 ms");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
}

TEST(Units, CyclesBecomePicosecondsRoundedUp) {
  EXPECT_EQ(Clock{1.0}.to_ps(Cycles{64}).value, 64000);
  EXPECT_EQ(Clock{1.12}.to_ps(Cycles{1}).value, 893);  // 892.86 ps
  EXPECT_EQ(Clock{2.8}.to_ps(Cycles{14}).value, 5000);
}

TEST(CounterRng, IsAPureFunctionOfSeedStreamAndCounter) {
  const CounterRng a(7, 1), b(7, 1), c(7, 2), d(8, 1);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.bits(i), b.bits(i));
    seen.insert(a.bits(i));
    seen.insert(c.bits(i));
    seen.insert(d.bits(i));
  }
  EXPECT_EQ(seen.size(), 3000U);
}

TEST(CounterRng, MomentsOfTheNormal) {
  const CounterRng rng(1);
  double sum = 0, squares = 0;
  constexpr int kCount = 20000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = rng.normal(i);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.03);  // 4 standard errors of the mean
  EXPECT_NEAR(squares / kCount, 1, 0.05);
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("krait_base_" + std::to_string(::getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  fs::path dir_;
};

TEST_F(Files, WriteThenRead) {
  write_file_atomically(dir_ / "a", "one");
  write_file_atomically(dir_ / "a", std::string("t\0wo", 4));
  EXPECT_EQ(read_file(dir_ / "a"), std::string("t\0wo", 4));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), fs::directory_iterator{}), 1);
}

TEST_F(Files, ErrorsNameThePathAndLeaveNothing) {
  try {
    write_file_atomically(dir_ / "missing" / "a", "x");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("missing/a"), std::string::npos);
  }
  EXPECT_THROW((void)read_file(dir_ / "nothing"), UserError);
  EXPECT_THROW((void)read_file(dir_), UserError);
  EXPECT_THROW(write_file_atomically(dir_, "x"), UserError);
}

TEST_F(Files, ACheckRefusesWhatAWriteWouldAndLeavesNothing) {
  EXPECT_THROW(check_can_write(dir_ / "missing" / "a"), UserError);
  EXPECT_THROW(check_can_write(dir_), UserError);
  check_can_write(dir_ / "new");
  EXPECT_TRUE(fs::is_empty(dir_));
  write_file_atomically(dir_ / "old", "kept");
  check_can_write(dir_ / "old");
  EXPECT_EQ(read_file(dir_ / "old"), "kept");
}

TEST_F(Files, ALinkStaysALink) {
  write_file_atomically(dir_ / "target", "old");
  fs::create_symlink(dir_ / "target", dir_ / "link");
  write_file_atomically(dir_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(read_file(dir_ / "target"), "new");
}

TEST_F(Files, DevicesAreWrittenInPlaceAndReportAFullDisk) {
  // Through links, so that a rename over the path could not harm the machine's devices.
  fs::create_symlink("/dev/null", dir_ / "null");
  write_file_atomically(dir_ / "null", "x");
  EXPECT_TRUE(fs::is_character_file(dir_ / "null"));
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  fs::create_symlink("/dev/full", dir_ / "full");
  try {
    write_file_atomically(dir_ / "full", "x");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("No space left"));
  }
  EXPECT_TRUE(fs::is_character_file(dir_ / "full"));
}

}  // namespace
}  // namespace krait
