#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

template <class T>
void expect_round_trip(const T& value) {
  T back{};
  ASSERT_TRUE(parse_attr(attr_text(value), back)) << attr_text(value);
  EXPECT_EQ(attr_text(back), attr_text(value));
  if (!(value == value)) return;  // NaN
  EXPECT_EQ(back, value) << attr_text(value);
}

TEST(Field, AttributesReadBackFromTheirText) {
  for (const AluOp op : alu_ops()) expect_round_trip(op);
  for (const UnaryFn fn : unary_fns()) expect_round_trip(fn);
  for (int e = 0; e < kEngineCount; ++e) expect_round_trip(static_cast<Engine>(e));
  for (int r = 0; r < 5; ++r) expect_round_trip(static_cast<DmaRing>(r));
  for (int d = 0; d < 3; ++d) expect_round_trip(static_cast<DgeMode>(d));
  for (int r = 0; r < 6; ++r) expect_round_trip(static_cast<ReduceCmd>(r));
  for (const bool b : {false, true}) expect_round_trip(b);
  for (const std::int32_t i : {0, -1, INT32_MAX, INT32_MIN}) expect_round_trip(i);
}

TEST(Field, FloatsKeepTheirBits) {
  for (const float f : {0.0F, -0.0F, 0.1F, 1e-45F, 3.4028235e38F, -1.0F / 3, kInf, -kInf}) {
    float back = 7;
    ASSERT_TRUE(parse_attr(attr_text(f), back));
    EXPECT_TRUE(same(back, f)) << attr_text(f);
  }
  const CounterRng rng(1);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const float f = decode(DType::kF32, rng.bits(i) & 0xFFFFFFFF);
    float back = 7;
    ASSERT_TRUE(parse_attr(attr_text(f), back)) << attr_text(f);
    EXPECT_TRUE(same(back, f) || std::isnan(f)) << attr_text(f);
    EXPECT_EQ(std::isnan(back), std::isnan(f));
  }
}

TEST(Field, PatternsReadBack) {
  for (std::uint8_t rank = 1; rank <= 4; ++rank) {
    IotaPattern p;
    p.offset = -5, p.multiplier = INT32_MIN, p.rank = rank;
    for (std::size_t d = 0; d < rank; ++d)
      p.dims[d] = {static_cast<std::int64_t>(d) - 2, static_cast<std::int64_t>(d) + 1};
    expect_round_trip(p);
  }
  IotaPattern p;
  p.dims[0] = {1, 512};
  EXPECT_EQ(attr_text(p), "(0,0,512*1)");
}

TEST(Field, ShuffleMasksReadBack) {
  ShuffleMask mask;
  EXPECT_TRUE(attr_text(mask).starts_with("(0,1,2,")) << "the default leaves lanes in place";
  expect_round_trip(mask);
  for (std::size_t j = 0; j < 32; ++j) mask.lane[j] = static_cast<std::uint8_t>(255 - 8 * j);
  expect_round_trip(mask);
  const std::string text = attr_text(mask);
  EXPECT_FALSE(parse_attr(text.substr(0, text.size() - 1) + ",1)", mask)) << "33 entries";
  EXPECT_FALSE(parse_attr("(256" + text.substr(4), mask));
  EXPECT_FALSE(parse_attr("(-1" + text.substr(4), mask));
}

TEST(Field, BadAttributesAreRefused) {
  AluOp op{};
  UnaryFn fn{};
  Engine engine{};
  DmaRing ring{};
  DgeMode mode{};
  bool flag{};
  float f{};
  std::int32_t i{};
  IotaPattern p{};
  ReduceCmd cmd{};
  ShuffleMask mask{};
  for (const char* text : {"", " ", "nonsense", "1x", "add ", "(", "()", "(1,2)", "(1,2,)",
                           "(1,2,3)", "(1,2,3*)", "(1,2,3*4", "(1,2,3*4*5)",
                           "(1,2,1*1,1*1,1*1,1*1,1*1)", "(a,2,3*4)", "(1,2147483648,3*4)"}) {
    EXPECT_FALSE(parse_attr(text, op)) << text;
    EXPECT_FALSE(parse_attr(text, fn)) << text;
    EXPECT_FALSE(parse_attr(text, engine)) << text;
    EXPECT_FALSE(parse_attr(text, ring)) << text;
    EXPECT_FALSE(parse_attr(text, mode)) << text;
    EXPECT_FALSE(parse_attr(text, flag)) << text;
    EXPECT_FALSE(parse_attr(text, f)) << text;
    EXPECT_FALSE(parse_attr(text, i)) << text;
    EXPECT_FALSE(parse_attr(text, p)) << text;
    EXPECT_FALSE(parse_attr(text, cmd)) << text;
    EXPECT_FALSE(parse_attr(text, mask)) << text;
  }
  EXPECT_FALSE(parse_attr("2147483648", i));
  EXPECT_FALSE(parse_attr("-2147483649", i));
  EXPECT_FALSE(parse_attr("1e999", f));
  EXPECT_FALSE(parse_attr("1", flag));
  EXPECT_FALSE(parse_attr("True", flag));
}

}  // namespace
}  // namespace krait::isa::testing
