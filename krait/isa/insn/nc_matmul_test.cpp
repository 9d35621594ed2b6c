#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kStationary = 0, kMoving = 4096;

NcMatmul insn(const Tile& dst, const Tile& stationary, const Tile& moving,
              bool accumulate = false) {
  return {.dst = dst, .stationary = stationary, .moving = moving, .accumulate = accumulate};
}
NcMatmul product(DType dtype, int k, std::int64_t m, std::int64_t n) {
  return insn(psum(DType::kF32, static_cast<int>(m), n), sbuf(dtype, k, m, kStationary),
              sbuf(dtype, k, n, kMoving));
}

// One chain of fused multiply-adds an element, k ascending, from 0 or from dst.
float plain(TestMemory& m, const Tile& a, const Tile& b, int row, std::int64_t column,
            float start) {
  for (int k = 0; k < a.partitions; ++k)
    start = std::fma(m.get(a, k, row), m.get(b, k, column), start);
  return start;
}

TEST(NcMatmul, IsOneFusedChainForEveryPairOfDtypes) {
  const DType narrow[] = {DType::kBf16, DType::kF16, DType::kF8E4M3, DType::kF8E5M2};
  std::vector<std::pair<DType, DType>> pairs{
      {DType::kF32, DType::kF32}, {DType::kTf32, DType::kF32}, {DType::kF32, DType::kTf32}};
  for (const DType a : narrow)
    for (const DType b : narrow) pairs.emplace_back(a, b);
  for (const auto& [da, db] : pairs)
    for (const int k : {1, 7, 128}) {
      TestMemory m;
      const Tile a = sbuf(da, k, 5, kStationary), b = sbuf(db, k, 19, kMoving),
                 dst = psum(DType::kF32, 5, 19);
      m.fill_random(a, 1, false), m.fill_random(b, 2, false);
      m.run(insn(dst, a, b));
      expect_tile(m, dst, [&](int r, std::int64_t c) { return plain(m, a, b, r, c, 0); });
    }
}

TEST(NcMatmul, AccumulatesOntoAProduct) {
  TestMemory m;
  const Tile a = sbuf(DType::kBf16, 33, 64, kStationary), b = sbuf(DType::kBf16, 33, 50, kMoving),
             dst = psum(DType::kF32, 64, 50);
  m.fill_random(a, 3, false), m.fill_random(b, 4, false);
  m.run(insn(dst, a, b));
  const auto first = m.values(dst);
  m.run(insn(dst, a, b, true));
  expect_tile(m, dst,
              [&](int r, std::int64_t c) { return plain(m, a, b, r, c, first[flat(r, 50, c)]); });
  EXPECT_THAT(m.findings(), IsEmpty());
  m.run(insn(dst, a, b));
  EXPECT_EQ(m.values(dst), first) << "without the flag dst is overwritten";
}

TEST(NcMatmul, SplittingKGivesTheSameBits) {
  TestMemory m;
  const Tile a = sbuf(DType::kF32, 128, 8, kStationary), b = sbuf(DType::kF32, 128, 8, kMoving),
             dst = psum(DType::kF32, 8, 8);
  m.fill_random(a, 5, false), m.fill_random(b, 6, false);
  m.run(insn(dst, a, b));
  const auto whole = m.values(dst);
  const auto half = [](Tile t, int first) {
    t.partition = static_cast<std::uint16_t>(first), t.partitions = 64;
    return t;
  };
  m.run(insn(dst, half(a, 0), half(b, 0)));
  m.run(insn(dst, half(a, 64), half(b, 64), true));
  EXPECT_EQ(m.values(dst), whole);
}

TEST(NcMatmul, WalksEveryAccessPattern) {
  for (const Tile& a : layouts(DType::kF32, 3, kStationary, true, 32))
    for (const Tile& b : layouts(DType::kTf32, 3, kMoving, true))
      for (const Tile& dst :
           {psum(DType::kF32, 12, 12, 64), tile(Space::kPsum, DType::kF32, 12, {{-2, 12}}, 256)}) {
        TestMemory m;
        m.fill_random(a, 7), m.fill_random(b, 8);
        m.run(insn(dst, a, b));
        expect_tile(m, dst, [&](int r, std::int64_t c) { return plain(m, a, b, r, c, 0); });
      }
}

TEST(NcMatmul, ReportsAccumulationOntoNothing) {
  TestMemory m;
  NcMatmul i = product(DType::kBf16, 4, 4, 4);
  m.fill_random(i.stationary, 9), m.fill_random(i.moving, 10);
  i.accumulate = true;
  EXPECT_TRUE(def_of<NcMatmul>().accumulates(&i));
  m.run(i);
  ASSERT_FALSE(m.findings().empty());
  EXPECT_EQ(m.findings()[0].kind, "accumulate-uninitialised");
  EXPECT_TRUE(std::isnan(m.get(i.dst, 0, 0)));
}

TEST(NcMatmul, AccumulationOntoAnEngineWriteIsUndefinedBeforeV4) {
  for (const bool allowed : {false, true}) {
    Memory::Options options;
    options.accumulate_onto_engine_writes = allowed;
    TestMemory m(options);
    NcMatmul i = product(DType::kBf16, 4, 4, 4);
    m.fill_random(i.stationary, 11), m.fill_random(i.moving, 12);
    m.run(Memset{.dst = i.dst, .value = 1});
    i.accumulate = true;
    m.run(i);
    if (allowed) {
      EXPECT_THAT(m.findings(), IsEmpty());
    } else {
      ASSERT_EQ(m.findings().size(), 1U);
      EXPECT_EQ(m.findings()[0].kind, "accumulate-engine-write");
    }
  }
}

TEST(NcMatmul, RulesOfShape) {
  expect_legal_everywhere(product(DType::kBf16, 128, 128, 512));
  expect_legal_everywhere(product(DType::kF32, 1, 1, 1));
  EXPECT_THAT(rules(product(DType::kBf16, 128, 129, 64), trn2()), Contains("matmul-size"));
  EXPECT_THAT(rules(product(DType::kBf16, 128, 64, 513), trn1()), Contains("matmul-size"));
  EXPECT_THAT(rules(product(DType::kBf16, 128, 64, 513), trn2()), Contains("matmul-size"));
  EXPECT_THAT(rules(product(DType::kBf16, 128, 64, 4096), trn3()), IsEmpty());
  NcMatmul i = product(DType::kBf16, 64, 64, 64);
  i.dst = psum(DType::kF32, 64, 63);
  expect_rule_everywhere(i, "matmul-shape");
  i = product(DType::kBf16, 64, 64, 64), i.dst = psum(DType::kF32, 63, 64);
  expect_rule_everywhere(i, "matmul-shape");
  i = product(DType::kBf16, 64, 64, 64), i.moving = sbuf(DType::kBf16, 32, 64, kMoving);
  expect_rule_everywhere(i, "same-partitions");
  i = product(DType::kBf16, 64, 64, 64), i.moving.space = Space::kPsum;
  expect_rule_everywhere(i, "operand-space");
  i = product(DType::kBf16, 64, 64, 64), i.dst.space = Space::kSbuf;
  expect_rule_everywhere(i, "operand-space");
  i = product(DType::kBf16, 64, 64, 64), i.stationary = Tile{};
  expect_rule_everywhere(i, "operand-missing");
}

TEST(NcMatmul, RulesOfDtypesPerGeneration) {
  const auto with = [](DType a, DType b, DType out = DType::kF32) {
    NcMatmul i = product(a, 64, 64, 64);
    i.moving.dtype = b, i.dst.dtype = out;
    return i;
  };
  for (const DType d :
       {DType::kF32, DType::kTf32, DType::kBf16, DType::kF16, DType::kF8E4M3, DType::kF8E5M2})
    expect_legal_everywhere(with(d, d));
  expect_legal_everywhere(with(DType::kBf16, DType::kF8E5M2));
  expect_legal_everywhere(with(DType::kF32, DType::kTf32));
  expect_rule_everywhere(with(DType::kF32, DType::kBf16), "matmul-dtype");
  expect_rule_everywhere(with(DType::kF16, DType::kTf32), "matmul-dtype");
  for (const DType d :
       {DType::kI8, DType::kU8, DType::kI32, DType::kF8E3M4, DType::kF8E8M0, DType::kF4E2M1})
    expect_rule_everywhere(with(d, d), "matmul-dtype");
  EXPECT_THAT(rules(with(DType::kF8E4M3Fn, DType::kF8E4M3Fn), trn2()), Contains("matmul-dtype"));
  EXPECT_THAT(rules(with(DType::kF8E4M3Fn, DType::kF8E5M2), trn3()), IsEmpty());
  EXPECT_THAT(rules(with(DType::kF8E4M3Fn, DType::kF8E4M3), trn3()), Contains("matmul-dtype"));
  EXPECT_THAT(rules(with(DType::kF8E4M3, DType::kF8E4M3Fn), trn3()), Contains("matmul-dtype"));
  EXPECT_THAT(rules(with(DType::kBf16, DType::kBf16, DType::kBf16), trn1()),
              Contains("matmul-dtype"));
  EXPECT_THAT(rules(with(DType::kBf16, DType::kBf16, DType::kBf16), trn2()),
              Contains("matmul-dtype"));
  EXPECT_THAT(rules(with(DType::kBf16, DType::kBf16, DType::kBf16), trn3()), IsEmpty());
  expect_rule_everywhere(with(DType::kBf16, DType::kBf16, DType::kF16), "matmul-dtype");
}

// A2: max(N, 64) cycles a pass; f32 two instructions of two passes. KO, AGENT: v3 adds 8 cycles an
// instruction.
TEST(NcMatmul, CostOnV2) {
  EXPECT_EQ(cycles(product(DType::kBf16, 128, 128, 512), trn1()), 512);
  EXPECT_EQ(cycles(product(DType::kBf16, 128, 128, 64), trn1()), 64);
  EXPECT_EQ(cycles(product(DType::kBf16, 128, 128, 65), trn1()), 65);
  EXPECT_EQ(cycles(product(DType::kTf32, 128, 128, 512), trn1()), 512);
  EXPECT_EQ(cycles(product(DType::kF32, 128, 128, 512), trn1()), 4 * 512);
  EXPECT_EQ(cycles(product(DType::kF32, 128, 128, 32), trn1()), 2 * 64);
  EXPECT_EQ(cycles(product(DType::kF32, 128, 128, 33), trn1()), 2 * 66);
}

TEST(NcMatmul, CostOnV3AndV4) {
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(cycles(product(DType::kBf16, 128, 128, 512), *m), 512 + 8);
    EXPECT_EQ(cycles(product(DType::kBf16, 128, 128, 1), *m), 64 + 8);
    EXPECT_EQ(cycles(product(DType::kF8E4M3, 128, 128, 512), *m), 512 + 8) << "without double_row";
    EXPECT_EQ(cycles(product(DType::kF32, 128, 128, 512), *m), 2 * (2 * 512 + 8))
        << "KO: 1031 a pass, two passes";
    NcMatmul i = product(DType::kF32, 128, 128, 512);
    i.onezero = true;
    EXPECT_EQ(cycles(i, *m), 2 * 512 + 8) << "one operand of 0 and 1: one pass less";
  }
}

TEST(NcMatmul, LoadsAQuarterCycleAColumnAndCountsItsWork) {
  const Timing bf16 = product(DType::kBf16, 100, 128, 512).time(trn2());
  EXPECT_EQ(bf16.load_stationary.value, 32);
  EXPECT_EQ(bf16.macs, 100 * 128 * 512);
  EXPECT_EQ(bf16.latency.value, 385);
  EXPECT_EQ(product(DType::kF32, 128, 128, 512).time(trn2()).load_stationary.value, 2 * 32)
      << "one an instruction";
  EXPECT_EQ(product(DType::kBf16, 128, 128, 512).time(trn1()).latency.value, 130);
}

}  // namespace
}  // namespace krait::isa::testing
