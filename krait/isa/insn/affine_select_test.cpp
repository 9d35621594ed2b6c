#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

AffineSelect insn(const Tile& dst, const Tile& on_true, AluOp cmp, std::int32_t offset = 0) {
  AffineSelect a;
  a.dst = dst, a.on_true = on_true, a.cmp = cmp, a.on_false = -5.5F;
  a.pattern.offset = offset, a.pattern.multiplier = 1;
  a.pattern.dims[0] = {-1, dst.free_size()};
  return a;
}

// The causal mask: value = offset + p - i.
TEST(AffineSelect, KeepsWhereTheAffineFunctionCompares) {
  for (const DType in : chip_dtypes())
    for (const AluOp cmp :
         {AluOp::kEqual, AluOp::kNotEqual, AluOp::kGreater, AluOp::kGreaterEqual}) {
      TestMemory m;
      const Tile src = sbuf(in, 9, 12), dst = sbuf(DType::kBf16, 9, 12, 8192);
      m.fill_random(src, 1);
      m.run(insn(dst, src, cmp, 2));
      expect_tile(
          m, dst,
          [&](int p, std::int64_t i) {
            const std::int64_t v = 2 + p - i;
            const bool keep = cmp == AluOp::kEqual      ? v == 0
                              : cmp == AluOp::kNotEqual ? v != 0
                              : cmp == AluOp::kGreater  ? v > 0
                                                        : v >= 0;
            return keep ? m.get(src, p, i) : -5.5F;
          },
          std::string(name(cmp)));
    }
}

// Equal dtypes are not cast: integers beyond 2^24 and NaN payloads stay.
TEST(AffineSelect, KeepsEveryBitOfEqualDtypes) {
  for (const auto& [d, bits] : {std::pair{DType::kI32, 16777217U}, {DType::kBf16, 0xFF81U}}) {
    TestMemory m;
    const Tile src = sbuf(d, 1, 4), dst = sbuf(d, 1, 4, 8192);
    for (std::int64_t i = 0; i < 4; ++i) m.set_bits(src, 0, i, bits);
    m.run(insn(dst, src, AluOp::kGreaterEqual, 2));
    for (std::int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(m.bits(dst, 0, i), i <= 2 ? bits : encode(d, -5.5F)) << name(d) << " " << i;
  }
}

TEST(AffineSelect, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& src : layouts(DType::kF32, 2, 0, true))
    for (const Tile& dst : layouts(DType::kF32, 2, 8192, false)) {
      TestMemory m;
      m.fill_random(src, 2);
      m.run(insn(dst, src, AluOp::kGreaterEqual, 6));
      expect_tile(m, dst,
                  [&](int p, std::int64_t i) { return 6 + p - i >= 0 ? m.get(src, p, i) : -5.5F; });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 3, 12);
  m.fill_random(t, 3, false);
  const auto before = m.values(t);
  m.run(insn(t, t, AluOp::kGreater, 4));
  expect_tile(
      m, t, [&](int p, std::int64_t i) { return 4 + p - i > 0 ? before[flat(p, 12, i)] : -5.5F; });
}

TEST(AffineSelect, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  expect_legal_everywhere(insn(s, s, AluOp::kGreater));
  for (const AluOp op : {AluOp::kLess, AluOp::kLessEqual, AluOp::kAdd})
    expect_rule_everywhere(insn(s, s, op), "alu-op");
  AffineSelect a = insn(s, s, AluOp::kEqual);
  a.pattern.dims[0].count = 31;
  expect_rule_everywhere(a, "iota-pattern");
  expect_rule_everywhere(insn(psum(DType::kF32, 64, 32), s, AluOp::kEqual), "operand-space");
  expect_rule_everywhere(insn(s, psum(DType::kF32, 64, 32), AluOp::kEqual), "operand-space");
  expect_rule_everywhere(insn(s, sbuf(DType::kF32, 64, 31), AluOp::kEqual), "same-free-size");
  expect_rule_everywhere(insn(s, Tile{}, AluOp::kEqual), "operand-missing");
}

TEST(AffineSelect, Cost) {  // ISA26: 150 + N
  for (const MachineSpec* m : machines())
    for (const std::int64_t n : {1, 512})
      EXPECT_EQ(
          cycles(insn(sbuf(DType::kF32, 128, n), sbuf(DType::kF32, 128, n), AluOp::kEqual), *m),
          kGpSimdStart + static_cast<double>(n));
}

}  // namespace
}  // namespace krait::isa::testing
