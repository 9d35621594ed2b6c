#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSrc = 0, kDst = 16384, kScale = 24576;

QuantizeMx insn(const Tile& dst, const Tile& src, const Tile& scale, int offset = 0) {
  return {.dst = dst, .src = src, .dst_scale = scale, .scale_offset = offset};
}

std::uint64_t byte_of(TestMemory& m, const Tile& packs, int p, std::int64_t i) {
  return m.bits(packs, p, i / 4) >> (8 * (i % 4)) & 0xFF;
}

// The exponent by halving and doubling.
int floor_log2(double x) {
  int e = 0;
  while (x >= 2) x /= 2, ++e;
  while (x < 1) x *= 2, --e;
  return e;
}

TEST(QuantizeMx, ScalesEachGroupForEveryDtypeAndOffset) {
  for (const DType in : {DType::kBf16, DType::kF16})
    for (const DType out : {DType::kF8E5M2x4, DType::kF8E4M3Fnx4})
      for (const DType scale_type : {DType::kU8, DType::kF8E8M0})
        for (const int offset : {0, 4, 8, 12}) {
          TestMemory m;
          const std::int64_t f = 20;
          const Tile src = sbuf(in, 64, f, kSrc), dst = sbuf(out, 64, f / 4, kDst),
                     scale = sbuf(scale_type, 64, f / 4, kScale);
          const CounterRng rng(4);
          m.fill(src, [&](int p, std::int64_t i) {  // groups of very different sizes
            const double size =
                std::ldexp(1.0, (p / 8 * 7 + static_cast<int>(i) / 4 * 5) % 31 - 15);
            return static_cast<float>(rng.normal(flat(p, f, i)) * size);
          });
          for (int p = 0; p < 64; ++p)
            for (std::int64_t i = 0; i < f / 4; ++i) m.set_bits(scale, p, i, 0xAB);
          m.run(insn(dst, src, scale, offset));
          const DType element = out == DType::kF8E5M2x4 ? DType::kF8E5M2 : DType::kF8E4M3Fn;
          for (int p = 0; p < 64; ++p)
            for (std::int64_t i = 0; i < f; ++i) {
              double amax = 0;
              for (int a = p / 8 * 8; a < p / 8 * 8 + 8; ++a)
                for (std::int64_t b = i / 4 * 4; b < i / 4 * 4 + 4; ++b)
                  amax = std::max(amax, std::fabs(double{m.get(src, a, b)}));
              const int x = floor_log2(amax) - (element == DType::kF8E5M2 ? 14 : 7);
              const auto want = static_cast<float>(double{m.get(src, p, i)} * std::pow(2.0, -x));
              ASSERT_EQ(byte_of(m, dst, p, i), encode(element, want)) << p << "," << i;
              ASSERT_LT(std::fabs(want), element == DType::kF8E5M2 ? 57344 : 448);
              const int lane = p / 32 * 32 + offset + p % 32 / 8;
              ASSERT_EQ(m.bits(scale, lane, i / 4), static_cast<std::uint64_t>(x + 127));
            }
          for (int p = 0; p < 64; ++p) {
            const int at = p % 32 - offset;
            if (at < 0 || at >= 4) {
              ASSERT_EQ(m.bits(scale, p, 0), 0xABU) << "other partitions are kept";
            }
          }
        }
}

TEST(QuantizeMx, SpecialValues) {
  TestMemory m;
  const Tile src = sbuf(DType::kBf16, 32, 16, kSrc), dst = sbuf(DType::kF8E4M3Fnx4, 32, 4, kDst),
             scale = sbuf(DType::kU8, 4, 4, kScale);
  m.fill(src, [](int, std::int64_t i) { return i < 4 ? 0.0F : i < 8 ? 1.0F : 0.0F; });
  m.set(src, 0, 4, kNan), m.set(src, 1, 5, -kInf), m.set(src, 2, 0, -0.0F);
  m.set(src, 0, 8, 0x1p-133F);  // bf16's smallest: its scale would be below 2^-127
  m.set(src, 0, 12, decode(DType::kBf16, 0x7F7F));  // and its largest
  m.run(insn(dst, src, scale));
  EXPECT_EQ(m.bits(scale, 0, 0), 0U) << "zeros: 2^-127";
  EXPECT_EQ(byte_of(m, dst, 0, 0), 0U);
  EXPECT_EQ(byte_of(m, dst, 2, 0), 0x80U) << "-0 keeps its sign";
  EXPECT_EQ(m.bits(scale, 0, 1), 127U - 7) << "NaN and Inf do not count";
  EXPECT_TRUE(std::isnan(decode(DType::kF8E4M3Fn, byte_of(m, dst, 0, 4))));
  EXPECT_TRUE(std::isnan(decode(DType::kF8E4M3Fn, byte_of(m, dst, 1, 5)))) << "no Inf in e4m3fn";
  EXPECT_EQ(decode(DType::kF8E4M3Fn, byte_of(m, dst, 0, 5)), 128);
  EXPECT_EQ(m.bits(scale, 0, 2), 0U);
  EXPECT_EQ(decode(DType::kF8E4M3Fn, byte_of(m, dst, 0, 8)), 0x1p-6F) << "2^-133 / 2^-127";
  EXPECT_EQ(m.bits(scale, 0, 3), 127U + 120);
  EXPECT_EQ(decode(DType::kF8E4M3Fn, byte_of(m, dst, 0, 12)), 256) << "rounds up, and fits";
  EXPECT_EQ(m.bits(scale, 3, 1), 127U - 7);
}

TEST(QuantizeMx, WalksEveryAccessPattern) {
  for (const Tile& src : layouts(DType::kF16, 32, kSrc, true))
    for (const std::int64_t step : {1, 3, -2}) {
      TestMemory m;
      const Tile dst = tile(Space::kSbuf, DType::kF8E5M2x4, 32, {{step, 3}}, kDst + 64),
                 scale = tile(Space::kSbuf, DType::kU8, 32, {{step, 3}}, kScale + 64);
      m.fill_random(src, 2, false);
      m.run(insn(dst, src, scale, 8));
      for (int p = 0; p < 32; ++p)
        for (std::int64_t i = 0; i < 12; ++i) {
          const auto x = static_cast<int>(m.bits(scale, 8 + p / 8, i / 4)) - 127;
          const auto want = static_cast<float>(double{m.get(src, p, i)} * std::pow(2.0, -x));
          ASSERT_EQ(byte_of(m, dst, p, i), encode(DType::kF8E5M2, want)) << to_string(src);
        }
    }
}

TEST(QuantizeMx, ScalesBetweenOthersReadTheirTile) {
  QuantizeMx i =
      insn(sbuf(DType::kF8E5M2x4, 32, 1), sbuf(DType::kBf16, 32, 4), sbuf(DType::kU8, 4, 1));
  EXPECT_FALSE(def_of<QuantizeMx>().accumulates(&i));
  i.dst_scale.partitions = 32;
  EXPECT_TRUE(def_of<QuantizeMx>().accumulates(&i));
}

TEST(QuantizeMx, RulesAndGenerations) {
  using T = QuantizeMx;
  const T good = insn(sbuf(DType::kF8E4M3Fnx4, 64, 8), sbuf(DType::kBf16, 64, 32),
                      sbuf(DType::kU8, 64, 8), 12);
  EXPECT_THAT(rules(good, trn1()), Contains("generation"));
  EXPECT_THAT(rules(good, trn2()), Contains("generation"));
  EXPECT_THAT(rules(good, trn3()), IsEmpty());
  const auto with = [&](auto change) {
    T i = good;
    change(i);
    return i;
  };
  for (const DType d : {DType::kF32, DType::kF8E5M2, DType::kF8E5M2x4})
    expect_rule_everywhere(with([&](T& i) { i.src.dtype = d; }), "operand-dtype");
  for (const DType d : {DType::kF32, DType::kF8E5M2, DType::kF4E2M1x4})
    expect_rule_everywhere(with([&](T& i) { i.dst.dtype = d; }), "operand-dtype");
  expect_rule_everywhere(with([](T& i) { i.dst_scale.dtype = DType::kI8; }), "operand-dtype");
  expect_rule_everywhere(with([](T& i) { i.dst_scale = Tile{}; }), "operand-missing");
  for (Tile T::*operand : {&T::dst, &T::src, &T::dst_scale})
    expect_rule_everywhere(with([&](T& i) { (i.*operand).space = Space::kPsum; }), "operand-space");
  expect_rule_everywhere(with([](T& i) { i.dst.partitions = 32; }), "same-partitions");
  expect_rule_everywhere(with([](T& i) { i.src.partitions = i.dst.partitions = 40; }), "mx-shape");
  expect_rule_everywhere(with([](T& i) { i.src.dims[0].count = 31; }), "mx-shape");
  expect_rule_everywhere(with([](T& i) { i.dst.dims[0].count = 7; }), "mx-shape");
  expect_rule_everywhere(with([](T& i) { i.dst_scale.dims[0].count = 9; }), "mx-shape");
  for (const int offset : {-4, 2, 16})
    expect_rule_everywhere(with([&](T& i) { i.scale_offset = offset; }), "mx-scale-place");
  expect_rule_everywhere(with([](T& i) { i.dst_scale.partitions = 4; }), "mx-scale-place");
  expect_rule_everywhere(with([](T& i) { i.dst_scale.partition = 64; }), "mx-scale-place");
  T one = insn(sbuf(DType::kF8E4M3Fnx4, 32, 8), sbuf(DType::kF16, 32, 32), sbuf(DType::kU8, 4, 8));
  EXPECT_THAT(rules(one, trn3()), IsEmpty());
  one.scale_offset = 4;
  expect_rule_everywhere(one, "mx-scale-place");
}

// Packs are taken by quantize_mx, copies and memset 0, and moved as bits; on v4 only.
TEST(QuantizeMx, RulesOfPacksElsewhere) {
  for (const DType d : {DType::kF8E5M2x4, DType::kF8E4M3Fnx4, DType::kF4E2M1x4}) {
    const Tile s = sbuf(d, 32, 8), h = hbm(d, 32, 8, 8);
    EXPECT_THAT(rules(TensorCopy{.dst = s, .src = s}, trn3()), IsEmpty());
    EXPECT_THAT(rules(DmaCopy{.dst = s, .src = h}, trn3()), IsEmpty());
    EXPECT_THAT(rules(Memset{.dst = s}, trn3()), IsEmpty());
    EXPECT_THAT(rules(Memset{.dst = s}, trn2()), Contains("dtype"));
    expect_rule_everywhere(Memset{.dst = s, .value = 1}, "packed-value");
    expect_rule_everywhere(TensorCopy{.dst = s, .src = sbuf(DType::kU32, 32, 8)}, "packed-cast");
    expect_rule_everywhere(DmaCopy{.dst = sbuf(DType::kF32, 32, 8), .src = h}, "packed-cast");
    expect_rule_everywhere(TensorScalar{.dst = s, .data = s}, "dtype");
    TestMemory m;
    const Tile to = sbuf(d, 32, 8, 4096);
    for (int p = 0; p < 32; ++p)
      for (std::int64_t i = 0; i < 8; ++i)
        m.set_bits(s, p, i, CounterRng(1).bits(flat(p, 8, i)) & ((1ULL << 8 * size_of(d)) - 1));
    m.run(TensorCopy{.dst = to, .src = s});
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(m.bits(to, 31, i), m.bits(s, 31, i));
    m.run(Memset{.dst = to});
    EXPECT_EQ(m.bits(to, 31, 7), 0U);
  }
}

// A4: four elements of src a lane and cycle. trn1 and trn2 have no quantize_mx and no rate for it.
TEST(QuantizeMx, Cost) {
  const auto cost = [](std::int64_t packs) {
    return cycles(insn(sbuf(DType::kF8E5M2x4, 128, packs), sbuf(DType::kBf16, 128, 4 * packs),
                       sbuf(DType::kU8, 128, packs)),
                  trn3());
  };
  EXPECT_EQ(cost(64), elementwise(64));
  EXPECT_EQ(cost(65), elementwise(65));
  EXPECT_EQ(cost(1024), elementwise(1024));
}

}  // namespace
}  // namespace krait::isa::testing
