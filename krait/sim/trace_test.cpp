// Is a trace what viewers accept? Complete events that follow or contain one another on a track,
// names quoted, times without rounding, equal bytes for equal events.

#include "krait/sim/trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace krait::sim {
namespace {

using nlohmann::json;

TraceSink sample() {
  TraceSink t;
  t.add({"tensor_tensor", "VectorE", Ps{0}, Ps{1500000}, Ps{1700000}, "scan.cpp:62", 0});
  t.add({"dma_copy", "DMA ring SyncE", Ps{10}, Ps{100}, Ps{110}, "", 1});
  t.add({"dma_copy", "DMA ring SyncE", Ps{60}, Ps{100}, Ps{160}, "", 2});   // overlaps the first
  t.add({"dma_copy", "DMA ring SyncE", Ps{110}, Ps{100}, Ps{210}, "", 3});  // follows the first
  t.add({"tensor_tensor", "VectorE", Ps{1500000}, Ps{1}, Ps{1700001}, "a\"b\\c\n", 4});
  return t;
}

json events(const json& document, const std::string& phase) {
  json out = json::array();
  for (const json& e : document.at("traceEvents"))
    if (e.at("ph") == phase) out.push_back(e);
  return out;
}

TEST(Trace, EveryInstructionIsOneCompleteEventInOrder) {
  const json document = json::parse(trace_json(sample(), "kernel on trn2"));
  const json all = events(document, "X");
  ASSERT_EQ(all.size(), 5U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].at("args").at("index"), i);
    for (const char* key : {"name", "pid", "tid", "ts", "dur"}) EXPECT_TRUE(all[i].contains(key));
  }
  EXPECT_EQ(all[4].at("args").at("where"), "a\"b\\c\n");
}

TEST(Trace, TimesAreMicrosecondsToThePicosecond) {
  const std::string text = trace_json(sample(), "k");
  EXPECT_NE(text.find("\"ts\":1.500000,\"dur\":0.000001,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"visible_us\":1.700001"), std::string::npos) << text;
}

TEST(Trace, TransfersThatOverlapLieOnTracksOfTheirOwn) {
  const json document = json::parse(trace_json(sample(), "k"));
  std::map<int, std::string> names;
  for (const json& e : events(document, "M"))
    if (e.at("name") == "thread_name") names[e.at("tid")] = e.at("args").at("name");
  const json all = events(document, "X");
  EXPECT_EQ(names.at(all[1].at("tid")), "DMA ring SyncE");
  EXPECT_EQ(names.at(all[2].at("tid")), "DMA ring SyncE, 2");
  EXPECT_EQ(names.at(all[3].at("tid")), "DMA ring SyncE");
  EXPECT_EQ(names.at(all[4].at("tid")), "VectorE");
}

TEST(Trace, TheTenthTrackOfANameFollowsTheNinth) {
  TraceSink trace;
  for (std::int64_t i = 0; i < 10; ++i) trace.add({"dma", "ring", Ps{0}, Ps{5}, Ps{5}, "", i});
  std::vector<std::string> names(10);
  for (const json& e : events(json::parse(trace_json(trace, "k")), "M"))
    if (e.at("name") == "thread_name") names.at(e.at("tid")) = e.at("args").at("name");
  EXPECT_EQ(names.front(), "ring");
  EXPECT_EQ(names[8], "ring, 9");
  EXPECT_EQ(names[9], "ring, 10");
}

TEST(Trace, AnEmptyTraceIsADocument) {
  EXPECT_TRUE(events(json::parse(trace_json({}, "k")), "X").empty());
}

TEST(Trace, EqualEventsGiveEqualBytes) {
  EXPECT_EQ(trace_json(sample(), "k"), trace_json(sample(), "k"));
}

}  // namespace
}  // namespace krait::sim
