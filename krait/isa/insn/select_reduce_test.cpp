#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kMask = 0, kTrue = 4096, kDst = 8192, kMax = 12288, kFalse = 12352;

SelectReduce insn(const Tile& dst, const Tile& mask, const Tile& on_true, const Operand& other) {
  SelectReduce i;
  i.dst = dst, i.predicate = mask, i.on_true = on_true, i.on_false = other;
  return i;
}

bool takes(DType d) {
  return d != DType::kTf32 && d != DType::kI32 && d != DType::kU32;
}

TEST(SelectReduce, ChoosesForEveryDtypeAndReducesTheMaximum) {
  for (const DType mask_type : {DType::kI8, DType::kU8, DType::kI16, DType::kU16})
    for (const DType in : chip_dtypes())
      for (const DType out : {DType::kF32, DType::kBf16, DType::kI16, DType::kU8}) {
        if (!takes(in)) continue;
        for (const bool reverse : {false, true}) {
          TestMemory m;
          const Tile mask = sbuf(mask_type, 3, 37, kMask), x = sbuf(in, 3, 37, kTrue),
                     dst = sbuf(out, 3, 37, kDst), most = sbuf(DType::kF32, 3, 1, kMax);
          m.fill_random(x, 1);
          m.fill(mask, [](int p, std::int64_t i) { return static_cast<float>((p + i * i) % 3); });
          SelectReduce i = insn(dst, mask, x, -0.75F);
          i.reverse = reverse, i.reduce_res = most, i.reduce_cmd = ReduceCmd::kResetReduce;
          m.run(i);
          const auto want = [&](int p, std::int64_t k) {
            return (m.get(mask, p, k) != 0) != reverse ? m.get(x, p, k) : -0.75F;
          };
          expect_tile(m, dst, want, std::string(name(in)));
          expect_tile(m, most, [&](int p, std::int64_t) {
            float acc = -kInf;
            for (std::int64_t k = 0; k < 37; ++k)
              if (!std::isnan(want(p, k)) && want(p, k) >= acc) acc = want(p, k);
            return acc;
          });
        }
      }
}

TEST(SelectReduce, KeepsEveryBitOfEqualDtypes) {
  TestMemory m;
  const Tile mask = sbuf(DType::kU8, 1, 4, kMask), x = sbuf(DType::kBf16, 1, 4, kTrue),
             dst = sbuf(DType::kBf16, 1, 4, kDst);
  m.fill(mask, [](int, std::int64_t i) { return i == 2 ? 0.0F : 1.0F; });
  for (std::int64_t i = 0; i < 4; ++i)
    m.set_bits(x, 0, i, 0xFF81 + static_cast<std::uint64_t>(i));  // NaN payloads
  m.run(insn(dst, mask, x, 1.0F));
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(m.bits(dst, 0, i), i == 2 ? 0x3F80U : 0xFF81U + static_cast<std::uint64_t>(i));
}

TEST(SelectReduce, AccumulatesTheMaximumOverTiles) {
  TestMemory m;
  const Tile mask = sbuf(DType::kU8, 2, 3, kMask), x = sbuf(DType::kF32, 2, 3, kTrue),
             dst = sbuf(DType::kF32, 2, 3, kDst), r = sbuf(DType::kF32, 2, 1, kMax),
             other = sbuf(DType::kF32, 2, 1, kFalse);
  m.fill(mask, [](int, std::int64_t i) { return static_cast<float>(i % 2); });
  m.fill(other, [](int p, std::int64_t) { return static_cast<float>(-9 + 8 * p); });
  m.fill(x, [](int p, std::int64_t) { return static_cast<float>(-5 + p); });
  SelectReduce i = insn(dst, mask, x, other);
  i.reduce_cmd = ReduceCmd::kResetReduce;
  m.run(i);
  m.fill(x, [](int p, std::int64_t) { return p == 0 ? -20.0F : 4.0F; });
  i.reduce_cmd = ReduceCmd::kReduce, i.reduce_res = r;
  m.run(i);
  EXPECT_EQ(m.get(r, 0, 0), -5);
  EXPECT_EQ(m.get(r, 1, 0), 4);
  EXPECT_THAT(m.findings(), IsEmpty());
  i.reduce_cmd = ReduceCmd::kIdle, i.reduce_res = Tile{};
  m.run(i);
  (void)m.accumulator(Engine::kVector, 0);
  EXPECT_EQ(m.findings().size(), 1U) << "idle leaves the register undefined";
}

TEST(SelectReduce, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& x : layouts(DType::kF16, 2, kTrue, true))
    for (const Tile& dst : layouts(DType::kF16, 2, kDst, false)) {
      TestMemory m;
      const Tile mask = stepped(sbuf(DType::kU16, 2, 12, kMask), 2);
      m.fill_random(x, 5);
      m.fill(mask, [](int p, std::int64_t i) { return static_cast<float>((p + i) % 2); });
      m.run(insn(dst, mask, x, 0.5F));
      expect_tile(m, dst,
                  [&](int p, std::int64_t i) { return (p + i) % 2 == 1 ? m.get(x, p, i) : 0.5F; });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kI16, 2, 12, kTrue);  // mask, source and result at once
  m.fill(t, [](int p, std::int64_t i) { return static_cast<float>((p + i) % 3 - 1); });
  m.run(insn(t, t, t, 7.0F));
  expect_tile(m, t, [](int p, std::int64_t i) {
    const auto x = static_cast<float>((p + i) % 3 - 1);
    return x == 0 ? 7.0F : x;
  });
}

TEST(SelectReduce, Rules) {
  using T = SelectReduce;
  T good = insn(psum(DType::kF32, 64, 32), sbuf(DType::kU8, 64, 32), psum(DType::kF32, 64, 32),
                sbuf(DType::kBf16, 64, 1));
  good.reduce_res = sbuf(DType::kF32, 64, 1), good.reduce_cmd = ReduceCmd::kReduce;
  expect_legal_everywhere(good);
  const auto with = [&](auto change) {
    T i = good;
    change(i);
    return i;
  };
  for (const DType d : chip_dtypes()) {
    const bool mask = d == DType::kI8 || d == DType::kU8 || d == DType::kI16 || d == DType::kU16;
    const T a = with([&](T&i) { i.predicate.dtype = d; }),
            b = with([&](T&i) { i.on_true.dtype = d; }),
            c = with([&](T&i) { i.reduce_res.dtype = d; });
    mask ? expect_legal_everywhere(a) : expect_rule_everywhere(a, "operand-dtype");
    takes(d) ? expect_legal_everywhere(b) : expect_rule_everywhere(b, "operand-dtype");
    is_float(d) ? expect_legal_everywhere(c) : expect_rule_everywhere(c, "operand-dtype");
  }
  expect_rule_everywhere(with([](T& i) { i.predicate = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](T& i) { i.on_true = hbm(DType::kF32, 64, 32, 32); }),
                         "operand-space");
  expect_rule_everywhere(with([](T& i) { i.predicate = sbuf(DType::kU8, 64, 31); }),
                         "same-free-size");
  expect_rule_everywhere(with([](T& i) { i.on_true = sbuf(DType::kF32, 32, 32); }),
                         "same-partitions");
  expect_rule_everywhere(with([](T& i) { i.predicate = psum(DType::kU8, 64, 32); }),
                         "psum-operands");
  expect_rule_everywhere(with([](T& i) { i.on_false = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  for (const ReduceCmd cmd : {ReduceCmd::kReset, ReduceCmd::kLoadReduce, ReduceCmd::kIdle})
    expect_rule_everywhere(with([&](T& i) { i.reduce_cmd = cmd; }), "reduce-cmd");
}

// Never printed: one cycle an element with one input in PSUM, else two, as tensor_copy_predicated.
TEST(SelectReduce, Cost) {
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n, Space mask, Space x) {
      return cycles(insn(sbuf(DType::kF32, 128, n), tile(mask, DType::kU8, 128, {{1, n}}),
                         tile(x, DType::kF32, 128, {{1, n}}), 0.0F),
                    *m);
    };
    EXPECT_EQ(cost(32, Space::kSbuf, Space::kSbuf), elementwise(64));
    EXPECT_EQ(cost(33, Space::kSbuf, Space::kSbuf), elementwise(66));
    EXPECT_EQ(cost(64, Space::kPsum, Space::kSbuf), elementwise(64));
    EXPECT_EQ(cost(65, Space::kSbuf, Space::kPsum), elementwise(65));
  }
}

}  // namespace
}  // namespace krait::isa::testing
