#include "krait/isa/memory.hpp"

#include "krait/base/error.hpp"
#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

TEST(Memory, ReportsUninitialisedReadsOnceAndReadsNan) {
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 4, 8);
  m.set(t, 0, 0, 1), m.set(t, 0, 7, 2);
  const auto row = m.load(t, 0);
  EXPECT_EQ(row[0], 1);
  EXPECT_EQ(row[7], 2);
  for (std::size_t i = 1; i < 7; ++i) EXPECT_TRUE(std::isnan(row[i]));
  m.set_instruction("tensor_copy");
  for (int p = 1; p < 4; ++p) (void)m.load(t, p), (void)m.load(t, p);
  ASSERT_EQ(m.findings().size(), 2U) << "one for the unnamed load, one for all of tensor_copy's";
  EXPECT_EQ(m.findings()[0].kind, "uninitialised-read");
  EXPECT_EQ(m.findings()[1].what,
            "tensor_copy: reads bytes of SBUF[4 x 8 f32] that nothing has written");
  m.clear_findings();
  EXPECT_THAT(m.findings(), IsEmpty());
}

TEST(Memory, UninitialisedReadsAreNanInEveryFloatFormatThatHasOne) {
  for (const bool rounding : {true, false})
    for (const DType d : chip_dtypes()) {
      if (!is_float(d) || d == DType::kF4E2M1) continue;
      Memory::Options options;
      options.rounding = rounding;
      TestMemory m(options);
      EXPECT_TRUE(std::isnan(m.load(stepped(sbuf(d, 1, 3), 2), 0)[1]))
          << name(d) << " " << rounding;
    }
}

TEST(Memory, OnlyTheBytesOfThePatternCount) {
  TestMemory m;
  const Tile even = stepped(sbuf(DType::kU8, 1, 8), 2);
  m.fill(even, [](int, std::int64_t i) { return static_cast<float>(i); });
  (void)m.load(even, 0);
  EXPECT_THAT(m.findings(), IsEmpty());
  EXPECT_EQ(m.weakest(even, 0), ByteState::kWritten);
  EXPECT_EQ(m.weakest(sbuf(DType::kU8, 1, 2), 0), ByteState::kNever);
  (void)m.load(sbuf(DType::kU8, 1, 2), 0);
  EXPECT_EQ(m.findings().size(), 1U);
}

TEST(Memory, StatesSayWhoWroteLast) {
  TestMemory m;
  const Tile t = psum(DType::kF32, 1, 4), half = psum(DType::kF32, 1, 2);
  EXPECT_EQ(m.weakest(t, 0), ByteState::kNever);
  m.store(t, 0, std::vector<float>(4, 1.0F), ByteState::kTensorWritten);
  EXPECT_EQ(m.weakest(t, 0), ByteState::kTensorWritten);
  m.store(half, 0, std::vector<float>(2, 1.0F));
  EXPECT_EQ(m.weakest(half, 0), ByteState::kWritten);
  EXPECT_EQ(m.weakest(t, 0), ByteState::kWritten) << "the weakest of all";
  EXPECT_EQ(m.weakest(t, 1), ByteState::kNever) << "partitions are apart";
}

// One byte of another state in any element of any pattern decides; bytes in the gaps do not.
TEST(Memory, TheWeakestByteOfAnyPatternCounts) {
  for (const Tile& t : layouts(DType::kF32, 1, 0, true, 0, Space::kPsum))
    for (const ByteState odd : {ByteState::kNever, ByteState::kWritten})
      for (std::int64_t i = 0; i < 12; ++i) {
        TestMemory m;
        auto at = m.place(t, 0);
        for (std::int64_t e = 0; e < 12; ++e)
          std::memset(at.region->state(0, t.offset + element_offset(t, e)), 2, 4);
        ASSERT_EQ(m.weakest(t, 0), ByteState::kTensorWritten) << to_string(t);
        *at.region->state(0, t.offset + element_offset(t, i) + 3) = odd;
        ASSERT_EQ(m.weakest(t, 0), odd) << to_string(t) << " element " << i;
      }
}

TEST(Memory, WithoutStateNothingIsReported) {
  Memory::Options options;
  options.track_state = false;
  TestMemory m(options);
  EXPECT_EQ(m.load(sbuf(DType::kF32, 1, 4), 0)[0], 0);
  m.check_accumulate(psum(DType::kF32, 1, 4), 0);
  EXPECT_THAT(m.findings(), IsEmpty());
}

TEST(Memory, FindingsStopAtALimit) {
  TestMemory m;
  for (int i = 0; i < 1000; ++i) m.report("kind", cat(i));
  EXPECT_EQ(m.findings().size(), 64U);
}

TEST(Memory, CopiesBetweenAllPairsOfDtypes) {
  for (const DTypeInfo& from : dtypes())
    for (const DTypeInfo& to : dtypes()) {
      TestMemory m;
      const Tile src = stepped(hbm(from.dtype, 2, 9, 40), 3), dst = hbm(to.dtype, 2, 9, 9, 1);
      m.fill_random(src, 1);
      for (int p = 0; p < 2; ++p) m.copy_row(dst, p, src, p);
      for (int p = 0; p < 2; ++p)
        for (std::int64_t i = 0; i < 9; ++i) {
          const std::uint64_t want =
              from.dtype == to.dtype ? m.bits(src, p, i) : encode(to.dtype, m.get(src, p, i));
          ASSERT_EQ(m.bits(dst, p, i), want) << from.name << " to " << to.name;
        }
    }
}

TEST(Memory, EqualDtypesKeepEveryBit) {
  for (const DTypeInfo& d : dtypes()) {
    TestMemory m;
    const Tile src = hbm(d.dtype, 1, 300, 300), dst = hbm(d.dtype, 1, 300, 300, 1);
    const CounterRng rng(5);
    const std::uint64_t mask = d.size == 8 ? ~0ULL : (1ULL << (8 * d.size)) - 1;
    for (std::int64_t i = 0; i < 300; ++i)
      m.set_bits(src, 0, i,
                 d.size == 1 ? static_cast<std::uint64_t>(i & 255)
                             : rng.bits(static_cast<std::uint64_t>(i)) & mask);
    m.set_bits(src, 0, 0, 16777217 & mask), m.set_bits(src, 0, 1, 0x7F800001 & mask);
    m.copy_row(dst, 0, src, 0);
    for (std::int64_t i = 0; i < 300; ++i)
      ASSERT_EQ(m.bits(dst, 0, i), m.bits(src, 0, i)) << d.name;
  }
}

TEST(Memory, WithRoundingOffNarrowFloatsKeepTheirF32Value) {
  Memory::Options options;
  options.rounding = false;
  TestMemory m(options);
  const float exact = 1.0F + 0x1p-20F;  // rounds to 1 in every narrow format
  for (const DType d :
       {DType::kBf16, DType::kF16, DType::kF8E4M3, DType::kF8E5M2, DType::kF8E3M4}) {
    const Tile a = sbuf(d, 1, 4, 0), b = stepped(sbuf(d, 1, 4, 512), 3), h = hbm(d, 1, 4, 4),
               c = psum(d, 1, 4, 0);
    m.run(Memset{.dst = a, .value = exact});
    EXPECT_EQ(m.get(a, 0, 0), 1) << "the bytes themselves are rounded";
    m.run(TensorCopy{.dst = b, .src = a});  // copies, DMA out and in, and transposes carry it
    m.run(DmaCopy{.dst = h, .src = b});
    m.run(DmaCopy{.dst = a, .src = h});
    m.run(TensorCopy{.dst = c, .src = a});
    EXPECT_EQ(m.load(c, 0)[3], exact) << name(d);
    const Tile column = sbuf(d, 4, 1, 2048);
    m.run(NcTranspose{.dst = column, .src = a, .engine = Engine::kVector});
    m.begin_row();
    EXPECT_EQ(m.load(column, 3)[0], exact) << name(d);
    const Tile wide = sbuf(DType::kF32, 1, 4, 1024);
    m.run(TensorCopy{.dst = wide, .src = c});
    EXPECT_EQ(m.get(wide, 0, 2), exact);
  }
}

TEST(Memory, ShadowsNeverOutliveTheBytesTheyStandFor) {
  Memory::Options options;
  options.rounding = false;
  TestMemory m(options);
  // Inputs have no shadow: they read as their bytes.
  const Tile in = hbm(DType::kBf16, 1, 4, 4), t = sbuf(DType::kBf16, 1, 4);
  std::vector<std::byte> bytes(1 << 20);
  const std::uint16_t one_and_half = 0x3FC0;
  std::memcpy(bytes.data() + 2, &one_and_half, 2);
  m.write_hbm(0, bytes);
  m.run(DmaCopy{.dst = t, .src = in});
  EXPECT_EQ(m.load(t, 0)[1], 1.5F);
  // Bytes rewritten as another dtype drop it.
  m.run(Memset{.dst = t, .value = 1.0F + 0x1p-20F});
  m.run(Memset{.dst = sbuf(DType::kU16, 1, 4), .value = 0x4000});
  m.begin_row();
  EXPECT_EQ(m.load(t, 0)[0], 2.0F);
  // Overflow keeps the value a machine without rounding would have.
  m.run(Memset{.dst = sbuf(DType::kF16, 1, 4, 64), .value = 1e6F});
  m.begin_row();
  EXPECT_EQ(m.load(sbuf(DType::kF16, 1, 4, 64), 0)[0], 1e6F);
  m.run(Memset{.dst = sbuf(DType::kF8E4M3Fn, 1, 4, 96), .value = 1000.0F});
  m.begin_row();
  EXPECT_EQ(m.load(sbuf(DType::kF8E4M3Fn, 1, 4, 96), 0)[0], 1000.0F);
}

TEST(Memory, WithRoundingOnThereAreNoShadows) {
  TestMemory m;
  const Tile t = sbuf(DType::kBf16, 1, 4);
  m.run(Memset{.dst = t, .value = 1.0F + 0x1p-20F});
  EXPECT_EQ(m.load(t, 0)[0], 1.0F);
}

std::vector<float> stochastic_run(std::uint64_t seed) {
  Memory::Options options;
  options.mode = {RoundingMode::kStochastic, seed, 0};
  TestMemory m(options);
  const Tile src = sbuf(DType::kF32, 8, 100), dst = sbuf(DType::kBf16, 8, 100, 4096);
  m.fill_random(src, 1, false);
  m.run(TensorCopy{.dst = dst, .src = src});
  m.run(TensorScalar{.dst = dst, .data = src, .operand0 = 1.0F});
  return m.values(dst);
}

TEST(Memory, StochasticRoundingRepeatsForOneSeedAndStaysBetweenNeighbours) {
  const auto a = stochastic_run(1), b = stochastic_run(1), c = stochastic_run(2);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 8, 100);
  m.fill_random(src, 1, false);
  const auto exact = m.values(src);
  int up = 0, moved = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // One of the two bf16 neighbours: truncate, or one step away from 0.
    const std::uint32_t low =
        static_cast<std::uint32_t>(encode(DType::kF32, exact[i])) & 0xFFFF0000U;
    const std::uint32_t got = static_cast<std::uint32_t>(encode(DType::kF32, a[i]));
    ASSERT_TRUE(got == low || got == low + 0x10000U) << exact[i] << " to " << a[i];
    moved += decode(DType::kF32, low) != exact[i];
    up += got != low;
  }
  // 800 draws with mean probability about a half: 300 to 500 is over seven deviations of 14.
  EXPECT_GT(moved, 750);
  EXPECT_GT(up, 300);
  EXPECT_LT(up, 500);
}

TEST(Memory, DrawsDifferFromOneStoreToTheNext) {
  Memory::Options options;
  options.mode = {RoundingMode::kStochastic, 9, 0};
  TestMemory m(options);
  const Tile t = sbuf(DType::kBf16, 1, 256);
  const auto draw = [&] {
    m.run(
        Memset{.dst = t, .value = 1.00390625F - 0x1p-9F});  // half way between 1 and the next bf16
    return m.values(t);
  };
  EXPECT_NE(draw(), draw());
}

TEST(Memory, UnalignedF32IsLoadedByCopy) {
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 1, 4, 2);
  m.fill(t, [](int, std::int64_t i) { return static_cast<float>(i) + 0.5F; });
  EXPECT_EQ(m.load(t, 0)[3], 3.5F);
  m.run(TensorScalar{.dst = t, .data = t, .operand0 = 2.0F});
  EXPECT_EQ(m.get(t, 0, 3), 7);
}

TEST(Memory, HbmGoesInAndOutWhole) {
  TestMemory m({}, {8, 0});
  const std::vector<std::byte> in{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                  std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
  m.write_hbm(0, in);
  std::vector<std::byte> out(8), none;
  m.read_hbm(0, out);
  EXPECT_EQ(out, in);
  m.write_hbm(1, none), m.read_hbm(1, none);
  EXPECT_THROW(m.write_hbm(0, none), InternalError) << "the simulator passes whole tensors";
}

TEST(Memory, PlacesTilesByPartitionOrRowStep) {
  TestMemory m;
  const auto at = m.place(tile(Space::kSbuf, DType::kF32, 4, {{1, 4}}, 20, 64), 3);
  EXPECT_EQ(at.row, 67);
  EXPECT_EQ(at.offset, 20);
  Tile h = hbm(DType::kBf16, 4, 4, 100, 1);
  h.offset = 6;
  EXPECT_EQ(m.place(h, 3).row, 0);
  EXPECT_EQ(m.place(h, 3).offset, 6 + 3 * 100 * 2);
  EXPECT_EQ(m.place(h, 3).region, &m.hbm(1));
}

TEST(Memory, RefusesWhatTheHostCannotHold) {
  const std::vector<std::int64_t> huge{std::int64_t{1} << 60};
  EXPECT_THROW(TestMemory({}, huge), UserError);
}

}  // namespace
}  // namespace krait::isa::testing
