// TensorE: LoadStationary behind the running product, passes, the ramp of v3 and later. Source:
// A2, EXP, KO, AGENT. trn1: 2.8 GHz, trn2: 2.4 GHz and 8 cycles a pass more.

#include "krait/sim/sim_testing.hpp"

namespace krait::sim {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

Tile moving(std::int64_t n, DType dtype = DType::kBf16) {
  return sbuf(dtype, 128, n, 65536);
}
Tile weights(std::int64_t m, std::int64_t offset = 0, DType dtype = DType::kBf16) {
  return sbuf(dtype, 128, m, offset);
}
Tile result(std::int64_t m, std::int64_t n, int bank = 0) {
  return psum(DType::kF32, static_cast<int>(m), n, bank * 2048);
}

TEST(TensorE, AColdProductStartsAfterItsLoad) {
  Driver d(trn1());
  const Issued i = d.issue(product(result(128, 512), weights(128), moving(512)));
  EXPECT_EQ(i.start, ns(32)) << "longer than 128 / 4 cycles";
  EXPECT_EQ(i.free - i.start, at(2.8, 512));
  EXPECT_EQ(i.done - i.free, at(2.8, 130));
}

TEST(TensorE, TheNextLoadHidesBehindALongProduct) {
  Driver d(trn1());
  const Issued first = d.issue(product(result(128, 512), weights(128), moving(512)));
  const Issued second = d.issue(product(result(128, 512, 1), weights(128, 4096), moving(512)));
  EXPECT_EQ(second.start, first.free);
}

TEST(TensorE, ALoadLongerThanTheProductIsSeen) {
  // f32: two loads of 128 / 4 cycles each are 64 cycles: a product of 64 cycles just hides them.
  Driver d(trn1());
  const Issued first = d.issue(product(result(128, 16), weights(128), moving(16)));
  EXPECT_EQ(first.free - first.start, at(2.8, 64)) << "the smallest interval";
  EXPECT_EQ(d.issue(product(result(128, 16, 1), weights(128, 4096), moving(16))).start, first.free);
  MachineSpec slow = trn1();
  slow.tensor.load_cycles_per_column.value = 0.51;  // 65.28 cycles: more than the product
  Driver e(slow);
  const Issued one = e.issue(product(result(128, 16), weights(128), moving(16)));
  EXPECT_EQ(e.issue(product(result(128, 16, 1), weights(128, 4096), moving(16))).start,
            one.start + at(2.8, 0.51 * 128));
}

TEST(TensorE, WithoutBackgroundLoadEveryLoadIsSeen) {
  MachineSpec machine = trn1();
  machine.tensor.background_load.value = false;
  Driver d(machine);
  const Issued first = d.issue(product(result(128, 512), weights(128), moving(512)));
  const Issued second = d.issue(product(result(128, 512, 1), weights(128, 4096), moving(512)));
  EXPECT_EQ(second.start, first.free + ns(32));
}

TEST(TensorE, TheStationaryOperandIsNeededForTheLoadTheMovingOneForTheProduct) {
  const auto make = [](const Tile& t) {
    return square(t, sbuf(t.dtype, 128, t.free_size(), 131072));
  };
  Driver late_weights(trn1());
  const Issued w = late_weights.issue(make(weights(128)));
  EXPECT_EQ(late_weights.issue(product(result(128, 64), weights(128), moving(64))).start,
            w.done + ns(100) + ns(32));
  Driver late_moving(trn1());
  const Issued m = late_moving.issue(make(moving(64)));
  EXPECT_EQ(late_moving.issue(product(result(128, 64), weights(128), moving(64))).start,
            m.done + ns(100))
      << "the load is done by then";
}

TEST(TensorE, F32TakesFourPassesAndAPromiseOfZeroAndOneTwo) {
  const auto busy = [](const MachineSpec& m, bool onezero) {
    Driver d(m);
    auto p = product(result(128, 512), weights(128, 0, DType::kF32), moving(512, DType::kF32));
    p.onezero = onezero;
    const Issued i = d.issue(p);
    return i.free - i.start;
  };
  EXPECT_EQ(busy(trn1(), false), at(2.8, 4 * 512));
  EXPECT_EQ(busy(trn1(), true), at(2.8, 2 * 512));
}

TEST(TensorE, ColumnsCountAndRowsDoNot) {
  const auto busy = [](int k, std::int64_t m, std::int64_t n) {
    Driver d(trn1());
    const Issued i = d.issue(
        product(result(m, n), on_partitions(weights(m), 0, k), on_partitions(moving(n), 0, k)));
    return i.free - i.start;
  };
  EXPECT_EQ(busy(128, 128, 512), busy(1, 1, 512));
  EXPECT_EQ(busy(128, 128, 64), at(2.8, 64));
  EXPECT_EQ(busy(128, 128, 63), at(2.8, 64));
  EXPECT_EQ(busy(128, 128, 65), at(2.8, 65));
}

// --- the ramp: 0.5 to 1 of full speed over the first 3 us of work ---

/// Products of 512 columns one after the other, started at `begin`; occupancy of each.
std::vector<Ps> burst(Driver& d, int count, Ps begin = {}) {
  std::vector<Ps> out;
  const double wait_cycles = static_cast<double>(begin.value) * 1.2 / 1000 - 16;
  for (int i = 0; i < count; ++i) {
    Tile x = moving(512);
    if (i == 0 && begin.value > 0) {  // another engine works that long first
      const Tile big = sbuf(DType::kF32, 128, static_cast<std::int64_t>(wait_cycles), 98304);
      d.issue(square(big, big));
      d.issue(square(x, sbuf(DType::kBf16, 128, 512, 90000)));
    }
    const Issued issued = d.issue(product(result(128, 512, i % 8), weights(128, 4096), x));
    out.push_back(issued.free - issued.start);
  }
  return out;
}
const Ps kWarm = at(2.4, 512 + 8);

TEST(TensorE, V2HasNoRamp) {
  Driver d(trn1());
  for (const Ps t : burst(d, 30)) EXPECT_EQ(t, at(2.8, 512));
}

TEST(TensorE, TheRampStartsAtHalfSpeedAndEndsAfterThreeMicrosecondsOfWork) {
  Driver d(trn2());
  const std::vector<Ps> taken = burst(d, 40);
  EXPECT_EQ(taken[0], kWarm + kWarm);
  Ps worked{};
  for (std::size_t i = 1; i < taken.size(); ++i) {
    worked += taken[i - 1];
    EXPECT_LE(taken[i], taken[i - 1]);
    const bool warm = worked >= ns(3000);
    EXPECT_EQ(taken[i] == kWarm, warm) << i;
  }
}

TEST(TensorE, ARampThatStartsLateIsAsLongAsOneAtTheBeginning) {
  Driver early(trn2()), late(trn2());
  const std::vector<Ps> first = burst(early, 40), second = burst(late, 40, ns(20000));
  EXPECT_EQ(first, second) << "the idle time before the work does not count again and again";
}

TEST(TensorE, AnIdleWindowStartsTheRampAgain) {
  Driver d(trn2());
  burst(d, 40);
  ASSERT_EQ(burst(d, 1)[0], kWarm);
  EXPECT_EQ(burst(d, 40, ns(30000))[0], kWarm + kWarm);
}

TEST(TensorE, AShortGapLeavesTheEngineWarm) {
  Driver d(trn2());
  burst(d, 40);
  const Ps end = d.timeline().path()[d.timeline().path().size() - 1].free;
  // The next product waits for ScalarE about 1 us: two thirds of the last 3 us were busy.
  const Tile x = sbuf(DType::kBf16, 128, 512, 65536);
  const Tile slow =
      sbuf(DType::kF32, 128, static_cast<std::int64_t>((end.ns() + 600) * 1.2), 98304);
  d.issue(square(slow, slow));
  d.issue(square(x, sbuf(DType::kBf16, 128, 512, 90000)));
  const Issued next = d.issue(product(result(128, 512), weights(128, 4096), x));
  ASSERT_GT(next.start, end + ns(700));
  ASSERT_LT(next.start, end + ns(1500));
  EXPECT_EQ(next.free - next.start, kWarm);
}

}  // namespace
}  // namespace krait::sim
