#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSrc = 0, kDst = 8192;

TensorCopy insn(const Tile& dst, const Tile& src, Engine engine = Engine::kVector) {
  return {.dst = dst, .src = src, .engine = engine};
}

TEST(TensorCopy, ConvertsThroughF32BetweenAllDtypes) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile src = sbuf(in, 3, 37, kSrc), dst = sbuf(out, 3, 37, kDst);
      m.fill_random(src, 1);
      m.run(insn(dst, src));
      if (in == out)
        for (std::int64_t i = 0; i < 37; ++i) ASSERT_EQ(m.bits(dst, 2, i), m.bits(src, 2, i));
      else
        expect_tile(m, dst, [&](int p, std::int64_t i) { return m.get(src, p, i); });
    }
}

TEST(TensorCopy, EqualDtypesMoveEveryBit) {
  for (const DType d : chip_dtypes()) {
    TestMemory m;
    const Tile src = sbuf(d, 2, 64, kSrc), dst = stepped(sbuf(d, 2, 64, kDst), 2);
    const CounterRng rng(7);
    const std::uint64_t mask = size_of(d) == 8 ? ~0ULL : (1ULL << (8 * size_of(d))) - 1;
    for (int p = 0; p < 2; ++p)
      for (std::int64_t i = 0; i < 64; ++i)
        m.set_bits(src, p, i, rng.bits(flat(p, 64, i)) & mask);  // also NaN payloads
    m.set_bits(src, 0, 0, 0x7F800001 & mask), m.set_bits(src, 0, 1, 16777217 & mask);
    m.run(insn(dst, src));
    for (int p = 0; p < 2; ++p)
      for (std::int64_t i = 0; i < 64; ++i)
        ASSERT_EQ(m.bits(dst, p, i), m.bits(src, p, i)) << name(d);
  }
}

TEST(TensorCopy, WalksEveryPairOfAccessPatterns) {
  for (const DType out : {DType::kBf16, DType::kF16})
    for (const Tile& src : layouts(DType::kF16, 2, kSrc, true))
      for (const Tile& dst : layouts(out, 2, kDst, false, 32, Space::kPsum)) {
        TestMemory m;
        m.fill_random(src, 2);
        m.run(insn(dst, src));
        expect_tile(m, dst, [&](int p, std::int64_t i) { return m.get(src, p, i); });
      }
}

// Overlapping patterns of equal dtype: the row is read before it is written.
TEST(TensorCopy, ReversesInPlace) {
  TestMemory m;
  const Tile src = sbuf(DType::kU16, 1, 9, kSrc),
             dst = tile(Space::kSbuf, DType::kU16, 1, {{-1, 9}}, kSrc + 16);
  m.fill(src, [](int, std::int64_t i) { return static_cast<float>(i); });
  m.run(insn(dst, src));
  expect_tile(m, src, [](int, std::int64_t i) { return static_cast<float>(8 - i); });
}

TEST(TensorCopy, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  expect_legal_everywhere(insn(s, p));
  expect_legal_everywhere(insn(p, p));
  expect_legal_everywhere(insn(s, s, Engine::kGpSimd));
  expect_rule_everywhere(insn(s, p, Engine::kGpSimd), "operand-space");
  expect_rule_everywhere(insn(p, s, Engine::kGpSimd), "operand-space");
  expect_rule_everywhere(insn(s, s, Engine::kTensor), "engine");
  expect_rule_everywhere(insn(s, hbm(DType::kF32, 64, 32, 32)), "operand-space");
  expect_rule_everywhere(insn(s, sbuf(DType::kF32, 64, 31)), "same-free-size");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 65, 32), s), "same-partitions");
  expect_rule_everywhere(insn(s, Tile{}), "operand-missing");
  EXPECT_THAT(rules(insn(s, p, Engine::kScalar), trn1()), Contains("engine"));
  EXPECT_THAT(rules(insn(s, p, Engine::kScalar), trn2()), IsEmpty());
  EXPECT_THAT(rules(insn(s, p, Engine::kScalar), trn3()), IsEmpty());
}

// The modes of A3; thresholds at MIN_II on both sides.
TEST(TensorCopy, CostOnVectorEngine) {
  const Tile f = sbuf(DType::kF32, 128, 512), b = sbuf(DType::kBf16, 128, 512),
             h = sbuf(DType::kF16, 128, 512);
  const Tile pf = psum(DType::kF32, 128, 512), pb = psum(DType::kBf16, 128, 512);
  for (const Tile& t : {f, b}) EXPECT_EQ(cycles(insn(t, t), trn1()), elementwise(512));
  EXPECT_EQ(cycles(insn(b, stepped(b, 9)), trn1()), elementwise(1024)) << "18 B";
  EXPECT_EQ(cycles(insn(b, stepped(b, 8)), trn1()), elementwise(512)) << "16 B";
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(cycles(insn(h, b), *m), elementwise(128));
    EXPECT_EQ(cycles(insn(sbuf(DType::kBf16, 128, 256), sbuf(DType::kBf16, 128, 256)), *m),
              elementwise(64));
    EXPECT_EQ(cycles(insn(sbuf(DType::kBf16, 128, 260), sbuf(DType::kBf16, 128, 260)), *m),
              elementwise(65));
    EXPECT_EQ(cycles(insn(stepped(b, 2), b), *m), elementwise(256));
    EXPECT_EQ(cycles(insn(b, pb), *m), elementwise(256));
    EXPECT_EQ(cycles(insn(stepped(b, 2), pb), *m), elementwise(512));
    EXPECT_EQ(cycles(insn(pb, pb), *m), elementwise(512));
    EXPECT_EQ(cycles(insn(b, pf), *m), elementwise(512))
        << "AGENT: 645 cycles shown, 512 and latency";
    EXPECT_EQ(cycles(insn(f, f), *m), elementwise(256));
    EXPECT_EQ(cycles(insn(sbuf(DType::kF32, 128, 128), sbuf(DType::kF32, 128, 128)), *m),
              elementwise(64));
    EXPECT_EQ(cycles(insn(sbuf(DType::kF32, 128, 130), sbuf(DType::kF32, 128, 130)), *m),
              elementwise(65));
    EXPECT_EQ(cycles(insn(f, pf), *m), elementwise(512));
    EXPECT_EQ(cycles(insn(stepped(f, 5), pf), *m), elementwise(1024)) << "base rate, 20 B";
  }
  const Tile f8 = sbuf(DType::kF8E5M2, 128, 512);
  EXPECT_EQ(cycles(insn(f8, f8), trn2()), elementwise(256));
  EXPECT_EQ(cycles(insn(f8, f8), trn3()), elementwise(128));
}

TEST(TensorCopy, CostOnScalarAndGpSimdEngines) {
  const Tile f = sbuf(DType::kF32, 128, 512), b = sbuf(DType::kBf16, 128, 512);
  EXPECT_EQ(cycles(insn(f, f, Engine::kScalar), trn2()), elementwise(512));
  EXPECT_EQ(cycles(insn(b, b, Engine::kScalar), trn2()), elementwise(512));
  EXPECT_EQ(cycles(insn(b, b, Engine::kScalar), trn3()), elementwise(256));
  EXPECT_EQ(cycles(insn(f, b, Engine::kScalar), trn3()), elementwise(512));
  for (const MachineSpec* m : machines())
    EXPECT_EQ(cycles(insn(b, b, Engine::kGpSimd), *m), kGpSimdStart + 512);
}

}  // namespace
}  // namespace krait::isa::testing
