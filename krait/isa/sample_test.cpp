// Every listed instruction has a legal sample wherever it exists, in the form that was asked for.

#include "krait/isa/sample.hpp"

#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

std::string broken(const InsnDef& def, const Sample& sample, const MachineSpec& machine) {
  std::string out;
  for (const Violation& v : check(def, sample.self(), machine))
    out += cat(v.rule, ": ", v.what, " (", v.got, "); ");
  return out;
}

// A new instruction whose tiles do not all have one form fails here until it has a sample().
TEST(Sample, EveryInstructionHasALegalOneOnEveryMachineThatHasIt) {
  for (const InsnDef* def : instructions()) {
    int machines_with_it = 0;
    for (const MachineSpec* m : machines()) {
      if (lacks(*m, *def)) continue;
      ++machines_with_it;
      for (const std::int64_t n : {128, 64}) {
        const SampleShape shape{.n = n};
        EXPECT_EQ(broken(*def, make_sample(*def, shape, *m), *m), "")
            << def->info.name << " on " << m->name() << ", n = " << n;
      }
    }
    EXPECT_GT(machines_with_it, 0) << def->info.name << " exists nowhere";
  }
}

// Instructions with a sample of their own may need other sizes: a column, eight, whole packs.
TEST(Sample, OfTilesOfOneFormHasTheSizesAskedFor) {
  int asked = 0;
  for (const InsnDef* def : instructions()) {
    if (def->sample != nullptr || lacks(trn3(), *def)) continue;
    Sample sample = make_sample(*def, {.partitions = 32, .n = 64}, trn3());
    for_each_tile(*def, sample.self(), [&](const FieldInfo& field, const Tile& t) {
      EXPECT_EQ(t, sbuf(DType::kF32, 32, 64)) << def->info.name << "." << field.name;
      ++asked;
    });
  }
  EXPECT_GT(asked, 10);
}

TEST(Sample, OutputAndFirstInputTakeTheSpaceAndTypeAskedFor) {
  const SampleShape shape{
      .n = 96, .dst = Space::kSbuf, .src = Space::kPsum, .dst_dtype = DType::kBf16};
  Sample sample = make_sample(def_of<TensorTensor>(), shape, trn1());
  const auto& insn = *static_cast<const TensorTensor*>(sample.self());
  EXPECT_EQ(insn.dst, sbuf(DType::kBf16, 128, 96));
  EXPECT_EQ(insn.a, psum(DType::kF32, 128, 96));
  EXPECT_EQ(insn.b, sbuf(DType::kF32, 128, 96)) << "one input at most may lie in PSUM";
  EXPECT_EQ(broken(def_of<TensorTensor>(), sample, trn1()), "");
}

TEST(Sample, LeavesOptionalTilesOut) {
  Sample sample = make_sample(def_of<Activation>(), {}, trn2());
  const auto& insn = *static_cast<const Activation*>(sample.self());
  EXPECT_TRUE(insn.dst.present() && insn.data.present());
  EXPECT_FALSE(insn.reduce_res.present());
}

TEST(Sample, OfAProductTakesThreeSizes) {
  Sample sample = make_sample(def_of<NcMatmul>(), {.partitions = 64, .n = 256, .m = 32}, trn2());
  const auto& insn = *static_cast<const NcMatmul*>(sample.self());
  EXPECT_EQ(insn.dst, psum(DType::kF32, 32, 256));
  EXPECT_EQ(insn.stationary, sbuf(DType::kF32, 64, 32));
  EXPECT_EQ(insn.moving, sbuf(DType::kF32, 64, 256));
}

// What is asked for is not silently replaced by something legal.
TEST(Sample, IsRefusedWhereTheShapeAskedForIsIllegal) {
  const Sample sbuf_product = make_sample(def_of<NcMatmul>(), {.dst = Space::kSbuf}, trn2());
  EXPECT_NE(broken(def_of<NcMatmul>(), sbuf_product, trn2()), "");
  const Sample wide = make_sample(def_of<NcTranspose>(), {.n = 65536 + 64}, trn2());
  EXPECT_NE(broken(def_of<NcTranspose>(), wide, trn2()), "");
}

TEST(Sample, CopiesAreIndependent) {
  Sample a = make_sample(def_of<Memset>(), {.n = 8}, trn1());
  Sample b = a;
  a.tile(a.def().fields[0]).dims[0].count = 9;
  EXPECT_EQ(b.tile(b.def().fields[0]).free_size(), 8);
  b = a;
  EXPECT_EQ(b.tile(b.def().fields[0]).free_size(), 9);
}

}  // namespace
}  // namespace krait::isa::testing
