#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

DmaCopy insn(const Tile& dst, const Tile& src, DmaRing ring = DmaRing::kSync,
             DgeMode dge = DgeMode::kStatic) {
  return {.dst = dst, .src = src, .ring = ring, .dge = dge};
}

TEST(DmaCopy, MovesBitsOrConvertsThroughF32) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile src = hbm(in, 5, 17, 23), dst = sbuf(out, 5, 17, 256),
                 back = hbm(out, 5, 17, 17, 1);
      m.fill_random(src, 1);
      m.run(insn(dst, src));
      m.run(insn(back, dst));
      for (int p = 0; p < 5; ++p)
        for (std::int64_t i = 0; i < 17; ++i) {
          const std::uint64_t want = in == out ? m.bits(src, p, i) : encode(out, m.get(src, p, i));
          ASSERT_EQ(m.bits(dst, p, i), want);
          ASSERT_EQ(m.bits(back, p, i), want);
        }
    }
}

TEST(DmaCopy, KeepsIntegersAndNanPayloads) {
  TestMemory m;
  const Tile i32 = hbm(DType::kI32, 1, 1, 1), f32 = hbm(DType::kF32, 1, 1, 1, 1);
  m.set_bits(i32, 0, 0, 16777217), m.set_bits(f32, 0, 0, 0xFFC0DEAD);
  m.run(insn(sbuf(DType::kI32, 1, 1), i32));
  m.run(insn(sbuf(DType::kF32, 1, 1, 8), f32));
  EXPECT_EQ(m.bits(sbuf(DType::kI32, 1, 1), 0, 0), 16777217U);
  EXPECT_EQ(m.bits(sbuf(DType::kF32, 1, 1, 8), 0, 0), 0xFFC0DEADU);
}

TEST(DmaCopy, BroadcastsRowsAndWalksPatterns) {
  for (Tile src : layouts(DType::kBf16, 4, 0, true))
    for (const std::int64_t row_step : {0, 1, 64, -64})
      for (const Tile& dst : layouts(DType::kBf16, 4, 512, false, 5)) {
        TestMemory m;
        src.space = Space::kHbm, src.partition_step = row_step;
        src.offset =
            layouts(DType::kBf16, 4, 0, true)[0].offset + 1024 + (src.dims[0].step < 0 ? 44 : 0);
        for (int p = 0; p < 4; ++p)
          for (std::int64_t i = 0; i < 12; ++i)
            m.set(src, p, i,
                  static_cast<float>(src.offset + p * row_step + element_offset(src, i)));
        m.run(insn(dst, src));
        expect_tile(m, dst, [&](int p, std::int64_t i) { return m.get(src, p, i); });
      }
}

TEST(DmaCopy, RulesReachAnyPartitionButNotPsum) {
  const Tile h = hbm(DType::kF32, 5, 8, 8);
  expect_legal_everywhere(insn(tile(Space::kSbuf, DType::kF32, 5, {{1, 8}}, 0, 77), h));
  expect_legal_everywhere(insn(h, tile(Space::kSbuf, DType::kF32, 5, {{1, 8}}, 0, 123)));
  expect_rule_everywhere(insn(tile(Space::kSbuf, DType::kF32, 5, {{1, 8}}, 0, 124), h),
                         "partition-start");
  expect_rule_everywhere(insn(psum(DType::kF32, 5, 8), h), "dma-psum");
  expect_rule_everywhere(insn(h, psum(DType::kF32, 5, 8)), "dma-psum");
  expect_legal_everywhere(insn(hbm(DType::kF32, 300, 8, 8, 1), hbm(DType::kF32, 300, 8, 8)));
}

TEST(DmaCopy, RulesOfShapeAndDescriptors) {
  const Tile s = sbuf(DType::kF32, 64, 32), h = hbm(DType::kF32, 64, 32, 32),
             b = hbm(DType::kBf16, 64, 32, 32);
  expect_legal_everywhere(insn(s, h, DmaRing::kVector));
  expect_legal_everywhere(insn(s, b));
  expect_rule_everywhere(insn(s, hbm(DType::kF32, 64, 31, 31)), "same-free-size");
  expect_rule_everywhere(insn(s, hbm(DType::kF32, 63, 32, 32)), "same-partitions");
  expect_rule_everywhere(insn(s, Tile{}), "operand-missing");
  expect_legal_everywhere(insn(s, h, DmaRing::kGpSimd, DgeMode::kSoftware));
  expect_rule_everywhere(insn(s, h, DmaRing::kSync, DgeMode::kSoftware), "dge-engine");
  EXPECT_THAT(rules(insn(s, h, DmaRing::kSync, DgeMode::kHardware), trn1()), Contains("dge-mode"));
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_THAT(rules(insn(s, h, DmaRing::kSync, DgeMode::kHardware), *m), IsEmpty());
    EXPECT_THAT(rules(insn(s, h, DmaRing::kScalar, DgeMode::kHardware), *m), IsEmpty());
    EXPECT_THAT(rules(insn(s, h, DmaRing::kGpSimd, DgeMode::kHardware), *m),
                Contains("dge-engine"));
    EXPECT_THAT(rules(insn(s, b, DmaRing::kSync, DgeMode::kHardware), *m), Contains("dge-cast"));
  }
}

TEST(DmaCopy, IsTriggeredByItsRing) {
  const std::pair<DmaRing, Engine> kRings[] = {{DmaRing::kSync, Engine::kSync},
                                               {DmaRing::kScalar, Engine::kScalar},
                                               {DmaRing::kGpSimd, Engine::kGpSimd},
                                               {DmaRing::kVector, Engine::kVector},
                                               {DmaRing::kTensor, Engine::kTensor}};
  for (const auto& [ring, engine] : kRings) {
    const DmaCopy i = insn({}, {}, ring);
    EXPECT_EQ(def_of<DmaCopy>().engine(&i), engine);
  }
}

// Trigger times (A3, KO, PERF), in us: static 0.1 / 0.05 / 0.05, software 0.6, hardware 0.65
// from v3 on.
TEST(DmaCopy, CostOfIssue) {
  const Tile s = sbuf(DType::kF32, 64, 32), h = hbm(DType::kF32, 64, 32, 32);
  EXPECT_EQ(insn(s, h).time(trn1()).issue, from_ns(100));
  EXPECT_EQ(insn(s, h, DmaRing::kGpSimd, DgeMode::kSoftware).time(trn1()).issue, from_ns(600));
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(insn(s, h).time(*m).issue, from_ns(50));
    EXPECT_EQ(insn(s, h, DmaRing::kGpSimd, DgeMode::kSoftware).time(*m).issue, from_ns(600));
    EXPECT_EQ(insn(s, h, DmaRing::kSync, DgeMode::kHardware).time(*m).issue, from_ns(650));
  }
}

TEST(DmaCopy, CostOfDescriptorsFollowsTheFinerSide) {
  // 128 rows of 512 f32: one descriptor a partition.
  DmaWork w = insn(sbuf(DType::kF32, 128, 512), hbm(DType::kF32, 128, 512, 4096)).time(trn2()).dma;
  EXPECT_EQ(w.partitions, 128);
  EXPECT_EQ(w.runs, 1);
  EXPECT_EQ(w.run_bytes, 2048);
  EXPECT_EQ(w.hbm_read_bytes, 128 * 2048);
  EXPECT_EQ(w.hbm_write_bytes, 0);
  EXPECT_FALSE(w.spread_evenly);
  // A cast: the wider type counts on the wire, each side its own bytes in HBM.
  w = insn(hbm(DType::kBf16, 64, 512, 512), tile(Space::kSbuf, DType::kF32, 64, {{1, 512}}, 0, 64))
          .time(trn2())
          .dma;
  EXPECT_EQ(w.first_partition, 64);
  EXPECT_EQ(w.run_bytes, 2048);
  EXPECT_EQ(w.hbm_read_bytes, 0);
  EXPECT_EQ(w.hbm_write_bytes, 64 * 512 * 2);
  // A transposing load: element by element.
  w = insn(sbuf(DType::kF32, 128, 64), stepped(hbm(DType::kF32, 128, 64, 1), 128)).time(trn2()).dma;
  EXPECT_EQ(w.runs, 64);
  EXPECT_EQ(w.run_bytes, 4);
  // Rows of 16 in a dense tile.
  w = insn(sbuf(DType::kF32, 8, 64), tile(Space::kHbm, DType::kF32, 8, {{100, 4}, {1, 16}}))
          .time(trn2())
          .dma;
  EXPECT_EQ(w.runs, 4);
  EXPECT_EQ(w.run_bytes, 64);
  w = insn(hbm(DType::kF32, 8, 64, 64, 1), hbm(DType::kF32, 8, 64, 64)).time(trn2()).dma;
  EXPECT_TRUE(w.spread_evenly);
  EXPECT_EQ(w.hbm_read_bytes, w.hbm_write_bytes);
}

}  // namespace
}  // namespace krait::isa::testing
