#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

Tile random_tile(std::uint64_t seed) {
  const CounterRng rng(seed);
  std::uint64_t at = 0;
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(rng.bits(at++) % static_cast<std::uint64_t>(high - low + 1));
  };
  Tile t;
  t.space = static_cast<Space>(pick(0, 2));
  t.dtype =
      dtypes()[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(dtypes().size()) - 1))]
          .dtype;
  t.rank = static_cast<std::uint8_t>(pick(1, 4));
  t.partitions = static_cast<std::uint16_t>(pick(1, 128));
  t.buffer = static_cast<std::uint32_t>(pick(0, UINT32_MAX));
  t.offset = pick(-100, 1 << 20);
  if (t.in_hbm())
    t.partition_step = pick(-1000, 1000);
  else
    t.partition = static_cast<std::uint16_t>(pick(0, 127));
  for (std::size_t d = 0; d < t.rank; ++d) t.dims[d] = {pick(-9, 9), pick(1, 7)};
  return t;
}

// Element offsets by walking the nest.
std::vector<std::int64_t> walk(const Tile& t) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < t.free_size(); ++i)
    out.push_back(element_offset(t, i) / t.element_bytes());
  return out;
}

TEST(Tile, TextReadsBackToTheSameTile) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Tile t = random_tile(seed);
    const auto parsed = parse_tile(to_string(t));
    ASSERT_TRUE(parsed) << to_string(t);
    EXPECT_EQ(parsed->tile, t) << to_string(t);
    EXPECT_EQ(parsed->offset_text, "");
  }
}

TEST(Tile, TextHasTheDocumentedForm) {
  EXPECT_EQ(to_string(tile(Space::kSbuf, DType::kF32, 128, {{1, 512}}, 4096)),
            "sbuf.0[0+128]@4096:f32{512*1}");
  EXPECT_EQ(to_string(hbm(DType::kBf16, 128, 8, 512, 3)), "hbm.3[128/512]@0:bf16{8*1}");
  const Tile t = tile(Space::kPsum, DType::kF32, 4, {{0, 2}, {-1, 3}}, 8, 32);
  EXPECT_EQ(to_string(t, "(8 + 4*i0)"), "psum.0[32+4]@(8 + 4*i0):f32{2*0,3*-1}");
  const auto parsed = parse_tile("psum.0[32+4]@(8 + 4*i0):f32{2*0,3*-1}");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->offset_text, "(8 + 4*i0)");
  EXPECT_EQ(parsed->tile.offset, 0);
}

TEST(Tile, BrokenTextIsRefused) {
  const std::string good = "sbuf.1[32+64]@4096:f32{2*8,4*1}";
  ASSERT_TRUE(parse_tile(good));
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_FALSE(parse_tile(good.substr(0, n))) << good.substr(0, n);
  for (const char* bad : {"",
                          "dram.0[0+1]@0:f32{1*1}",
                          "sbuf.-1[0+1]@0:f32{1*1}",
                          "sbuf.4294967296[0+1]@0:f32{1*1}",
                          "sbuf.0[0+0]@0:f32{1*1}",
                          "sbuf.0[-1+4]@0:f32{1*1}",
                          "sbuf.0[0+65536]@0:f32{1*1}",
                          "sbuf.0[65536+1]@0:f32{1*1}",
                          "sbuf.0[0/1]@0:f32{1*1}",
                          "hbm.0[0+1]@0:f32{1*1}",
                          "sbuf.0[0+1]@0:f33{1*1}",
                          "sbuf.0[0+1]@0:f32{}",
                          "sbuf.0[0+1]@0:f32{1*1,1*1,1*1,1*1,1*1}",
                          "sbuf.0[0+1]@0:f32{1*1}x",
                          "sbuf.0[0+1]@:f32{1*1}",
                          "sbuf.0[0+1]@0:f32{9223372036854775807*1}",
                          "sbuf.0[0+1]@0:f32{99999999999999999999*1}",
                          "sbuf.0[0+1]@0:f32{4294967296*1,4294967296*1}",
                          "sbuf.0[0+1]@0:f32{2*9223372036854775807}",
                          "sbuf.0[0+1]@9223372036854775807:f32{1*1}",
                          "hbm.0[128/4611686018427387904]@0:f32{1*1}"})
    EXPECT_FALSE(parse_tile(bad)) << bad;
}

TEST(Tile, SpanIsTheReachOfTheWalk) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Tile t = random_tile(seed);
    const auto offsets = walk(t);
    EXPECT_EQ(t.span_begin(), *std::min_element(offsets.begin(), offsets.end()));
    EXPECT_EQ(t.span_end(), *std::max_element(offsets.begin(), offsets.end()) + 1);
  }
}

TEST(Tile, InnerRunIsTheContiguousEnd) {
  const auto at = [](std::initializer_list<Dim> dims) {
    return tile(Space::kSbuf, DType::kF32, 1, dims);
  };
  EXPECT_EQ(at({{1, 12}}).inner_run(), 12);
  EXPECT_EQ(at({{4, 3}, {1, 4}}).inner_run(), 12);
  EXPECT_EQ(at({{5, 3}, {1, 4}}).inner_run(), 4);
  EXPECT_EQ(at({{2, 12}}).inner_run(), 1);
  EXPECT_EQ(at({{-1, 12}}).inner_run(), 1);
  EXPECT_EQ(at({{0, 3}, {1, 4}}).inner_run(), 4);
  EXPECT_EQ(at({{1, 4}, {9, 1}}).inner_run(), 4) << "dimensions of one position do not count";
  EXPECT_TRUE(at({{8, 3}, {4, 2}, {1, 4}}).contiguous());
  EXPECT_FALSE(at({{9, 3}, {4, 2}, {1, 4}}).contiguous());
  EXPECT_TRUE(at({{7, 1}}).contiguous());
  // Against the walk: the first run of consecutive offsets is at least the inner run.
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Tile t = random_tile(seed);
    const auto offsets = walk(t);
    for (std::size_t i = 0; i < offsets.size(); i += static_cast<std::size_t>(t.inner_run()))
      for (std::size_t k = 1; k < static_cast<std::size_t>(t.inner_run()); ++k)
        ASSERT_EQ(offsets[i + k], offsets[i] + static_cast<std::int64_t>(k)) << to_string(t);
  }
}

TEST(Tile, InnerStepSkipsSinglePositions) {
  const auto at = [](std::initializer_list<Dim> dims) {
    return tile(Space::kSbuf, DType::kF32, 1, dims);
  };
  EXPECT_EQ(at({{3, 4}}).inner_step(), 3);
  EXPECT_EQ(at({{3, 4}, {9, 1}}).inner_step(), 3);
  EXPECT_EQ(at({{3, 1}, {9, 1}}).inner_step(), 1);
}

TEST(Tile, InRangeBoundsRankSizesAndDistances) {
  Tile t = sbuf(DType::kF32, 1, 8);
  EXPECT_TRUE(t.in_range());
  const auto with = [&](auto change) {
    Tile u = t;
    change(u);
    return u.in_range();
  };
  EXPECT_FALSE(with([](Tile& u) { u.rank = 0; }));
  EXPECT_FALSE(with([](Tile& u) { u.rank = 5; }));
  EXPECT_FALSE(with([](Tile& u) { u.offset = INT64_MIN; }));
  EXPECT_FALSE(with([](Tile& u) { u.partition_step = INT64_MAX; }));
  EXPECT_FALSE(with([](Tile& u) { u.dims[0] = {1, INT64_MAX}; }));
  EXPECT_FALSE(with([](Tile& u) { u.dims[0] = {INT64_MIN, 2}; }));
  EXPECT_FALSE(with([](Tile& u) {
    u.rank = 2, u.dims[0] = {0, 1LL << 40}, u.dims[1] = {0, 1LL << 40};
  }));
  EXPECT_TRUE(with([](Tile& u) { u.dims[0] = {1, 1LL << 40}; }));
}

TEST(Tile, DescribesItselfForMessages) {
  EXPECT_EQ(describe(sbuf(DType::kF32, 128, 512)), "SBUF[128 x 512 f32]");
  EXPECT_EQ(describe(tile(Space::kPsum, DType::kBf16, 4, {{1, 2}, {1, 3}})), "PSUM[4 x 2x3 bf16]");
  EXPECT_EQ(describe(Tile{}), "none");
  EXPECT_EQ(describe(Operand(1.5F)), "1.5");
  EXPECT_EQ(describe(Operand(hbm(DType::kI8, 2, 1, 1))), "HBM[2 x 1 i8]");
}

TEST(Tile, EngineNamesReadBack) {
  for (int e = 0; e < kEngineCount; ++e)
    EXPECT_EQ(parse_engine(name(static_cast<Engine>(e))), static_cast<Engine>(e));
  EXPECT_EQ(parse_engine("PoolE"), std::nullopt);
}

}  // namespace
}  // namespace krait::isa::testing
