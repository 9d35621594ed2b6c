// When does an instruction start, free its engine and show its result? Engines, data, tables and
// semaphores; ports, DMA and TensorE have files of their own. Source: A2, ISA26.

#include "krait/sim/timeline.hpp"

#include "krait/base/error.hpp"
#include "krait/sim/sim_testing.hpp"

namespace krait::sim {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

// trn1: VectorE 1.12 GHz, ScalarE 1.4 GHz, both with 150 cycles of latency beyond occupancy (170
// with an operand in PSUM), 16 cycles of issue, 100 ns between engines.
constexpr double kVector = 1.12, kScalar = 1.4;
Ps add_512() {  // f32, both in SBUF: 2N + 16
  return at(kVector, 2 * 512 + 16);
}

Tile block(int i) {  // 2 KiB each
  return sbuf(DType::kF32, 128, 512, i * 2048);
}

TEST(Timeline, TheNextIndependentInstructionStartsAfterOccupancyNotLatency) {
  Driver d(trn1());
  const Issued first = d.issue(add(block(0), block(1), block(2)));
  const Issued second = d.issue(add(block(3), block(4), block(5)));
  EXPECT_EQ(first.start, Ps{0});
  EXPECT_EQ(first.free, add_512());
  EXPECT_EQ(first.done, add_512() + at(kVector, 150));
  EXPECT_EQ(second.start, first.free);
  EXPECT_LT(second.start, first.done);
}

TEST(Timeline, ADependentInstructionOfTheSameEngineWaitsForTheResult) {
  Driver d(trn1());
  const Issued first = d.issue(add(block(0), block(1), block(2)));
  EXPECT_EQ(d.issue(add(block(3), block(0), block(4))).start, first.done);
}

TEST(Timeline, ADependentInstructionOfAnotherEngineWaitsOneSemaphoreMore) {
  Driver d(trn1());
  const Issued first = d.issue(add(block(0), block(1), block(2)));
  EXPECT_EQ(d.issue(square(block(3), block(0))).start, first.done + ns(100));
  Driver e(trn2());
  const Issued other = e.issue(add(block(0), block(1), block(2)));
  EXPECT_EQ(e.issue(square(block(3), block(0))).start, other.done + ns(130));
}

TEST(Timeline, EnginesRunInParallelAndEachInOrder) {
  Driver d(trn1());
  d.issue(add(block(0), block(1), block(2)));
  EXPECT_EQ(d.issue(square(block(3), block(4))).start, Ps{0});
  // Waits for VectorE, and holds up what comes behind it on ScalarE.
  const Issued waits = d.issue(square(block(5), block(0)));
  const Issued behind = d.issue(square(block(6), block(7)));
  EXPECT_GT(waits.start, Ps{0});
  EXPECT_EQ(behind.start, waits.free);
}

TEST(Timeline, AWriteAfterAReadWaitsUntilTheReadsOccupancyEnds) {
  Driver d(trn1());
  const Issued reader = d.issue(add(block(0), block(1), block(2)));
  EXPECT_EQ(d.issue(square(block(1), block(3))).start, reader.free + ns(100));
}

TEST(Timeline, AnOperandInPsumCostsTwentyCyclesMoreOfLatency) {
  Driver d(trn1());
  const Issued one = d.issue(add(block(0), psum(DType::kF32, 128, 512), block(1)));
  EXPECT_EQ(one.free - one.start, at(kVector, 512 + 16)) << "one input in PSUM: N";
  EXPECT_EQ(one.done - one.free, at(kVector, 170));
}

// --- ScalarE's tables: 370 ns on trn1 ---

TEST(Timeline, TheFirstTableFunctionLoadsItsTable) {
  Driver d(trn1());
  const Issued exp = d.issue(function(UnaryFn::kExp, block(0), block(1)));
  EXPECT_EQ(exp.start, ns(370));
  EXPECT_EQ(d.issue(function(UnaryFn::kExp, block(2), block(3))).start, exp.free);
  const Issued silu = d.issue(function(UnaryFn::kSilu, block(4), block(5)));
  EXPECT_EQ(silu.start, exp.free + (exp.free - exp.start) + ns(370));
}

TEST(Timeline, FunctionsWithoutATableLeaveTheLoadedOneInPlace) {
  Driver d(trn1());
  d.issue(function(UnaryFn::kExp, block(0), block(1)));
  const Issued plain = d.issue(function(UnaryFn::kCopy, block(2), block(3)));
  EXPECT_EQ(d.issue(function(UnaryFn::kExp, block(4), block(5))).start, plain.free);
}

TEST(Timeline, ATableLoadsWhileItsInstructionWaitsForData) {
  Driver d(trn1());
  const Issued first = d.issue(add(block(0), block(1), block(2)));  // 1.06 us, longer than the load
  EXPECT_EQ(d.issue(function(UnaryFn::kExp, block(3), block(0))).start, first.done + ns(100));
}

// --- semaphores ---

TEST(Timeline, AWaitIsForTheSignalOfThatCount) {
  Driver d(trn1());
  d.issue(add(block(0), block(1), block(2)), {}, {5});
  const Issued second = d.issue(add(block(3), block(4), block(5)), {}, {5});
  EXPECT_EQ(d.issue(square(block(6), block(7)), {{5, 2}}).start, second.done + ns(100));
}

TEST(Timeline, AWaitForNothingDoesNotWait) {
  Driver d(trn1());
  EXPECT_EQ(d.issue(square(block(6), block(7)), {{5, 0}}).start, Ps{0});
}

TEST(Timeline, AWaitOnTheOwnEngineHasNoSemaphoreLatency) {
  Driver d(trn1());
  const Issued first = d.issue(add(block(0), block(1), block(2)), {}, {5});
  EXPECT_EQ(d.issue(add(block(3), block(4), block(5)), {{5, 1}}).start, first.done);
}

TEST(Timeline, AWaitForASignalThatNeverComesIsADeadlockWithEngineAndTime) {
  Driver d(trn1());
  d.issue(square(block(0), block(1)), {}, {5});
  const Issued before = d.issue(add(block(2), block(3), block(4)));
  try {
    d.issue(add(block(5), block(6), block(7)), {{5, 2}});
    FAIL() << "no fault";
  } catch (const MachineFault& fault) {
    EXPECT_THAT(fault.report().what, HasSubstr("deadlock"));
    EXPECT_THAT(fault.report().where, HasSubstr("VectorE"));
    EXPECT_THAT(fault.report().where, HasSubstr("instruction 2 (tensor_tensor)"));
    EXPECT_THAT(fault.report().where, HasSubstr(cat("time ", before.free.ns(), " ns")));
    EXPECT_THAT(fault.report().got, HasSubstr("semaphore 5 has 1 signals, waits for 2"));
  }
}

// --- counters ---

TEST(Timeline, CountsWhatWasDone) {
  Driver d(trn1());
  d.issue(add(block(0), block(1), block(2)));
  d.issue(add(block(3), block(0), block(2)));
  d.issue(square(block(4), block(3)));
  d.issue(dma(block(5), hbm(DType::kF32, 128, 512, 512)));
  d.issue(dma(hbm(DType::kF32, 128, 512, 512, 1), block(4)));
  d.issue(product(psum(DType::kF32, 64, 256), sbuf(DType::kF32, 32, 64, 10 * 2048),
                  sbuf(DType::kF32, 32, 256, 11 * 2048)));
  const Timeline& t = d.timeline();
  EXPECT_EQ(t.work(Engine::kVector), 2 * 512);
  EXPECT_EQ(t.work(Engine::kScalar), 512);
  EXPECT_EQ(t.work(Engine::kTensor), 32 * 64 * 256);
  EXPECT_EQ(t.instructions(Engine::kVector), 2);
  EXPECT_EQ(t.dma_count(), 2);
  EXPECT_EQ(t.hbm_read_bytes(), 128 * 512 * 4);
  EXPECT_EQ(t.hbm_write_bytes(), 128 * 512 * 4);
  EXPECT_EQ(t.engine_busy(Engine::kVector), add_512() + add_512());
  EXPECT_EQ(t.engine_busy(Engine::kScalar), at(kScalar, 512 + 16));
  EXPECT_EQ(t.depth(), 4) << "add, add, square, store";
}

}  // namespace
}  // namespace krait::sim
