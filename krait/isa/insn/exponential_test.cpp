#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSrc = 0, kDst = 8192, kMax = 12288, kSum = 12352;

Exponential insn(const Tile& dst, const Tile& src, const Operand& top = 0.0F) {
  Exponential i;
  i.dst = dst, i.src = src, i.max_value = top;
  return i;
}

bool float_takes(DType d) {
  return d == DType::kF32 || d == DType::kTf32 || d == DType::kBf16 || d == DType::kF16 ||
         d == DType::kF8E4M3 || d == DType::kF8E5M2;
}
bool writes(DType d) {
  return float_takes(d) || (!is_float(d) && d != DType::kU32);
}
bool reads(DType d) {
  return (float_takes(d) && d != DType::kTf32) || !is_float(d);
}

float plain(float x, float top) {
  const float difference = x - top;
  return static_cast<float>(std::exp(static_cast<double>(difference)));
}

TEST(Exponential, SubtractsInF32AndRoundsOnceForEveryDtype) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      if (!reads(in) || !writes(out)) continue;
      TestMemory m;
      const Tile src = sbuf(in, 3, 37, kSrc), dst = sbuf(out, 3, 37, kDst),
                 top = sbuf(DType::kF32, 3, 1, kMax);
      m.fill_random(src, 1), m.fill_random(top, 2, false);
      m.run(insn(dst, src, top));
      expect_tile(
          m, dst, [&](int p, std::int64_t i) { return plain(m.get(src, p, i), m.get(top, p, 0)); },
          cat(name(in), " to ", name(out)));
    }
}

TEST(Exponential, SpecialValues) {
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 1, 6, kSrc), dst = sbuf(DType::kF32, 1, 6, kDst);
  const float x[] = {kInf, -kInf, kNan, 1000, -1000, 2};
  const float want[] = {kInf, 0, kNan, kInf, 0, 1};
  m.fill(src, [&](int, std::int64_t i) { return x[i]; });
  m.run(insn(dst, src, 2.0F));
  expect_tile(m, dst, [&](int, std::int64_t i) { return want[i]; });
  m.set(src, 0, 0, kInf);
  m.run(insn(dst, src, kInf));
  EXPECT_TRUE(std::isnan(m.get(dst, 0, 0))) << "Inf - Inf";
}

TEST(Exponential, SumsTheUnroundedValuesOverTiles) {
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 2, 21, kSrc), dst = sbuf(DType::kF8E4M3, 2, 21, kDst),
             sum = sbuf(DType::kF32, 2, 1, kSum);
  m.fill_random(src, 4, false);
  const auto from = [&](int p, float acc) {
    for (std::int64_t i = 0; i < 21; ++i) acc += plain(m.get(src, p, i), 1);
    return acc;
  };
  Exponential i = insn(dst, src, 1.0F);
  i.reduce_res = sum, i.reduce_cmd = ReduceCmd::kResetReduce;
  m.run(i);
  expect_tile(m, sum, [&](int p, std::int64_t) { return from(p, 0); });
  i.reduce_cmd = ReduceCmd::kReduce;
  m.run(i);
  expect_tile(m, sum, [&](int p, std::int64_t) { return from(p, from(p, 0)); });
  i.reduce_cmd = ReduceCmd::kLoadReduce, i.reduce_init = -7.5F;
  m.run(i);
  expect_tile(m, sum, [&](int p, std::int64_t) { return from(p, -7.5F); });
  EXPECT_THAT(m.findings(), IsEmpty());
  m.run(insn(dst, src));  // idle
  i.reduce_cmd = ReduceCmd::kReduce, i.reduce_init = 0;
  m.run(i);
  ASSERT_EQ(m.findings().size(), 1U);
  EXPECT_EQ(m.findings()[0].kind, "accumulator-unset");
}

TEST(Exponential, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& src : layouts(DType::kBf16, 2, kSrc, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false)) {
      TestMemory m;
      m.fill_random(src, 5);
      m.run(insn(dst, src, 0.5F));
      expect_tile(m, dst, [&](int p, std::int64_t i) { return plain(m.get(src, p, i), 0.5F); });
    }
  TestMemory m;
  const Tile t = psum(DType::kF32, 2, 12);
  m.fill_random(t, 6, false);
  const auto before = m.values(t);
  m.run(insn(t, t));
  expect_tile(m, t, [&](int p, std::int64_t i) { return plain(before[flat(p, 12, i)], 0); });
}

TEST(Exponential, RulesAndGenerations) {
  using T = Exponential;
  T good = insn(psum(DType::kBf16, 64, 32), sbuf(DType::kU32, 64, 32), sbuf(DType::kF32, 64, 1));
  good.reduce_res = psum(DType::kF32, 64, 1), good.reduce_cmd = ReduceCmd::kReduce;
  EXPECT_THAT(rules(good, trn1()), Contains("generation"));
  EXPECT_THAT(rules(good, trn2()), Contains("generation"));
  EXPECT_THAT(rules(good, trn3()), IsEmpty());
  const auto with = [&](auto change) {
    T i = good;
    change(i);
    return i;
  };
  for (const DType d : chip_dtypes()) {
    const T a = with([&](T&i) { i.src.dtype = d; }), b = with([&](T&i) { i.dst.dtype = d; }),
            c = with([&](T&i) { i.reduce_res.dtype = d; });
    const auto expect = [&](const T& i, bool legal) {
      if (legal)
        EXPECT_THAT(rules(i, trn3()), IsEmpty()) << name(d);
      else
        expect_rule_everywhere(i, "operand-dtype");
    };
    expect(a, reads(d)), expect(b, writes(d)), expect(c, float_takes(d));
  }
  expect_rule_everywhere(with([](T& i) { i.src = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](T& i) { i.src = hbm(DType::kF32, 64, 32, 32); }), "operand-space");
  expect_rule_everywhere(with([](T& i) { i.src = sbuf(DType::kF32, 64, 31); }), "same-free-size");
  expect_rule_everywhere(with([](T& i) { i.max_value = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](T& i) { i.max_value = sbuf(DType::kBf16, 64, 1); }),
                         "operand-dtype");
  expect_rule_everywhere(with([](T& i) { i.reduce_init = 1; }), "reduce-init");
  EXPECT_THAT(
      rules(with([](T& i) { i.reduce_init = 1, i.reduce_cmd = ReduceCmd::kLoadReduce; }), trn3()),
      IsEmpty());
  for (const ReduceCmd cmd : {ReduceCmd::kDefault, ReduceCmd::kReset, ReduceCmd::kIdle})
    expect_rule_everywhere(with([&](T& i) { i.reduce_cmd = cmd; }), "reduce-cmd");
}

// A4: four elements a lane and cycle, whatever the type; reading the sum is MIN_II more (assumed).
// trn1 and trn2 have no such instruction and no rate for it.
TEST(Exponential, Cost) {
  for (const DType d : {DType::kF32, DType::kBf16}) {
    const auto cost = [&](std::int64_t n, bool read) {
      Exponential i = insn(sbuf(d, 128, n), sbuf(d, 128, n));
      if (read) i.reduce_res = sbuf(DType::kF32, 128, 1);
      return cycles(i, trn3());
    };
    EXPECT_EQ(cost(256, false), elementwise(64));
    EXPECT_EQ(cost(257, false), elementwise(65));
    EXPECT_EQ(cost(4096, false), elementwise(1024));
    EXPECT_EQ(cost(4096, true), elementwise(1024) + 64);
  }
}

}  // namespace
}  // namespace krait::isa::testing
