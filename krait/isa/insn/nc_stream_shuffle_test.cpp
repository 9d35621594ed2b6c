#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSrc = 0, kDst = 8192;

NcStreamShuffle insn(const Tile& dst, const Tile& src, const ShuffleMask& mask = {}) {
  return {.dst = dst, .src = src, .mask = mask};
}

// A permutation, a broadcast and holes in one.
ShuffleMask mixed() {
  ShuffleMask mask;
  for (std::size_t j = 0; j < 32; ++j)
    mask.lane[j] = static_cast<std::uint8_t>(j % 5 == 0 ? 255 : j % 5 == 1 ? 31 : (j * 7 + 3) % 32);
  return mask;
}

TEST(NcStreamShuffle, MovesEveryBitWithinEachQuadrantForEveryDtype) {
  for (const DType d : chip_dtypes())
    for (const int partitions : {32, 64, 96, 128}) {
      TestMemory m;
      const Tile src = sbuf(d, partitions, 9, kSrc), dst = sbuf(d, partitions, 9, kDst);
      const CounterRng rng(3);
      const std::uint64_t all = (1ULL << (8 * size_of(d))) - 1;
      for (int p = 0; p < partitions; ++p)
        for (std::int64_t i = 0; i < 9; ++i) {
          m.set_bits(src, p, i, rng.bits(flat(p, 9, i)) & all);
          m.set_bits(dst, p, i, 0x11111111 & all);
        }
      const ShuffleMask mask = mixed();
      m.run(insn(dst, src, mask));
      for (int p = 0; p < partitions; ++p)
        for (std::int64_t i = 0; i < 9; ++i) {
          const int from = mask.lane[static_cast<std::size_t>(p % 32)];
          ASSERT_EQ(m.bits(dst, p, i),
                    from == 255 ? 0x11111111 & all : m.bits(src, p / 32 * 32 + from, i))
              << name(d) << " " << p;
        }
    }
}

TEST(NcStreamShuffle, InPlaceAndBetweenQuadrants) {
  TestMemory m;
  ShuffleMask turn;
  for (std::size_t j = 0; j < 32; ++j) turn.lane[j] = static_cast<std::uint8_t>((j + 1) % 32);
  const Tile t = sbuf(DType::kF32, 64, 2, kSrc);
  m.fill(t, [](std::int64_t p, std::int64_t i) { return static_cast<float>(10 * p + i); });
  m.run(insn(t, t, turn));
  expect_tile(m, t, [](std::int64_t p, std::int64_t i) {
    const std::int64_t quadrant = p / 32, from = quadrant * 32 + (p + 1) % 32;
    return static_cast<float>(10 * from + i);
  });
  const Tile from = tile(Space::kSbuf, DType::kF32, 32, {{1, 2}}, kSrc, 32),
             to = tile(Space::kPsum, DType::kF32, 32, {{-1, 2}}, 64, 96);
  m.run(insn(to, from));
  expect_tile(m, to, [&](int p, std::int64_t i) { return m.get(from, p, i); });
}

TEST(NcStreamShuffle, WalksEveryAccessPatternOfFewLanes) {
  ShuffleMask swap;
  for (std::size_t j = 0; j < 32; ++j) swap.lane[j] = ShuffleMask::kKeep;
  swap.lane[0] = 1, swap.lane[1] = 0;
  for (const Tile& src : layouts(DType::kBf16, 2, kSrc, true))
    for (const Tile& dst : layouts(DType::kBf16, 2, kDst, false)) {
      TestMemory m;
      m.fill_random(src, 2);
      m.run(insn(dst, src, swap));
      expect_tile(m, dst, [&](int p, std::int64_t i) { return m.get(src, 1 - p, i); });
    }
}

TEST(NcStreamShuffle, DstIsReadWhereLanesAreKept) {
  const Tile t = sbuf(DType::kF32, 32, 4);
  NcStreamShuffle i = insn(t, t);
  EXPECT_FALSE(def_of<NcStreamShuffle>().accumulates(&i));
  i.mask.lane[31] = ShuffleMask::kKeep;
  EXPECT_TRUE(def_of<NcStreamShuffle>().accumulates(&i));
}

TEST(NcStreamShuffle, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  expect_legal_everywhere(insn(s, s, mixed()));
  expect_legal_everywhere(insn(psum(DType::kF32, 64, 32), s));
  expect_rule_everywhere(insn(s, Tile{}), "operand-missing");
  expect_rule_everywhere(insn(s, hbm(DType::kF32, 64, 32, 32)), "operand-space");
  expect_rule_everywhere(insn(s, sbuf(DType::kF32, 64, 31)), "same-free-size");
  expect_rule_everywhere(insn(s, sbuf(DType::kBf16, 64, 32)), "same-dtype");
  ShuffleMask mask;
  mask.lane[4] = 32;
  expect_rule_everywhere(insn(s, s, mask), "shuffle-mask");
  const Tile part = sbuf(DType::kF32, 8, 4), whole = sbuf(DType::kF32, 32, 4);
  expect_rule_everywhere(insn(part, part), "shuffle-lanes");  // the identity moves 32 lanes
  expect_rule_everywhere(insn(whole, part), "shuffle-lanes");
  expect_rule_everywhere(insn(part, whole), "shuffle-lanes");
  for (std::size_t j = 0; j < 32; ++j) mask.lane[j] = j < 8 ? 7 : ShuffleMask::kKeep;
  expect_legal_everywhere(insn(part, part, mask));
  expect_legal_everywhere(insn(whole, part, mask));
  mask.lane[0] = 8;
  expect_rule_everywhere(insn(part, part, mask), "shuffle-lanes");
  expect_legal_everywhere(insn(part, whole, mask));
}

TEST(NcStreamShuffle, Cost) {  // ISA26: max(MIN_II, N)
  for (const MachineSpec* m : machines())
    for (const DType d : {DType::kF32, DType::kBf16}) {
      const auto cost = [&](std::int64_t n) {
        return cycles(insn(sbuf(d, 128, n), sbuf(d, 128, n)), *m);
      };
      EXPECT_EQ(cost(64), elementwise(64));
      EXPECT_EQ(cost(65), elementwise(65));
      EXPECT_EQ(cost(512), elementwise(512));
    }
}

}  // namespace
}  // namespace krait::isa::testing
