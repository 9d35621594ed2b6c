// Which engines keep each other off a memory, on which generation? Source: A2, A3.
// Each pair of operations is asked on all generations, where it takes turns and where it does not.

#include "krait/sim/sim_testing.hpp"

namespace krait::sim {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

Tile block(int i) {
  return sbuf(DType::kF32, 128, 512, i * 2048);
}
Tile bank(int i) {
  return psum(DType::kF32, 128, 512, i * 2048);
}

/// Start of the second of two independent instructions of different engines.
template <class A, class B>
Ps second_start(const MachineSpec& machine, const A& a, const B& b, Ps* first_free = nullptr) {
  Driver d(machine);
  const Issued first = d.issue(a);
  if (first_free != nullptr) *first_free = first.free;
  return d.issue(b).start;
}

TEST(Ports, VectorAndGpSimdTakeTurnsOnSbufOnV2Only) {
  const auto on_vector = add(block(0), block(1), block(2));
  const auto on_gpsimd = copy(Engine::kGpSimd, block(3), block(4));
  Ps vector_free, gpsimd_free;
  EXPECT_EQ(second_start(trn1(), on_vector, on_gpsimd, &vector_free), vector_free);
  EXPECT_EQ(second_start(trn1(), on_gpsimd, on_vector, &gpsimd_free), gpsimd_free);
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(second_start(*m, on_vector, on_gpsimd), Ps{0}) << m->name();
    EXPECT_EQ(second_start(*m, on_gpsimd, on_vector), Ps{0}) << m->name();
  }
}

TEST(Ports, AVectorInstructionWithinPsumLeavesSbufToGpSimd) {
  const auto within_psum = copy(Engine::kVector, bank(0), bank(1));
  for (const MachineSpec* m : machines())
    EXPECT_EQ(second_start(*m, within_psum, copy(Engine::kGpSimd, block(3), block(4))), Ps{0})
        << m->name();
}

TEST(Ports, VectorAndScalarTakeTurnsOnPsumOnV2WhateverTheBank) {
  const auto on_vector = copy(Engine::kVector, block(0), bank(0));
  Ps free;
  EXPECT_EQ(second_start(trn1(), on_vector, square(block(1), bank(7)), &free), free);
  EXPECT_EQ(second_start(trn1(), square(block(1), bank(7)), on_vector, &free), free);
}

TEST(Ports, VectorAndScalarTakeTurnsOnOneBankOnlyFromV3On) {
  const auto on_vector = copy(Engine::kVector, block(0), bank(0));
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    Ps free;
    EXPECT_EQ(second_start(*m, on_vector, square(block(1), bank(0)), &free), free) << m->name();
    EXPECT_EQ(second_start(*m, on_vector, square(block(1), bank(1))), Ps{0}) << m->name();
    // The last and first bytes of neighbouring banks.
    const auto end = copy(Engine::kVector, block(0), psum(DType::kF32, 128, 8, 2048 - 32));
    EXPECT_EQ(
        second_start(*m, end,
                     square(sbuf(DType::kF32, 128, 8, 2048), psum(DType::kF32, 128, 8, 2048))),
        Ps{0})
        << m->name();
    EXPECT_EQ(
        second_start(*m, end, square(sbuf(DType::kF32, 128, 8, 2048), psum(DType::kF32, 128, 8, 0)),
                     &free),
        free)
        << m->name();
  }
}

TEST(Ports, ScalarAndVectorShareSbufEverywhere) {
  for (const MachineSpec* m : machines()) {
    EXPECT_EQ(second_start(*m, add(block(0), block(1), block(2)), square(block(3), block(4))),
              Ps{0})
        << m->name();
    EXPECT_EQ(
        second_start(*m, square(block(3), block(4)), copy(Engine::kGpSimd, block(0), block(1))),
        Ps{0})
        << m->name();
  }
}

TEST(Ports, TensorKeepsNobodyOff) {
  const auto on_tensor = product(psum(DType::kF32, 128, 512, 2048), sbuf(DType::kBf16, 128, 128),
                                 sbuf(DType::kBf16, 128, 512, 4096));
  for (const MachineSpec* m : machines()) {
    EXPECT_EQ(second_start(*m, on_tensor, copy(Engine::kVector, block(5), bank(0))), Ps{0});
    EXPECT_EQ(second_start(*m, on_tensor, square(block(5), bank(0))), Ps{0});
    EXPECT_EQ(second_start(*m, on_tensor, copy(Engine::kGpSimd, block(5), block(6))), Ps{0});
  }
}

// An instruction placed later may still use a gap before one placed earlier.
TEST(Ports, AGapBeforeAWaitingInstructionIsUsed) {
  Driver d(trn1());
  const Issued load = d.issue(dma(block(1), hbm(DType::kF32, 128, 512, 512)));
  const Issued vector = d.issue(add(block(0), block(1), block(2)));  // waits for the load
  EXPECT_GE(vector.start, load.done);
  EXPECT_EQ(d.issue(copy(Engine::kGpSimd, block(3), block(4))).start, Ps{0});
}

// From v3 on a fast VectorE instruction borrows GpSimdE's bus; both go at half speed while they
// overlap, so who comes second takes as much longer as it overlaps.
TEST(Ports, FastVectorAndGpSimdShareABusFromV3On) {
  const auto fast =
      copy(Engine::kVector, sbuf(DType::kBf16, 128, 4096), sbuf(DType::kBf16, 128, 4096, 16384));
  const auto slow = copy(Engine::kVector, sbuf(DType::kF32, 128, 512), bank(0));
  const auto on_gpsimd = copy(Engine::kGpSimd, block(40), block(41));
  const Ps alone = at(1.2, 150 + 512), vector = at(0.96, 4096.0 / 4 + 16);
  ASSERT_LT(alone, vector) << "GpSimdE's instruction lies within VectorE's";
  Driver with_fast(trn2());
  const Issued v = with_fast.issue(fast);
  EXPECT_EQ(v.free - v.start, vector);
  const Issued g = with_fast.issue(on_gpsimd);
  EXPECT_EQ(g.start, Ps{0});
  EXPECT_EQ(g.free, alone + alone) << "all of it overlaps";
  Driver with_slow(trn2());
  with_slow.issue(slow);
  EXPECT_EQ(with_slow.issue(on_gpsimd).free, alone);
  Driver fast_second(trn2());
  fast_second.issue(on_gpsimd);
  EXPECT_EQ(fast_second.issue(fast).free, vector + alone) << "as long as GpSimdE runs";
}

TEST(Ports, V2HasNoFastModeToShare) {
  const auto narrow =
      copy(Engine::kVector, sbuf(DType::kBf16, 128, 4096), sbuf(DType::kBf16, 128, 4096, 16384));
  Driver d(trn1());
  const Issued v = d.issue(narrow);
  EXPECT_EQ(v.free, at(1.12, 4096 + 16));
  const Issued g = d.issue(copy(Engine::kGpSimd, block(40), block(41)));
  EXPECT_EQ(g.free - g.start, at(1.4, 150 + 512));
}

}  // namespace
}  // namespace krait::sim
