#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

NcTranspose insn(const Tile& dst, const Tile& src, Engine engine = Engine::kTensor) {
  return {.dst = dst, .src = src, .engine = engine};
}

TEST(NcTranspose, MovesEveryBitOfEveryDtype) {
  for (const DType d : chip_dtypes())
    for (const Engine engine : {Engine::kTensor, Engine::kVector}) {
      TestMemory m;
      const Tile src = sbuf(d, 17, 9),
                 dst = tile(engine == Engine::kTensor ? Space::kPsum : Space::kSbuf, d, 9,
                            {{1, 17}}, 1024);
      const CounterRng rng(3);
      const std::uint64_t mask = (1ULL << (8 * size_of(d))) - 1;
      for (int p = 0; p < 17; ++p)
        for (std::int64_t f = 0; f < 9; ++f) m.set_bits(src, p, f, rng.bits(flat(p, 9, f)) & mask);
      m.run(insn(dst, src, engine));
      for (int p = 0; p < 17; ++p)
        for (std::int64_t f = 0; f < 9; ++f)
          ASSERT_EQ(m.bits(dst, static_cast<int>(f), p), m.bits(src, p, f)) << name(d);
    }
}

TEST(NcTranspose, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& src : layouts(DType::kF32, 12, 0, true))
    for (const Tile& dst : layouts(DType::kF32, 12, 4096, false)) {
      TestMemory m;
      m.fill_random(src, 1);
      m.run(insn(dst, src, Engine::kVector));
      expect_tile(m, dst,
                  [&](int p, std::int64_t i) { return m.get(src, static_cast<int>(i), p); });
    }
  for (const Tile& src :
       layouts(DType::kBf16, 12, 0, true, 96, Space::kPsum)) {  // another quadrant
    TestMemory m;
    const Tile dst = tile(Space::kPsum, DType::kBf16, 12, {{1, 12}}, 4096, 32);
    m.fill_random(src, 1);
    m.run(insn(dst, src, Engine::kVector));
    expect_tile(m, dst, [&](int p, std::int64_t i) { return m.get(src, static_cast<int>(i), p); });
  }
  TestMemory m;
  const Tile t = sbuf(DType::kBf16, 32, 32);
  m.fill_random(t, 2);
  const auto before = m.values(t);
  m.run(insn(t, t, Engine::kVector));
  expect_tile(m, t, [&](int p, std::int64_t i) { return before[flat(i, 32, p)]; });
}

// Before v3 the array multiplies by the identity: 0 * Inf and 0 * NaN spread over the row of dst.
TEST(NcTranspose, SpreadsNanWhereItMultiplies) {
  for (const bool multiplies : {true, false}) {
    Memory::Options options;
    options.transpose_moves_bits = !multiplies;
    TestMemory m(options);
    const Tile src = sbuf(DType::kF32, 4, 4), dst = psum(DType::kF32, 4, 4);
    m.fill(src, [](int p, std::int64_t f) { return static_cast<float>(flat(p, 4, f) + 1); });
    m.set(src, 1, 0, kInf);                           // one in row 0 of dst
    m.set(src, 0, 2, kNan), m.set(src, 3, 2, -kInf);  // two in row 2
    m.set(src, 2, 3, -0.0F);
    std::vector<float> want = m.values(src);
    m.run(insn(dst, src));
    for (int f = 0; f < 4; ++f)
      for (int p = 0; p < 4; ++p) {
        // The plain product, k ascending, with the identity as moving operand.
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum = std::fma(want[flat(k, 4, f)], k == p ? 1.0F : 0.0F, sum);
        const float expected = multiplies ? sum : want[flat(p, 4, f)];
        EXPECT_TRUE(same(m.get(dst, f, p), expected)) << f << "," << p << " " << multiplies;
      }
    const Tile out = sbuf(DType::kF32, 4, 4, 512);
    m.run(insn(out, src, Engine::kVector));
    EXPECT_EQ(m.get(out, 0, 1), kInf);
    EXPECT_EQ(m.get(out, 0, 0), 1) << "VectorE always moves bits";
  }
}

TEST(NcTranspose, Rules) {
  const auto t = [](DType d, int p, std::int64_t f, Engine engine = Engine::kTensor) {
    return insn(tile(engine == Engine::kTensor ? Space::kPsum : Space::kSbuf, d,
                     static_cast<int>(f), {{1, p}}),
                sbuf(d, p, f), engine);
  };
  expect_legal_everywhere(t(DType::kF32, 128, 128));
  expect_legal_everywhere(t(DType::kBf16, 32, 32, Engine::kVector));
  for (const Space from : {Space::kSbuf, Space::kPsum})  // VectorE reaches both
    for (const Space to : {Space::kSbuf, Space::kPsum})
      expect_legal_everywhere(insn(tile(to, DType::kU16, 8, {{1, 32}}),
                                   tile(from, DType::kU16, 32, {{1, 8}}), Engine::kVector));
  EXPECT_THAT(rules(t(DType::kF32, 128, 129), trn2()), Contains("transpose-size"));
  expect_rule_everywhere(t(DType::kF32, 32, 33, Engine::kVector), "transpose-size");
  expect_rule_everywhere(t(DType::kF32, 33, 32, Engine::kVector), "transpose-size");
  EXPECT_THAT(rules(t(DType::kBf16, 64, 64), trn1()), Contains("transpose-dtype"));
  EXPECT_THAT(rules(t(DType::kBf16, 64, 64), trn2()), IsEmpty());
  EXPECT_THAT(rules(t(DType::kBf16, 64, 64), trn3()), IsEmpty());
  NcTranspose i = t(DType::kF32, 64, 32);
  i.dst = psum(DType::kF32, 32, 63);
  expect_rule_everywhere(i, "transpose-shape");
  i = t(DType::kF32, 64, 32), i.dst.dtype = DType::kBf16;
  expect_rule_everywhere(i, "same-dtype");
  i = t(DType::kF32, 64, 32), i.dst.space = Space::kSbuf;
  expect_rule_everywhere(i, "operand-space");
  i = t(DType::kF32, 64, 32), i.src.space = Space::kPsum;
  expect_rule_everywhere(i, "operand-space");
  i = t(DType::kF32, 32, 32), i.engine = Engine::kScalar;
  expect_rule_everywhere(i, "engine");
  i = t(DType::kF32, 32, 32), i.src = Tile{};
  expect_rule_everywhere(i, "operand-missing");
  i = t(DType::kF32, 32, 32, Engine::kVector), i.src = hbm(DType::kF32, 32, 32, 32);
  expect_rule_everywhere(i, "operand-space");
}

// A2: P columns stream, at least 64; f32 four passes on v2, two on v3, v4 (A3), which add 8 cycles.
TEST(NcTranspose, Cost) {
  const auto cost = [](DType d, int p, std::int64_t f, const MachineSpec& m) {
    return cycles(insn(psum(d, static_cast<int>(f), p), sbuf(d, p, f)), m);
  };
  EXPECT_EQ(cost(DType::kF32, 128, 128, trn1()), 4 * 128);
  EXPECT_EQ(cost(DType::kF32, 16, 128, trn1()), 64);
  EXPECT_EQ(cost(DType::kF32, 17, 128, trn1()), 68);
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(cost(DType::kF32, 128, 128, *m), 2 * 128 + 8);
    EXPECT_EQ(cost(DType::kBf16, 128, 128, *m), 128 + 8);
    EXPECT_EQ(cost(DType::kBf16, 64, 128, *m), 64 + 8);
    EXPECT_EQ(cost(DType::kBf16, 65, 128, *m), 65 + 8);
  }
  const NcTranspose v = insn(sbuf(DType::kF32, 32, 32), sbuf(DType::kF32, 32, 32), Engine::kVector);
  for (const MachineSpec* m : machines()) EXPECT_EQ(cycles(v, *m), elementwise(32));
  EXPECT_EQ(insn(psum(DType::kF32, 100, 128), sbuf(DType::kF32, 128, 100)).time(trn2()).macs,
            128 * 128 * 100);
}

}  // namespace
}  // namespace krait::isa::testing
