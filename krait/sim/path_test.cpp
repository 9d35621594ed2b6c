// Does the path say what a time is made of? Cases are constructed so that one cause is known to
// bind; in every case the causes add up to the whole time.

#include "krait/sim/path.hpp"

#include <string>

#include "krait/sim/sim_testing.hpp"

namespace krait::sim {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

Tile block(int i) {
  return sbuf(DType::kF32, 128, 512, i * 2048);
}
Tile small(int i) {
  return sbuf(DType::kF32, 128, 1, i * 64);
}

using Charges = std::map<std::string, Ps>;

/// The charges, checked to add up.
Charges charges(Driver& d) {
  Charges out = d.timeline().path().charges();
  Ps sum{};
  for (const auto& [cause, time] : out) {
    EXPECT_GT(time, Ps{0}) << cause;
    sum += time;
  }
  EXPECT_EQ(sum, d.timeline().time());
  return out;
}
std::string bound_by(Driver& d) {
  std::string most;
  Ps best{};
  for (const auto& [cause, time] : charges(d))
    if (time > best) most = cause, best = time;
  return most;
}

TEST(Path, NothingRunIsNoCause) {
  Driver d(trn1());
  EXPECT_TRUE(charges(d).empty());
}

TEST(Path, IndependentWorkOfOneEngineIsBoundByIt) {
  Driver d(trn1());
  for (int i = 0; i < 20; ++i) d.issue(add(block(3 * i % 30), block(31), block(32)));
  EXPECT_EQ(charges(d),
            (Charges{{"VectorE", at(1.12, 2 * 512 + 16) * 20}, {"latency", at(1.12, 150)}}));
}

TEST(Path, AChainOfSmallInstructionsIsBoundByLatency) {
  Driver d(trn1());
  for (int i = 0; i < 20; ++i) d.issue(add(small(0), small(0), small(1)));
  EXPECT_EQ(charges(d), (Charges{{"VectorE", at(1.12, 80) * 20}, {"latency", at(1.12, 150) * 20}}));
  EXPECT_EQ(bound_by(d), "latency");
}

TEST(Path, PingPongBetweenEnginesPaysSemaphores) {
  Driver d(trn1());
  for (int i = 0; i < 10; ++i) {
    d.issue(add(small(1), small(0), small(2)));
    d.issue(square(small(0), small(1)));
  }
  const Charges c = charges(d);
  EXPECT_EQ(c.at("semaphore"), ns(100) * 19);
  EXPECT_EQ(c.at("latency"), at(1.12, 150) * 10 + at(1.4, 150) * 10);
}

TEST(Path, ALoneLoadIsBoundByItsLatency) {
  Driver d(trn2());
  d.issue(dma(small(0), hbm(DType::kF32, 128, 1, 1, 2)));
  const Charges c = charges(d);
  EXPECT_EQ(c.at("DMA latency"), ns(700) + ns(320));
  EXPECT_EQ(bound_by(d), "DMA latency");
}

TEST(Path, ManyLargeLoadsAreBoundByTransfer) {
  Driver d(trn2());
  for (int i = 0; i < 20; ++i)
    d.issue(dma(sbuf(DType::kF32, 128, 2048, i * 8192), hbm(DType::kF32, 128, 2048, 0, 2)));
  EXPECT_EQ(bound_by(d), "DMA transfer");
}

TEST(Path, ManySmallSoftwareDescribedLoadsAreBoundByIssue) {
  Driver d(trn2());
  for (int i = 0; i < 20; ++i)
    d.issue(isa::DmaCopy{.dst = small(i),
                         .src = hbm(DType::kF32, 128, 1, 1, 2),
                         .ring = isa::DmaRing::kGpSimd,
                         .dge = isa::DgeMode::kSoftware});
  EXPECT_EQ(charges(d).at("DMA issue"), ns(600) * 19);
  EXPECT_EQ(bound_by(d), "DMA issue");
}

TEST(Path, AlternatingFunctionsAreBoundByTableLoads) {
  Driver d(trn1());
  for (int i = 0; i < 10; ++i) {
    d.issue(function(UnaryFn::kExp, small(0), small(1)));
    d.issue(function(UnaryFn::kSilu, small(2), small(3)));
  }
  EXPECT_EQ(charges(d).at("table load"), ns(370) * 20);
  EXPECT_EQ(bound_by(d), "table load");
}

TEST(Path, ABusyPortIsAPortWait) {
  Driver d(trn1());
  const Issued first = d.issue(add(block(0), block(1), block(2)));
  const Issued second = d.issue(copy(Engine::kGpSimd, block(3), block(4)));
  EXPECT_EQ(second.start, first.free);
  const Charges c = charges(d);
  EXPECT_EQ(c.at("port wait"), first.free);
  EXPECT_EQ(c.at("GpSimdE"), second.free - second.start);
}

TEST(Path, APortThatIsBusyWhenTheDataIsThereIsAPortWaitNotASemaphore) {
  Driver d(trn1());
  const Issued made = d.issue(square(small(0), small(1)));
  const Issued holds = d.issue(add(block(8), block(9), block(10)));  // VectorE holds SBUF
  ASSERT_GT(holds.free, made.done + ns(100));
  const Issued waits = d.issue(copy(Engine::kGpSimd, sbuf(DType::kF32, 128, 2048, 65536),
                                    sbuf(DType::kF32, 128, 2048, 0)));  // reads what ScalarE made
  ASSERT_EQ(waits.start, holds.free);
  const Charges c = charges(d);
  EXPECT_EQ(c.at("semaphore"), ns(100));
  EXPECT_EQ(c.at("port wait"), holds.free - (made.done + ns(100)));
}

TEST(Path, LoadingWeightsIsTensorWorkNotAWait) {
  Driver cold(trn1());
  const Issued i = cold.issue(product(psum(DType::kF32, 128, 512), sbuf(DType::kBf16, 128, 128),
                                      sbuf(DType::kBf16, 128, 512, 4096)));
  EXPECT_EQ(charges(cold), (Charges{{"TensorE", i.free}, {"latency", at(2.8, 130)}}));
  Driver d(trn1());
  const Tile weights = sbuf(DType::kBf16, 128, 128);
  const Issued made = d.issue(square(weights, sbuf(DType::kBf16, 128, 128, 8192)));
  const Issued p =
      d.issue(product(psum(DType::kF32, 128, 512), weights, sbuf(DType::kBf16, 128, 512, 4096)));
  EXPECT_EQ(charges(d), (Charges{{"ScalarE", made.free},
                                 {"latency", at(1.4, 150) + at(2.8, 130)},
                                 {"semaphore", ns(100)},
                                 {"TensorE", p.free - made.done - ns(100)}}));
}

TEST(Path, AWriteThatWaitsForAReaderIsChargedToTheReadersOccupancy) {
  Driver d(trn1());
  const Issued reader = d.issue(add(block(0), block(1), block(2)));
  const Issued writer = d.issue(square(block(1), block(3)));
  EXPECT_EQ(charges(d), (Charges{{"VectorE", reader.free},
                                 {"semaphore", ns(100)},
                                 {"ScalarE", writer.free - writer.start},
                                 {"latency", at(1.4, 150)}}));
}

// Whatever is run, in whatever order, nothing of the time is lost or counted twice.
TEST(Path, ChargesAddUpOnRandomStreams) {
  for (const MachineSpec* machine : machines())
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const CounterRng rng(seed, 3);
      std::uint64_t k = 0;
      const auto pick = [&](std::uint64_t n) { return static_cast<int>(rng.bits(k++) % n); };
      Driver d(*machine);
      for (int i = 0; i < 200; ++i) switch (pick(7)) {
          case 0:
            d.issue(add(block(pick(8)), block(pick(8)), block(pick(8))));
            break;
          case 1:
            d.issue(function(pick(2) == 0 ? UnaryFn::kExp : UnaryFn::kSilu, block(pick(8)),
                             block(pick(8))));
            break;
          case 2:
            d.issue(copy(Engine::kGpSimd, block(pick(8)), block(pick(8))));
            break;
          case 3:
            d.issue(dma(block(pick(8)), hbm(DType::kF32, 128, 512, 512, 2), isa::DmaRing::kScalar));
            break;
          case 4:
            d.issue(dma(hbm(DType::kF32, 128, 512, 512), block(pick(8))));
            break;
          case 5:
            d.issue(product(psum(DType::kF32, 128, 512, pick(8) * 2048),
                            sbuf(DType::kF32, 128, 128, pick(8) * 2048), block(pick(8))));
            break;
          default:
            d.issue(
                copy(Engine::kVector, block(pick(8)), psum(DType::kF32, 128, 512, pick(8) * 2048)));
        }
      charges(d);
    }
}

}  // namespace
}  // namespace krait::sim
