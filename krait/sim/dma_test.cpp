// What does a transfer cost, and which transfers run side by side? Source: DMAO, DMAB,
// DGE. Figures of trn2 unless a test names another generation: 23 ns + max(b, 512) / 24.8 a
// descriptor, 700 ns to the first byte, 320 ns from the end to a consumer, 50 ns a static trigger.

#include "krait/sim/sim_testing.hpp"

namespace krait::sim {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

Ps rows(int count, double bytes) {
  return ns(count * (23 + std::max(bytes, 512.0) / 24.8));
}
/// A load of f32 rows that are contiguous on both sides.
isa::DmaCopy load(int partitions, std::int64_t n, int first = 0, std::int64_t offset = 0,
                  isa::DmaRing ring = isa::DmaRing::kSync) {
  return dma(on_partitions(sbuf(DType::kF32, 128, n, offset), first, partitions),
             hbm(DType::kF32, partitions, n, n, 2), ring);
}
Ps transfer(const Issued& i) {  // between the first byte and the end
  return i.done - i.start - ns(700) - ns(320);
}

TEST(Dma, ALoadIsTriggerDescriptorsAndCompletion) {
  Driver d(trn2());
  const Issued i = d.issue(load(128, 512));
  EXPECT_EQ(i.start, Ps{0});
  EXPECT_EQ(i.free, ns(50));
  EXPECT_EQ(i.done, ns(700) + rows(8, 2048) + ns(320)) << "8 rows on each of 16 engines";
}

TEST(Dma, EveryGenerationHasItsOwnDescriptorCost) {
  Driver v2(trn1());
  EXPECT_EQ(v2.issue(load(128, 512)).done, ns(700) + ns(8 * (31 + 2048 / 18.3)) + ns(320));
  Driver v4(trn3());
  EXPECT_EQ(v4.issue(load(128, 512)).done, ns(600) + ns(8 * (16 + 2048 / 35.6)) + ns(300));
}

TEST(Dma, RowsBelow512BytesCostAsMuchAs512) {
  Driver d(trn2());
  EXPECT_EQ(transfer(d.issue(load(8, 1))), rows(8, 512));
  EXPECT_EQ(transfer(Driver(trn2()).issue(load(8, 128))), rows(8, 512));
  EXPECT_EQ(transfer(Driver(trn2()).issue(load(8, 129))), rows(8, 516));
  EXPECT_GT(rows(8, 516), rows(8, 512));
}

TEST(Dma, AnEngineMovesEightPartitions) {
  EXPECT_EQ(transfer(Driver(trn2()).issue(load(8, 512))), rows(8, 2048));
  EXPECT_EQ(transfer(Driver(trn2()).issue(load(9, 512))), rows(8, 2048)) << "the ninth on the next";
  EXPECT_EQ(transfer(Driver(trn2()).issue(load(4, 512))), rows(4, 2048));
  EXPECT_EQ(transfer(Driver(trn2()).issue(load(32, 512, 32))), rows(8, 2048));
}

TEST(Dma, PiecesThatAreNotContiguousAreDescriptorsOfTheirOwn) {
  Tile strided = hbm(DType::kF32, 8, 512, 4096, 2);
  strided.rank = 2;
  strided.dims[0] = {512, 4}, strided.dims[1] = {1, 128};
  EXPECT_EQ(
      transfer(Driver(trn2()).issue(dma(
          on_partitions(
              isa::testing::tile(isa::Space::kSbuf, DType::kF32, 128, {{128, 4}, {1, 128}}), 0, 8),
          strided))),
      rows(8 * 4, 512));
  // One element apart: a descriptor an element.
  Tile apart = hbm(DType::kF32, 8, 16, 4096, 2);
  apart.dims[0].step = 2;
  EXPECT_EQ(
      transfer(Driver(trn2()).issue(dma(on_partitions(sbuf(DType::kF32, 128, 16), 0, 8), apart))),
      rows(8 * 16, 4));
}

TEST(Dma, ACastMovesTheWiderBytes) {
  const auto narrow = on_partitions(sbuf(DType::kBf16, 128, 1024), 0, 8);
  EXPECT_EQ(transfer(Driver(trn2()).issue(dma(narrow, hbm(DType::kF32, 8, 1024, 1024, 2)))),
            rows(8, 4096));
  Driver d(trn2());
  d.issue(dma(narrow, hbm(DType::kF32, 8, 1024, 1024, 2)));
  EXPECT_EQ(d.timeline().hbm_read_bytes(), 8 * 1024 * 4);
}

TEST(Dma, CopiesOnDisjointEnginesRunSideBySide) {
  Driver d(trn2());
  const Issued low = d.issue(load(64, 512, 0, 0));
  const Issued high = d.issue(load(64, 512, 64, 0));
  EXPECT_EQ(high.start, low.free) << "one sequencer triggers one after the other";
  EXPECT_EQ(transfer(high), rows(8, 2048));
}

TEST(Dma, CopiesOnTheSameEnginesQueueUp) {
  Driver d(trn2());
  const Issued first = d.issue(load(128, 512, 0, 0));
  const Issued second = d.issue(load(128, 512, 0, 4096));
  EXPECT_EQ(second.done, first.done + rows(8, 2048));
  // So do those of another ring: the engines are the same.
  Driver e(trn2());
  const Issued sync = e.issue(load(128, 512, 0, 0));
  const Issued gpsimd = e.issue(load(128, 512, 0, 4096, isa::DmaRing::kGpSimd));
  EXPECT_EQ(gpsimd.start, Ps{0}) << "another sequencer triggers at the same time";
  EXPECT_EQ(gpsimd.done, sync.done + rows(8, 2048));
}

TEST(Dma, AStoreWaitsForItsDataAndHoldsUpItsSequencerOnly) {
  Driver d(trn2());
  const Issued work =
      d.issue(square(sbuf(DType::kF32, 128, 512), sbuf(DType::kF32, 128, 512, 8192)));
  const Issued store = d.issue(
      dma(hbm(DType::kF32, 128, 512, 512), sbuf(DType::kF32, 128, 512), isa::DmaRing::kGpSimd));
  EXPECT_EQ(store.start, work.done + ns(130));
  EXPECT_EQ(d.issue(load(128, 512, 0, 16384)).start, Ps{0}) << "SyncE's ring goes on";
  EXPECT_EQ(d.issue(load(128, 512, 0, 20480, isa::DmaRing::kGpSimd)).start, store.free);
}

TEST(Dma, AConsumerWaitsForTheWholeTransferAndNoSemaphoreMore) {
  Driver d(trn2());
  const Issued i = d.issue(load(128, 512));
  EXPECT_EQ(d.issue(square(sbuf(DType::kF32, 128, 512, 8192), sbuf(DType::kF32, 128, 512))).start,
            i.done);
}

TEST(Dma, AReadOfHbmWaitsForTheWriteThatMadeIt) {
  Driver d(trn2());
  const Tile row = hbm(DType::kF32, 128, 512, 512, 0);
  const Issued store = d.issue(dma(row, sbuf(DType::kF32, 128, 512), isa::DmaRing::kGpSimd));
  EXPECT_EQ(d.issue(dma(sbuf(DType::kF32, 128, 512, 8192), row)).start, store.done);
  Tile next = row;
  next.offset = 128 * 512 * 4;
  Driver e(trn2());
  e.issue(dma(row, sbuf(DType::kF32, 128, 512), isa::DmaRing::kGpSimd));
  EXPECT_EQ(e.issue(dma(sbuf(DType::kF32, 128, 512, 8192), next)).start, Ps{0});
}

TEST(Dma, ATriggerTakesItsSequencerAsLongAsItsDescriptorsCost) {
  const Tile src = hbm(DType::kF32, 128, 512, 512, 2);
  const auto issue = [&](const MachineSpec& m, isa::DmaRing ring, isa::DgeMode dge) {
    Driver d(m);
    const Issued i = d.issue(
        isa::DmaCopy{.dst = sbuf(DType::kF32, 128, 512), .src = src, .ring = ring, .dge = dge});
    return i.free - i.start;
  };
  EXPECT_EQ(issue(trn2(), isa::DmaRing::kSync, isa::DgeMode::kStatic), ns(50));
  EXPECT_EQ(issue(trn2(), isa::DmaRing::kGpSimd, isa::DgeMode::kSoftware), ns(600));
  EXPECT_EQ(issue(trn2(), isa::DmaRing::kScalar, isa::DgeMode::kHardware), ns(650));
  EXPECT_EQ(issue(trn1(), isa::DmaRing::kSync, isa::DgeMode::kStatic), ns(100));
}

TEST(Dma, TriggersOfScalarEHoldUpItsInstructions) {
  Driver d(trn2());
  d.issue(load(128, 512, 0, 0, isa::DmaRing::kScalar));
  EXPECT_EQ(
      d.issue(square(sbuf(DType::kF32, 128, 512, 8192), sbuf(DType::kF32, 128, 512, 16384))).start,
      ns(50));
}

TEST(Dma, CopiesWithinHbmAreDealtToAllEngines) {
  Driver d(trn2());
  EXPECT_EQ(
      transfer(d.issue(dma(hbm(DType::kF32, 32, 512, 512), hbm(DType::kF32, 32, 512, 512, 2)))),
      rows(2, 2048));
  EXPECT_EQ(d.timeline().hbm_read_bytes(), d.timeline().hbm_write_bytes());
}

TEST(Dma, HbmIsNoFasterThanItsStack) {
  // Reads and writes of one HBM-to-HBM copy together: 716 B/ns, more than the engines reach.
  Driver d(trn2());
  const Issued i =
      d.issue(dma(hbm(DType::kF32, 16, 16384, 16384), hbm(DType::kF32, 16, 16384, 16384, 2)));
  EXPECT_EQ(transfer(i), max(rows(1, 65536), ns(2.0 * 16 * 65536 / 716)));
  EXPECT_GT(ns(2.0 * 16 * 65536 / 716), rows(1, 65536)) << "the stack binds here";
}

TEST(Dma, CopiesWithinSbufDoNotWaitForHbm) {
  Driver d(trn2());
  const Issued busy =
      d.issue(dma(hbm(DType::kF32, 16, 16384, 16384), hbm(DType::kF32, 16, 16384, 16384, 2)));
  const auto within = [&](std::int64_t offset) {
    return d.issue(dma(on_partitions(sbuf(DType::kF32, 128, 64, offset), 120, 1),
                       on_partitions(sbuf(DType::kF32, 128, 64, offset + 4096), 0, 1),
                       isa::DmaRing::kGpSimd));
  };
  const Ps before = rows(1, 65536);  // their DMA engine's part of the long copy
  EXPECT_EQ(within(0).done, ns(700) + before + rows(1, 512) + ns(320));
  // Triggered while HBM is busy.
  const Issued second = within(8192);
  EXPECT_EQ(second.start, ns(50));
  EXPECT_EQ(second.done, ns(700) + before + rows(1, 512) + rows(1, 512) + ns(320));
  EXPECT_LT(second.done, busy.done) << "the stack works longer than the engines";
}

TEST(Dma, AWriteOfItsRingMayOvertakeACopyWithinSbuf) {
  // Partition 0 is read by DMA engine 15 (dst's), and written by engine 0: no order between them.
  Driver d(trn2());
  const Tile source = on_partitions(sbuf(DType::kF32, 128, 64, 4096), 0, 1);
  const Issued reads = d.issue(dma(on_partitions(sbuf(DType::kF32, 128, 64), 120, 1), source));
  EXPECT_EQ(d.issue(dma(source, hbm(DType::kF32, 1, 64, 64, 2))).start, reads.done);
}

}  // namespace
}  // namespace krait::sim
