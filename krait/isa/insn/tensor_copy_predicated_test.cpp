#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSrc = 0, kMask = 4096, kDst = 8192;

TensorCopyPredicated insn(const Tile& dst, const Tile& src, const Tile& predicate,
                          bool reverse = false) {
  return {.dst = dst, .src = src, .predicate = predicate, .reverse = reverse};
}

TEST(TensorCopyPredicated, CopiesBitsWhereTheMaskIsSetAndKeepsTheRest) {
  for (const DType d : chip_dtypes())
    for (const DType mask : {DType::kU8, DType::kU16, DType::kU32})
      for (const bool reverse : {false, true}) {
        TestMemory m;
        const Tile src = sbuf(d, 3, 17, kSrc), dst = sbuf(d, 3, 17, kDst),
                   pred = sbuf(mask, 3, 17, kMask);
        m.fill_random(src, 1), m.fill_random(dst, 2);
        m.fill(pred, [](int p, std::int64_t i) {
          return static_cast<float>((p + i) % 3 == 0 ? 0 : p + i);
        });
        std::vector<std::uint64_t> before;
        for (int p = 0; p < 3; ++p)
          for (std::int64_t i = 0; i < 17; ++i) before.push_back(m.bits(dst, p, i));
        m.run(insn(dst, src, pred, reverse));
        for (int p = 0; p < 3; ++p)
          for (std::int64_t i = 0; i < 17; ++i) {
            const bool copied = ((p + i) % 3 != 0) != reverse;
            ASSERT_EQ(m.bits(dst, p, i), copied ? m.bits(src, p, i) : before[flat(p, 17, i)])
                << name(d) << " " << name(mask) << " " << p << "," << i;
          }
        EXPECT_THAT(m.findings(), IsEmpty());
      }
}

TEST(TensorCopyPredicated, WalksEveryAccessPattern) {
  for (const Tile& src : layouts(DType::kF32, 2, kSrc, true))
    for (const Tile& pred : layouts(DType::kU8, 2, kMask, true))
      for (const Tile& dst : layouts(DType::kF32, 2, kDst, false)) {
        TestMemory m;
        m.fill_random(src, 3);
        m.fill(pred, [](int p, std::int64_t i) { return static_cast<float>((p + i) % 2); });
        m.fill(dst, [](int, std::int64_t) { return 42.0F; });
        m.run(insn(dst, src, pred));
        expect_tile(m, dst, [&](int p, std::int64_t i) {
          return m.get(pred, p, i) != 0 ? m.get(src, p, i) : 42.0F;
        });
      }
}

// Elements that are not copied need not have been written in src; the mask must be.
TEST(TensorCopyPredicated, ReportsOnlyWhatItReads) {
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 1, 4, kSrc), dst = sbuf(DType::kF32, 1, 4, kDst),
             pred = sbuf(DType::kU8, 1, 4, kMask);
  m.set(src, 0, 1, 5);
  m.fill(pred, [](int, std::int64_t i) { return i == 1 ? 1.0F : 0.0F; });
  m.run(insn(dst, src, pred));
  EXPECT_THAT(m.findings(), IsEmpty());
  m.set(pred, 0, 2, 1);
  m.run(insn(dst, src, pred));
  ASSERT_EQ(m.findings().size(), 1U);
  EXPECT_EQ(m.findings()[0].kind, "uninitialised-read");
}

TEST(TensorCopyPredicated, DstIsReadToo) {
  const TensorCopyPredicated i;
  EXPECT_TRUE(def_of<TensorCopyPredicated>().accumulates(&i));
}

TEST(TensorCopyPredicated, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  const Tile u = sbuf(DType::kU8, 64, 32), up = psum(DType::kU8, 64, 32);
  expect_legal_everywhere(insn(s, s, u));
  expect_legal_everywhere(insn(p, p, u));
  expect_legal_everywhere(insn(s, s, up));
  expect_rule_everywhere(insn(s, p, up), "psum-operands");
  expect_rule_everywhere(insn(sbuf(DType::kBf16, 64, 32), s, u), "same-dtype");
  for (const DType d : {DType::kI8, DType::kF32, DType::kI32})
    expect_rule_everywhere(insn(s, s, sbuf(d, 64, 32)), "operand-dtype");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kU8, 64, 31)), "same-free-size");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kU8, 32, 32)), "same-partitions");
  expect_rule_everywhere(insn(s, s, Tile{}), "operand-missing");
  expect_rule_everywhere(insn(s, hbm(DType::kF32, 64, 32, 32), u), "operand-space");
}

// ISA26 (v2): N with exactly one of src, predicate in PSUM, else 2N; v3, v4 (derived): N.
TEST(TensorCopyPredicated, Cost) {
  const auto cost = [](Space src, Space pred, std::int64_t n, const MachineSpec& m) {
    return cycles(insn(sbuf(DType::kF32, 128, n), tile(src, DType::kF32, 128, {{1, n}}),
                       tile(pred, DType::kU8, 128, {{1, n}})),
                  m);
  };
  EXPECT_EQ(cost(Space::kSbuf, Space::kSbuf, 32, trn1()), elementwise(64));
  EXPECT_EQ(cost(Space::kSbuf, Space::kSbuf, 33, trn1()), elementwise(66));
  EXPECT_EQ(cost(Space::kPsum, Space::kSbuf, 512, trn1()), elementwise(512));
  EXPECT_EQ(cost(Space::kSbuf, Space::kPsum, 512, trn1()), elementwise(512));
  for (const MachineSpec* m : {&trn2(), &trn3()})
    for (const Space s : {Space::kSbuf, Space::kPsum}) {
      EXPECT_EQ(cost(s, Space::kSbuf, 64, *m), elementwise(64));
      EXPECT_EQ(cost(s, Space::kSbuf, 65, *m), elementwise(65));
      EXPECT_EQ(cost(s, Space::kSbuf, 512, *m), elementwise(512));
    }
}

}  // namespace
}  // namespace krait::isa::testing
