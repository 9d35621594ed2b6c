// Does an access wait for exactly the accesses whose bytes it meets? Source: A2 (order by
// semaphores: read after write, write after read, write after write) and DMAO (queues).

#include "krait/sim/dependence.hpp"

#include <algorithm>
#include <map>

#include "krait/sim/sim_testing.hpp"

namespace krait::sim {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr Ps kCross{1000};
constexpr Queue kVector = 1, kScalar = 2, kGpSimd = 3;
constexpr Queue kRing = kFirstRing + 4, kOtherRing = kFirstRing + 3;

class Map : public ::testing::Test {
 protected:
  Map() {
    map_.add_hbm_buffer(1 << 20, true);
    map_.add_hbm_buffer(1 << 20, true);
    map_.add_hbm_buffer(1 << 20, false);
  }
  void wrote(const Tile& t, Queue queue, std::int64_t time) { did(t, true, queue, time); }
  void read(const Tile& t, Queue queue, std::int64_t time) { did(t, false, queue, time); }
  void did(const Tile& t, bool write, Queue queue, std::int64_t time) {
    map_.record(t, write, {Ps{time}, next_++, 1, queue});
  }
  Constraint ask(const Tile& t, bool write, Queue queue) {
    Constraint c;
    std::int32_t depth = 0;
    map_.constrain(t, write, queue, c, depth);
    return c;
  }
  std::int64_t ready(const Tile& t, bool write, Queue queue) {
    return ask(t, write, queue).ready.value;
  }

  DependenceMap map_{kCross};
  std::int32_t next_ = 0;
};

TEST_F(Map, ReadAfterWriteWaitsForOverlapAndNotForItsNeighbour) {
  wrote(sbuf(DType::kF32, 128, 16, 64), kVector, 5000);                       // bytes 64 .. 128
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16, 124), false, kScalar), 6000);    // 124 .. 188
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 16, 128), false, kScalar).index, -1);  // adjacent above
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 15, 8), false, kScalar), 6000);      // 8 .. 68
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 14, 8), false, kScalar).index, -1);    // 8 .. 64
}

TEST_F(Map, ReadAfterWriteOnOneEngineWaitsForTheResultWithoutSemaphore) {
  wrote(sbuf(DType::kF32, 128, 16), kVector, 5000);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), false, kVector), 5000);
}

TEST_F(Map, WriteAfterReadAndWriteAfterWriteWaitForOtherQueuesOnly) {
  wrote(sbuf(DType::kF32, 128, 16), kVector, 5000);
  read(sbuf(DType::kF32, 128, 16), kScalar, 7000);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), true, kGpSimd), 8000);
  EXPECT_TRUE(ask(sbuf(DType::kF32, 128, 16), true, kGpSimd).from_read);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), true, kScalar), 6000) << "its own read is in order";
  EXPECT_FALSE(ask(sbuf(DType::kF32, 128, 16), true, kScalar).from_read);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), true, kVector), 8000) << "its own write is in order";
}

TEST_F(Map, AWriteForgetsTheReadersBeforeIt) {
  read(sbuf(DType::kF32, 128, 16), kScalar, 9000);
  wrote(sbuf(DType::kF32, 128, 16), kVector, 5000);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), true, kGpSimd), 6000);
}

TEST_F(Map, ReadsDoNotWaitForReads) {
  read(sbuf(DType::kF32, 128, 16), kScalar, 9000);
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 16), false, kVector).index, -1);
}

TEST_F(Map, StridedRunsInterleaveWithoutMeeting) {
  const Tile even = stepped(sbuf(DType::kF32, 128, 16), 2);
  const Tile odd = stepped(sbuf(DType::kF32, 128, 16, 4), 2);
  wrote(even, kVector, 5000);
  EXPECT_EQ(ask(odd, false, kScalar).index, -1);
  EXPECT_EQ(ready(even, false, kScalar), 6000);
  EXPECT_EQ(ready(stepped(sbuf(DType::kBf16, 128, 2, 2), 100), false, kScalar), 6000)
      << "the second half of an f32";
}

TEST_F(Map, ReversedAndBroadcastPatternsCoverTheirOwnBytes) {
  wrote(stepped(sbuf(DType::kF32, 128, 4, 12), -1), kVector, 5000);  // 0 .. 16
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 1, 0), false, kScalar), 6000);
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 1, 16), false, kScalar).index, -1);
  wrote(sbuf(DType::kF32, 128, 1, 100), kVector, 8000);
  EXPECT_EQ(ready(stepped(sbuf(DType::kF32, 128, 512, 100), 0), false, kScalar), 9000);
  EXPECT_EQ(ask(stepped(sbuf(DType::kF32, 128, 512, 104), 0), false, kScalar).index, -1);
}

TEST_F(Map, QuadrantsOf32PartitionsAreApart) {
  wrote(on_partitions(sbuf(DType::kF32, 32, 16), 32, 32), kVector, 5000);
  EXPECT_EQ(ask(on_partitions(sbuf(DType::kF32, 32, 16), 0, 32), false, kScalar).index, -1);
  EXPECT_EQ(ask(on_partitions(sbuf(DType::kF32, 32, 16), 64, 64), false, kScalar).index, -1);
  EXPECT_EQ(ready(on_partitions(sbuf(DType::kF32, 32, 16), 63, 1), false, kScalar), 6000);
}

TEST_F(Map, SbufAndPsumAreApart) {
  wrote(psum(DType::kF32, 128, 16), kVector, 5000);
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 16), false, kScalar).index, -1);
  EXPECT_EQ(ready(psum(DType::kF32, 128, 16), false, kScalar), 6000);
}

TEST_F(Map, ThreeQueuesOfReadersAllHoldAWriterUp) {
  // DMA marks hold their own latency; an engine's is seen one semaphore later. The last to be seen
  // here is neither the last in time nor the last recorded.
  read(sbuf(DType::kF32, 128, 16), kVector, 5000);  // seen at 6000
  read(sbuf(DType::kF32, 128, 16), kRing, 5500);
  read(sbuf(DType::kF32, 128, 16), kOtherRing, 5400);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), true, kScalar), 6000);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), true, kVector), 5500);
}

TEST_F(Map, HbmRowsOfOneBlockThatOnlyTouchDoNotWait) {
  Tile left = hbm(DType::kF32, 1, 16, 0), right = left, over = left;
  right.offset = 64, over.offset = 60;
  wrote(left, kRing, 5000);  // bytes 0 .. 64 of a block of 512
  EXPECT_EQ(ask(right, false, kOtherRing).index, -1);
  EXPECT_EQ(ask(right, true, kOtherRing).index, -1);
  EXPECT_EQ(ready(over, false, kOtherRing), 5000);
  EXPECT_EQ(ready(over, true, kOtherRing), 5000);
  read(right, kRing, 9000);
  EXPECT_EQ(ready(left, true, kOtherRing), 5000) << "the read was of other bytes";
  EXPECT_EQ(ready(over, true, kOtherRing), 9000);
}

TEST_F(Map, HbmRemembersAnEarlierNeighbourInTheSameBlock) {
  Tile left = hbm(DType::kF32, 1, 16, 0), right = left;
  right.offset = 64;
  wrote(left, kRing, 9000);
  wrote(right, kOtherRing, 5000);
  EXPECT_EQ(ready(left, false, kOtherRing), 9000);
}

TEST_F(Map, HbmWritesOfOneRingAreNotInOrder) {
  // A row in HBM may come from any partition, hence from any DMA engine (DMAO).
  wrote(hbm(DType::kF32, 1, 16, 0), kRing, 5000);
  EXPECT_EQ(ready(hbm(DType::kF32, 1, 16, 0), true, kRing), 5000);
  read(hbm(DType::kF32, 1, 16, 0, 1), kRing, 7000);
  EXPECT_EQ(ready(hbm(DType::kF32, 1, 16, 0, 1), true, kRing), 7000);
}

TEST_F(Map, SbufWritesOfOneRingAreInOrder) {
  wrote(sbuf(DType::kF32, 128, 16), kRing, 5000);
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 16), true, kRing).index, -1);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 16), true, kOtherRing), 5000);
}

TEST_F(Map, HbmBuffersAreApartAndInputsAreNotTracked) {
  wrote(hbm(DType::kF32, 4, 16, 16, 0), kRing, 5000);
  EXPECT_EQ(ask(hbm(DType::kF32, 4, 16, 16, 1), false, kOtherRing).index, -1);
  read(hbm(DType::kF32, 4, 16, 16, 2), kRing, 5000);
  EXPECT_EQ(ask(hbm(DType::kF32, 4, 16, 16, 2), true, kOtherRing).index, -1);
}

TEST_F(Map, HbmRowsFollowThePartitionStep) {
  wrote(hbm(DType::kF32, 4, 256, 512, 0), kRing, 5000);  // 1 KiB every 2 KiB
  Tile between = hbm(DType::kF32, 4, 256, 512, 0), within = between;
  between.offset = 1024, within.offset = 3 * 2048 + 1020, within.partitions = 1;
  EXPECT_EQ(ask(between, false, kOtherRing).index, -1);
  EXPECT_EQ(ready(within, false, kOtherRing), 5000);
}

// Beyond this many runs a pattern is tracked as its bounding box: it may wait for too much, never
// for too little.
TEST_F(Map, MoreThan64RunsAreTrackedAsTheirBoundingBox) {
  const auto evens = [](std::int64_t n) { return stepped(sbuf(DType::kF32, 128, n), 2); };
  wrote(evens(64), kVector, 5000);
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 1, 4), false, kScalar).index, -1);
  wrote(evens(65), kVector, 7000);
  EXPECT_EQ(ready(sbuf(DType::kF32, 128, 1, 4), false, kScalar), 8000);
  EXPECT_EQ(ask(sbuf(DType::kF32, 128, 1, 65 * 8), false, kScalar).index, -1);
}

TEST_F(Map, DepthFollowsResultsOnly) {
  const Tile t = sbuf(DType::kF32, 128, 16);
  map_.record(t, true, {Ps{1}, 0, 7, kVector});
  map_.record(t, false, {Ps{2}, 1, 9, kScalar});
  Constraint c;
  std::int32_t depth = 0;
  map_.constrain(t, true, kGpSimd, c, depth);
  EXPECT_EQ(depth, 0) << "a write needs no earlier result";
  map_.constrain(t, false, kGpSimd, c, depth);
  EXPECT_EQ(depth, 7);
}

// Every byte with all its accesses since the last write: what the map must agree with.
class PlainHistory {
 public:
  struct Byte {
    std::vector<Mark> writer, readers;
  };
  std::int64_t ready(const Tile& t, bool write, Queue queue) {
    std::int64_t out = -1;
    each(t, [&](Byte& b) {
      for (const Mark& m : b.writer) wait(m, queue, write, out);
      if (!write) return;
      for (const Mark& m : b.readers) wait(m, queue, write, out);
    });
    return out;
  }
  void record(const Tile& t, bool write, const Mark& mark) {
    each(t, [&](Byte& b) {
      if (write)
        b.writer = {mark}, b.readers = {};
      else
        b.readers.push_back(mark);
    });
  }

 private:
  static void wait(const Mark& m, Queue queue, bool write, std::int64_t& out) {
    if (m.queue == queue && write) return;
    const bool told = m.queue == queue || m.queue >= kFirstRing;
    out = std::max(out, m.time.value + (told ? 0 : kCross.value));
  }
  template <class Fn>
  void each(const Tile& t, Fn fn) {
    for (int p = t.partition / 32; p <= (t.partition + t.partitions - 1) / 32; ++p)
      for (std::int64_t i = 0; i < t.free_size(); ++i)
        for (std::int64_t b = 0; b < t.element_bytes(); ++b)
          fn(bytes_[{p, t.offset + isa::testing::element_offset(t, i) + b}]);
  }
  std::map<std::pair<int, std::int64_t>, Byte> bytes_;
};

TEST_F(Map, RandomAccessesWaitAsAPlainHistoryOfBytesSays) {
  const CounterRng rng(11);
  std::uint64_t at = 0;
  const auto pick = [&](std::uint64_t n) { return static_cast<std::int64_t>(rng.bits(at++) % n); };
  PlainHistory plain;
  int waited = 0;
  for (int i = 0; i < 3000; ++i) {
    const DType dtype = pick(2) == 0 ? DType::kF32 : DType::kBf16;
    const std::int64_t size = dtype == DType::kF32 ? 4 : 2;
    Tile t = isa::testing::tile(isa::Space::kSbuf, dtype, 32,
                                {{pick(12), pick(3) + 1}, {pick(3), pick(5) + 1}}, pick(40) * size,
                                static_cast<int>(pick(3)) * 32);
    const bool write = pick(2) == 0;
    const Queue queue = std::array<Queue, 5>{kVector, kScalar, kGpSimd, kRing,
                                             kOtherRing}[static_cast<std::size_t>(pick(5))];
    const Constraint c = ask(t, write, queue);
    const std::int64_t want = plain.ready(t, write, queue);
    ASSERT_EQ(c.index < 0 ? -1 : c.ready.value, want) << i << " " << isa::to_string(t);
    waited += want >= 0;
    const Mark mark{Ps{i * 10 + pick(3000)}, i, 1, queue};
    map_.record(t, write, mark);
    plain.record(t, write, mark);
  }
  EXPECT_GT(waited, 1000);
}

}  // namespace
}  // namespace krait::sim
