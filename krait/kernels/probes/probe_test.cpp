// Do the probes repeat what was asked for, for every instruction, and do their slopes equal the
// figures that the manuals give? Those are written out here, not read from the tables.

#include "krait/kernels/probes/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/insns.hpp"
#include "krait/machine/registry.hpp"
#include "krait/sim/run.hpp"

namespace krait::kernels {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

double time_ns(const Probe& probe, const MachineSpec& machine, const Params& params,
               std::int64_t repeat) {
  return sim::run(probe.build(machine, params, repeat), machine, {}, {.data = false}).time.ns();
}

/// Time of one repetition.
double slope(const Probe& probe, const std::string& machine, const Words& words) {
  const MachineSpec& m = find_machine(machine);
  const Params params = probe.params(words);
  const std::int64_t longer = params.integer("repeat"), shorter = params.integer("short");
  return (time_ns(probe, m, params, longer) - time_ns(probe, m, params, shorter)) /
         static_cast<double>(longer - shorter);
}
double stream(const std::string& machine, const Words& words) {
  return slope(stream_probe(), machine, words);
}
double dma(const std::string& machine, const Words& words) {
  return slope(dma_probe(), machine, words);
}

std::string refusal(const Probe& probe, const std::string& machine, const Words& words) {
  try {
    const Params params = probe.params(words);
    (void)probe.build(find_machine(machine), params, params.integer("repeat"));
  } catch (const UserError& error) {
    EXPECT_FALSE(error.report().fix.empty());
    return error.report().text();
  }
  return "accepted";
}

std::int64_t count_of(const ir::Program& program, std::string_view name) {
  std::int64_t out = 0;
  const auto walk = [&](const auto& self, const ir::Block& block, std::int64_t times) -> void {
    for (const ir::Node& node : block) {
      if (node.loop() != nullptr)
        self(self, node.loop()->body, times * program.extents[node.loop()->id]);
      else if (node.insn()->def->info.name == name)
        out += times;
    }
  };
  walk(walk, program.body, 1);
  return out;
}

// --- every instruction ---

TEST(StreamProbe, RepeatsEveryListedInstructionOnEveryMachineThatHasIt) {
  for (const isa::InsnDef* def : isa::instructions())
    for (const MachineSpec* m : machines()) {
      if (isa::lacks(*m, *def)) continue;
      const Words words{cat("insn=", def->info.name), "n=64"};
      const Params params = stream_probe().params(words);
      const ir::Program seven = stream_probe().build(*m, params, 7);
      EXPECT_TRUE(ir::verify(seven, *m).empty()) << def->info.name;
      EXPECT_EQ(repeated_insn(seven).def, def);
      const std::int64_t extra = count_of(stream_probe().build(*m, params, 1), def->info.name) - 1;
      EXPECT_EQ(count_of(seven, def->info.name), 7 + extra) << def->info.name;
      EXPECT_GT(time_ns(stream_probe(), *m, params, 40), time_ns(stream_probe(), *m, params, 8))
          << def->info.name << " on " << m->name();
    }
}

// With values there is nothing that a machine would find wrong either.
TEST(StreamProbe, ReadsNothingThatWasNotWritten) {
  int ran = 0;
  for (const isa::InsnDef* def : isa::instructions())
    for (const MachineSpec* m : machines()) {
      if (isa::lacks(*m, *def) || def->info.by_dma) continue;
      for (const char* dependent : {"dependent=0", "dependent=1"}) {
        const Words words{cat("insn=", def->info.name), "n=64", dependent};
        const Params params = stream_probe().params(words);
        ir::Program program;
        try {
          program = stream_probe().build(*m, params, 9);
        } catch (const UserError& error) {
          EXPECT_THAT(error.report().what, HasSubstr("cannot be an operand of the next one"));
          continue;
        }
        const sim::Result result = sim::run(program, *m, {}, {});
        EXPECT_TRUE(result.findings.empty())
            << def->info.name << " on " << m->name() << ": " << result.findings.front().what;
        ++ran;
      }
    }
  EXPECT_GT(ran, 40);
}

TEST(StreamProbe, AccumulatingProductsStartTheirSums) {
  for (const MachineSpec* m : machines()) {
    const Params params = stream_probe().params(Words{"insn=nc_matmul", "accumulate=1", "n=64"});
    const ir::Program program = stream_probe().build(*m, params, 9);
    EXPECT_TRUE(sim::run(program, *m, {}, {}).findings.empty());
    EXPECT_EQ(count_of(program, "nc_matmul"), 9 + 4) << "one start for each of the ring";
  }
}

// --- slopes ---

constexpr double kVector1 = 1.12, kVector2 = 0.96, kScalar1 = 1.4, kTensor1 = 2.8, kTensor2 = 2.4;
constexpr double kIssue = 16;

TEST(StreamProbe, IndependentInstructionsTakeTheirOccupancy) {
  EXPECT_NEAR(stream("trn1", {"insn=tensor_tensor"}), (2 * 512 + kIssue) / kVector1, 0.01);
  EXPECT_NEAR(stream("trn1", {"insn=tensor_tensor", "src=psum"}), (512 + kIssue) / kVector1, 0.01);
  EXPECT_NEAR(stream("trn2", {"insn=tensor_copy", "dtype=bf16"}), (512 / 4 + kIssue) / kVector2,
              0.01);
  EXPECT_NEAR(stream("trn1", {"insn=activation", "n=8"}), (64 + kIssue) / kScalar1, 0.01);
  EXPECT_NEAR(stream("trn1", {"insn=nc_matmul", "dtype=bf16"}), 512 / kTensor1, 0.01);
  EXPECT_NEAR(stream("trn1", {"insn=nc_matmul"}), 4 * 512 / kTensor1, 0.01);
  // Past the power ramp, which both runs have behind them.
  EXPECT_NEAR(stream("trn2", {"insn=nc_matmul", "dtype=bf16", "short=32"}), (512 + 8) / kTensor2,
              0.01);
}

TEST(StreamProbe, DependentInstructionsAddTheirLatency) {
  for (const char* ring : {"ring=1", "ring=4"})
    EXPECT_NEAR(stream("trn1", {"insn=tensor_tensor", "dependent=1", ring}),
                (2 * 512 + kIssue + 150) / kVector1, 0.01)
        << ring;
  EXPECT_NEAR(stream("trn1", {"insn=tensor_reduce", "n=1", "dependent=1"}),
              (64 + kIssue + 150) / kVector1, 0.01);
}

TEST(StreamProbe, AttributesAndFormsOfOperandsReachTheInstruction) {
  const Words words{"insn=activation", "fn=exp",    "src=psum",       "dst=sbuf:bf16",
                    "bias=tile",       "scale=0.5", "reduce_res=tile"};
  const Params params = stream_probe().params(words);
  const ir::Program program = stream_probe().build(find_machine("trn1"), params, 1);
  const auto& insn = *static_cast<const isa::Activation*>(repeated_insn(program).self());
  EXPECT_EQ(insn.fn, UnaryFn::kExp);
  EXPECT_TRUE(insn.data.in_psum() && insn.dst.in_sbuf());
  EXPECT_EQ(insn.dst.dtype, DType::kBf16);
  EXPECT_EQ(insn.bias.tile.free_size(), 1);
  EXPECT_EQ(insn.scale.value, 0.5F);
  EXPECT_EQ(insn.reduce_res.free_size(), 1);
  EXPECT_NEAR(stream("trn1", words), (512 + kIssue + 64) / kScalar1, 0.01);
}

// dma_copy has an attribute of a name that the probe uses itself.
TEST(StreamProbe, AttributesThatShareANameWithAParameterTakeAPrefix) {
  const Params params = stream_probe().params(Words{"insn=dma_copy", "ring=2", "insn.ring=scalar"});
  const ir::Program program = stream_probe().build(find_machine("trn1"), params, 8);
  const auto& insn = *static_cast<const isa::DmaCopy*>(repeated_insn(program).self());
  EXPECT_EQ(insn.ring, isa::DmaRing::kScalar);
  EXPECT_EQ(program.extents, std::vector<std::int64_t>{4}) << "four turns of a ring of two";
}

TEST(StreamProbe, RefusesWhatItCannotRead) {
  const auto says = [](const Words& words) { return refusal(stream_probe(), "trn2", words); };
  EXPECT_THAT(says({"insn=tensor_tensr"}), HasSubstr("did you mean 'tensor_tensor'"));
  EXPECT_THAT(says({"insn=activation", "fn=exq"}), HasSubstr("'exp'"));
  EXPECT_THAT(says({"insn=activation", "fnn=exp"}), HasSubstr("did you mean 'fn'"));
  EXPECT_THAT(says({"dst=psun"}), HasSubstr("did you mean 'psum'"));
  EXPECT_THAT(says({"dtype=bf17"}), HasSubstr("'bf16'"));
  EXPECT_THAT(says({"insn=tensor_scalar", "engine=VektorE"}), HasSubstr("'VectorE'"));
  EXPECT_THAT(says({"insn=nc_matmul", "dst=sbuf"}), HasSubstr("dst must lie in PSUM"));
  EXPECT_THAT(says({"insn=nc_matmul", "dependent=1"}), HasSubstr("operand of the next one"));
  EXPECT_THAT(says({"p=129"}), HasSubstr("from 1 to 128"));
  EXPECT_THAT(says({"n=60000"}), HasSubstr("SBUF has no room"));
  EXPECT_THAT(says({"p=1", "p=2"}), HasSubstr("given twice"));
}

// --- transfers ---

// 8 partitions an engine; one descriptor of 31 ns + bytes / 18.3 (trn1), 23 + bytes / 24.8 (trn2).
TEST(DmaProbe, TransfersTakeTheirDescriptorsOnTheBusiestEngine) {
  EXPECT_NEAR(dma("trn1", {}), 8 * (31 + 8192 / 18.3), 0.1);
  EXPECT_NEAR(dma("trn2", {"partitions=1", "bytes_per_partition=4096"}), 23 + 4096 / 24.8, 0.1);
  EXPECT_NEAR(dma("trn2", {"pattern=strided"}), 8 * 16 * (23 + 512 / 24.8), 0.1);
  EXPECT_NEAR(dma("trn2", {"direction=store"}), dma("trn2", {}), 0.1);
}

TEST(DmaProbe, SmallTransfersTakeTheirTriggers) {
  const Words tiny{"partitions=1", "bytes_per_partition=64"};
  EXPECT_NEAR(dma("trn1", {"partitions=1", "bytes_per_partition=64", "pattern=gather"}), 600, 0.1)
      << "software descriptors";
  EXPECT_NEAR(dma("trn1", tiny), 100, 0.1) << "one trigger, longer than 31 + 512 / 18.3";
  EXPECT_NEAR(dma("trn1", {"partitions=1", "bytes_per_partition=64", "queues=2"}), 31 + 512 / 18.3,
              0.1)
      << "two sequencers: now the engine";
}

TEST(DmaProbe, CopiesWithinHbmUseAllEnginesAndReadAndWriteIt) {
  EXPECT_NEAR(dma("trn1", {"partitions=16"}), 8 * (31 + 8192 / 18.3), 0.1) << "two engines work";
  EXPECT_NEAR(dma("trn1", {"direction=copy", "partitions=16"}), 2 * 16 * 8192 / 410.0, 0.1)
      << "a row an engine: now the stack's 410 B/ns";
}

TEST(DmaProbe, RefusesWhatDoesNotFitTogether) {
  const auto says = [](const Words& words) { return refusal(dma_probe(), "trn1", words); };
  EXPECT_THAT(says({"pattern=gather", "direction=store"}), HasSubstr("use direction=load"));
  EXPECT_THAT(says({"pattern=scater"}), HasSubstr("did you mean 'scatter'"));
  EXPECT_THAT(says({"pattern=scatter", "direction=store", "dge=static"}), HasSubstr("software"));
  EXPECT_THAT(says({"pattern=strided", "piece_bytes=500"}), HasSubstr("multiple of piece_bytes"));
  EXPECT_THAT(says({"dge=software", "queues=2"}), HasSubstr("use queues=1"));
  EXPECT_THAT(says({"dge=hardware"}), HasSubstr("no hardware descriptor generation"));
  EXPECT_THAT(says({"bytes_per_partition=65536"}), HasSubstr("SBUF has no room"));
  EXPECT_THAT(says({"bytes_per_partitions=1"}), HasSubstr("did you mean 'bytes_per_partition'"));
}

}  // namespace
}  // namespace krait::kernels
