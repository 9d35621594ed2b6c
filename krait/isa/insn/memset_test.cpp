#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

TEST(Memset, FillsEveryDtypeWithTheRoundedValue) {
  for (const DType d : chip_dtypes())
    for (const float value : {0.0F, -0.0F, 1.0F, 1.1F, -3.7F, 300.0F, 1e30F, kInf, -kInf, kNan})
      for (const Engine engine : {Engine::kVector, Engine::kGpSimd}) {
        TestMemory m;
        const Tile dst = sbuf(d, 3, 37);
        m.run(Memset{.dst = dst, .value = value, .engine = engine});
        expect_tile(m, dst, [&](int, std::int64_t) { return value; });
      }
}

TEST(Memset, LeavesTheGapsOfAPatternAlone) {
  for (const Tile& dst : layouts(DType::kU8, 2, 64, false)) {
    TestMemory m;
    const Tile all = sbuf(DType::kU8, 2, 256);
    m.fill(all, [](int, std::int64_t) { return 7.0F; });
    m.run(Memset{.dst = dst, .value = 9});
    for (int p = 0; p < 2; ++p) {
      std::int64_t nines = 0;
      for (std::int64_t i = 0; i < 256; ++i) nines += m.get(all, p, i) == 9;
      EXPECT_EQ(nines, 12) << to_string(dst);
    }
    expect_tile(m, dst, [](int, std::int64_t) { return 9.0F; });
  }
}

TEST(Memset, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  expect_legal_everywhere(Memset{.dst = s});
  expect_legal_everywhere(Memset{.dst = p});
  expect_legal_everywhere(Memset{.dst = s, .engine = Engine::kGpSimd});
  expect_rule_everywhere(Memset{.dst = p, .engine = Engine::kGpSimd}, "operand-space");
  expect_rule_everywhere(Memset{.dst = hbm(DType::kF32, 1, 1, 1)}, "operand-space");
  expect_rule_everywhere(Memset{.dst = s, .engine = Engine::kScalar}, "engine");
  expect_rule_everywhere(Memset{}, "operand-missing");
  const Tile packs = sbuf(DType::kF8E5M2x4, 64, 32);
  EXPECT_THAT(rules(Memset{.dst = packs}, trn3()), IsEmpty());
  expect_rule_everywhere(Memset{.dst = packs, .value = 1}, "packed-value");
}

// ISA26 (v2): N/2 for value 0 of a 16-bit type, else N. v3, v4 (assumed): N/4 16-bit, N/2 others.
TEST(Memset, Cost) {
  const auto cost = [](DType d, std::int64_t n, float value, const MachineSpec& m) {
    return cycles(Memset{.dst = sbuf(d, 128, n), .value = value}, m);
  };
  EXPECT_EQ(cost(DType::kF32, 64, 0, trn1()), elementwise(64));
  EXPECT_EQ(cost(DType::kF32, 65, 0, trn1()), elementwise(65));
  EXPECT_EQ(cost(DType::kBf16, 128, 0, trn1()), elementwise(64));
  EXPECT_EQ(cost(DType::kBf16, 129, 0, trn1()), elementwise(65));
  EXPECT_EQ(cost(DType::kF16, 512, 0, trn1()), elementwise(256));
  EXPECT_EQ(cost(DType::kBf16, 512, 1, trn1()), elementwise(512));
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(cost(DType::kBf16, 512, 1, *m), elementwise(128));
    EXPECT_EQ(cost(DType::kF32, 512, 0, *m), elementwise(256));
    EXPECT_EQ(cycles(Memset{.dst = sbuf(DType::kF32, 128, 10), .engine = Engine::kGpSimd}, *m),
              kGpSimdStart + 10);
  }
}

}  // namespace
}  // namespace krait::isa::testing
