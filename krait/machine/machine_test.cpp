// Are the tables whole, do they agree with the totals the maker prints, and can they be found?

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/machine/registry.hpp"
#include "krait/machine/values.hpp"

namespace krait {
namespace {

using ::testing::HasSubstr;

const MachineSpec& trn1() {
  return find_machine("trn1");
}
const MachineSpec& trn2() {
  return find_machine("trn2");
}
const MachineSpec& trn3() {
  return find_machine("trn3");
}

std::uint64_t sbuf_total(const MachineSpec& m) {
  return m.geometry.sbuf_bytes_per_partition * m.geometry.partitions;
}

TEST(Machines, AreTheThreeGenerationsOldestFirst) {
  std::vector<std::string> names;
  int version = 1;
  for (const MachineSpec* machine : machines()) {
    names.emplace_back(machine->name());
    EXPECT_EQ(machine->identity.version, ++version);
    EXPECT_EQ(machine->identity.core, "NeuronCore-v" + std::to_string(version));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("trn1", "trn2", "trn3"));
}

TEST(Geometry, SbufTotalsAreThePrintedOnes) {
  EXPECT_EQ(sbuf_total(trn1()), 24_MiB);
  EXPECT_EQ(sbuf_total(trn2()), 28_MiB);
  EXPECT_EQ(sbuf_total(trn3()), 32_MiB);
}

TEST(Geometry, PsumIsTwoMebibytesInEightBanksOf512Floats) {
  for (const MachineSpec* m : machines()) {
    SCOPED_TRACE(m->name());
    const Geometry& g = m->geometry;
    EXPECT_EQ(g.psum_bytes_per_partition * g.partitions, 2_MiB);
    EXPECT_EQ(g.psum_bank_bytes * g.psum_banks, g.psum_bytes_per_partition);
    EXPECT_EQ(g.psum_bank_bytes / sizeof(float), 512u);
  }
}

TEST(Geometry, ReservedSbufLeavesTheUsableBytes) {
  EXPECT_EQ(trn1().sbuf_usable_bytes_per_partition(), 176_KiB);
  EXPECT_EQ(trn2().sbuf_usable_bytes_per_partition(), 224_KiB - 16_KiB - 8);
  EXPECT_EQ(trn3().sbuf_usable_bytes_per_partition(), 240_KiB);
  for (const MachineSpec* m : machines())
    EXPECT_EQ(m->sbuf_usable_bytes_per_partition() % m->geometry.sbuf_min_align_bytes, 0u);
}

TEST(Chip, HbmSharesAddUp) {
  for (const MachineSpec* m : machines()) {
    SCOPED_TRACE(m->name());
    const Chip& c = m->chip;
    EXPECT_EQ(c.hbm_bytes_per_core * c.cores, c.hbm_bytes);
    EXPECT_EQ(c.cores_per_stack * c.hbm_stacks, c.cores);
    // trn2's stack figure is measured and its chip figure printed to one digit: 4.6 % apart.
    EXPECT_NEAR(c.hbm_stack_bytes_per_ns * c.hbm_stacks / c.hbm_bytes_per_ns, 1.0, 0.05);
  }
}

// Peak = 2 operations * cells * clock / passes. The printed peaks have two or three digits, so half
// a unit of the last digit of the smallest (20) is 2.5 %.
TEST(TensorEngine, ClockAndArrayGiveThePrintedPeaks) {
  constexpr double kTolerance = 0.025;
  for (const MachineSpec* m : machines()) {
    SCOPED_TRACE(m->name());
    const TensorEngine& t = m->tensor;
    const double peak = 2e-3 * t.rows * t.columns * t.clock.value.ghz / t.passes;
    EXPECT_NEAR(peak / m->peaks.bf16_tflops, 1.0, kTolerance);
    EXPECT_NEAR(peak / t.passes_f32 / m->peaks.f32_tflops, 1.0, kTolerance);
    EXPECT_NEAR(peak * std::max<int>(1, t.double_row_k_factor) / m->peaks.f8_tflops, 1.0,
                kTolerance);
    if (m->isa.matmul_mx)
      EXPECT_NEAR(peak * t.mx_k_factor / m->peaks.mx_tflops, 1.0, kTolerance);
    else
      EXPECT_EQ(m->peaks.mx_tflops, 0.0);
  }
}

TEST(ElementwiseEngines, ClocksAreThePrintedOnes) {
  EXPECT_EQ(trn1().vector.clock.value.ghz, 1.12);
  EXPECT_EQ(trn2().vector.clock.value.ghz, 0.96);
  EXPECT_EQ(trn3().vector.clock.value.ghz, 1.2);
  EXPECT_EQ(trn1().scalar.clock.value.ghz, 1.4);
  EXPECT_EQ(trn2().scalar.clock.value.ghz, 1.2);
  EXPECT_EQ(trn1().tensor.clock.value.ghz, 2.8);
  EXPECT_EQ(trn3().tensor.clock.value.ghz, 2.4);
}

// The published transfers that the descriptor model must reproduce: bandwidth of 16 engines for
// rows of b bytes. Measured 259 and 354 B/ns on trn2 (AGENT); profiles are read to about 5 %.
TEST(Dma, DescriptorModelGivesThePublishedBandwidths) {
  const Dma& d = trn2().dma;
  const auto bandwidth = [&d](double b) {
    return d.engines * b / (d.descriptor_ns + b / d.bytes_per_ns);
  };
  EXPECT_NEAR(bandwidth(1024) / 259, 1.0, 0.05);
  EXPECT_NEAR(bandwidth(4096) / 354, 1.0, 0.05);
}

// The other two models were scaled so that rows of 4 KiB reach about 93 % of the practical peak.
TEST(Dma, ScaledModelsReachTheirPracticalPeaks) {
  for (const MachineSpec* m : {&trn1(), &trn3()}) {
    SCOPED_TRACE(m->name());
    const Dma& d = m->dma;
    const double rate = 4096 / (d.descriptor_ns + 4096 / d.bytes_per_ns);
    EXPECT_NEAR(rate / d.practical_bytes_per_ns, 0.93, 0.025);
    EXPECT_LE(d.practical_bytes_per_ns, d.peak_bytes_per_ns);
  }
}

TEST(Dma, SixteenEnginesOfEightPartitionsCoverTheMemory) {
  for (const MachineSpec* m : machines())
    EXPECT_EQ(m->dma.engines * m->dma.partitions_per_engine, m->geometry.partitions);
}

// A feature's flag and its numbers must not contradict each other.
TEST(Features, FlagsAndNumbersAgree) {
  for (const MachineSpec* m : machines()) {
    SCOPED_TRACE(m->name());
    EXPECT_EQ(m->isa.hwdge, m->dma.issue_hwdge_ns > 0);
    EXPECT_EQ(m->isa.hwdge, m->dma.hwdge_blocks > 0);
    EXPECT_EQ(m->isa.dma_transpose, m->dma.transpose_hbm_fraction > 0);
    EXPECT_EQ(m->isa.dma_transpose, m->dma.transpose_sbuf_fraction > 0);
    EXPECT_EQ(m->isa.exponential, m->vector_rates.exponential > 0);
    EXPECT_EQ(m->isa.quantize_mx, m->vector_rates.quantize_mx > 0);
    EXPECT_EQ(m->isa.rand2, m->vector_rates.rand2 > 0);
    EXPECT_EQ(m->isa.matmul_double_row, m->tensor.double_row_k_factor > 0);
    EXPECT_EQ(m->isa.matmul_mx, m->tensor.mx_k_factor > 0);
    EXPECT_EQ(m->isa.matmul_mx, m->types.mx_f8e4m3fn_x4);
    EXPECT_EQ(m->tensor.power_ramp, m->tensor.ramp_ns > 0);
    EXPECT_EQ(m->tensor.max_result_banks * 512, m->tensor.max_moving_f32);
    EXPECT_EQ(m->exclusions.fast_vector_shares_gpsimd_bus, m->exclusions.shared_bus_fraction < 1);
  }
}

// Rates divide: none but an absent feature's may be 0, and latencies come after occupancy.
TEST(Features, EveryPresentCostIsPositive) {
  for (const MachineSpec* m : machines()) {
    for_each_value(*m, [m](const ValueRow& row) {
      EXPECT_TRUE(std::isfinite(row.number)) << m->name() << ' ' << row.name;
      EXPECT_GE(row.number, 0) << m->name() << ' ' << row.name;
      const bool absent = row.name.ends_with("exponential") || row.name.ends_with("quantize_mx") ||
                          row.name.ends_with("rand2");
      if (row.unit == "elem/cycle" && !absent) {
        EXPECT_GT(row.number, 0) << m->name() << ' ' << row.name;
      }
    });
  }
}

TEST(Generations, DifferInMoreThanClocks) {
  const auto differing = [](const MachineSpec& a, const MachineSpec& b) {
    const auto left = list_values(a);
    const auto right = list_values(b);
    std::set<std::string> groups;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (left[i].text != right[i].text && left[i].unit != "GHz")
        groups.insert(left[i].name.substr(0, left[i].name.find('.')));
    return groups;
  };
  const std::vector<std::string> both = {"geometry",     "chip", "tensor",
                                         "vector_rates", "dma",  "isa"};
  EXPECT_THAT(differing(trn1(), trn2()), ::testing::IsSupersetOf(both));
  EXPECT_THAT(differing(trn2(), trn3()), ::testing::IsSupersetOf(both));
  EXPECT_THAT(differing(trn1(), trn2()), ::testing::Contains("exclusions"));
  EXPECT_THAT(differing(trn2(), trn3()), ::testing::Contains("types"));
}

TEST(Generations, TwoSbufOperandsCostTwiceOnTheFirstOnly) {
  EXPECT_EQ(trn1().vector_rates.tensor_tensor_sbuf, 0.5);
  EXPECT_EQ(trn2().vector_rates.tensor_tensor_sbuf, 1.0);
  EXPECT_EQ(trn3().vector_rates.tensor_tensor_sbuf, 1.0);
}

// A feature never goes away, except what v3's new ports made unnecessary.
TEST(Generations, LaterOnesKeepInstructions) {
  for (std::size_t i = 1; i < machines().size(); ++i) {
    const auto before = list_values(*machines()[i - 1]);
    const auto after = list_values(*machines()[i]);
    for (std::size_t k = 0; k < before.size(); ++k)
      if (before[k].name.starts_with("isa.")) {
        EXPECT_GE(after[k].number, before[k].number) << before[k].name;
      }
  }
}

TEST(ListValues, CoversEveryMemberOnce) {
  std::size_t members = 0;
#define KRAIT_COUNT_VALUE(type, name, unit, help) ++members;
#define KRAIT_COUNT_GROUP(type, member, values) values(KRAIT_COUNT_VALUE)
  KRAIT_MACHINE_GROUPS(KRAIT_COUNT_GROUP)
  std::set<std::string> names;
  const auto rows = list_values(trn2());
  for (const ValueRow& row : rows) names.insert(row.name);
  EXPECT_EQ(rows.size(), members);
  EXPECT_EQ(names.size(), members);
}

TEST(ListValues, ShowsValuesAsTheTablesWriteThem) {
  MachineSpec m = trn2();
  m.vector.clock.value = Clock{0.96};
  m.isa.hwdge.value = true;
  m.geometry.sbuf_bytes_per_partition.value = 229376;
  std::set<std::string> shown;
  for_each_value(m, [&shown](const ValueRow& row) { shown.insert(row.name + "=" + row.text); });
  EXPECT_THAT(shown, ::testing::IsSupersetOf({"vector.clock=0.96", "isa.hwdge=yes",
                                              "geometry.sbuf_bytes_per_partition=229376",
                                              "vector_rates.reciprocal=0.125"}));
}

TEST(TableHash, SeparatesMachinesAndIsTheSameEachTime) {
  std::set<std::uint64_t> hashes;
  for (const MachineSpec* m : machines()) {
    hashes.insert(table_hash(*m));
    EXPECT_EQ(table_hash(*m), table_hash(MachineSpec(*m)));
  }
  EXPECT_EQ(hashes.size(), machines().size());
}

// Job rows keep the hash, so its definition may not drift: computed again here, from its words.
TEST(TableHash, IsFnv1aOverNamesUnitsTextsAndEvidence) {
  std::uint64_t expected = 0xcbf29ce484222325u;
  const auto add = [&expected](const std::string& field) {
    for (std::size_t i = 0; i <= field.size(); ++i) {  // the terminating 0 counts
      expected ^= static_cast<unsigned char>(field.c_str()[i]);
      expected *= 1099511628211u;
    }
  };
  add("trn3");
  for (const ValueRow& row : list_values(trn3())) {
    add(row.name);
    add(std::string(row.unit));
    add(row.text);
    add(std::string(1, letter(row.source.evidence)));
  }
  EXPECT_EQ(table_hash(trn3()), expected);
}

TEST(TableHash, MovesWithValuesAndEvidenceButNotWithWording) {
  const std::uint64_t original = table_hash(trn2());
  MachineSpec m = trn2();
  m.dma.descriptor_ns.value += 1e-9;
  EXPECT_NE(table_hash(m), original);
  m = trn2();
  m.dma.descriptor_ns.source.evidence = Evidence::kAssumed;
  EXPECT_NE(table_hash(m), original);
  m = trn2();
  m.dma.descriptor_ns.source.text = "better words";
  EXPECT_EQ(table_hash(m), original);
}

TEST(FindMachine, KnowsAliasesInAnyCase) {
  for (const char* name : {"trn1", "TRN1", "inf2", "neuroncore-v2", "NeuronCore-v2", "gen2", "v2"})
    EXPECT_EQ(&find_machine(name), &trn1()) << name;
  for (const char* name : {"trn2", "neuroncore-v3", "gen3", "Trainium2"})
    EXPECT_EQ(&find_machine(name), &trn2()) << name;
  for (const char* name : {"trn3", "neuroncore-v4", "gen4"})
    EXPECT_EQ(&find_machine(name), &trn3()) << name;
  for (const MachineSpec* m : machines()) {
    EXPECT_EQ(&find_machine(m->name()), m);
    EXPECT_EQ(&find_machine(m->identity.core), m);
    EXPECT_EQ(&find_machine(m->identity.nki_target), m);
  }
}

Report report_for(std::string_view name) {
  try {
    (void)find_machine(name);
  } catch (const UserError& error) {
    return error.report();
  }
  ADD_FAILURE() << "no UserError for " << name;
  return {};
}

TEST(FindMachine, SuggestsTheNearestName) {
  const Report typo = report_for("tnr2");
  EXPECT_THAT(typo.what, HasSubstr("unknown machine"));
  EXPECT_THAT(typo.got, HasSubstr("'tnr2'"));
  EXPECT_THAT(typo.fix, HasSubstr("'trn2'"));
  EXPECT_THAT(report_for("neuroncore-v33").fix, HasSubstr("'neuroncore-v3'"));
}

TEST(FindMachine, ListsTheMachinesWhenNothingIsNear) {
  for (const char* name : {"h100-sxm5", ""})
    EXPECT_THAT(report_for(name).fix, HasSubstr("trn1, trn2, trn3"));
}

TEST(FindMachine, DoesNotEchoAHugeName) {
  const Report huge = report_for(std::string(1 << 20, 'x'));
  EXPECT_LT(huge.text().size(), 400u);
  EXPECT_THAT(huge.got, HasSubstr("...'"));
}

}  // namespace
}  // namespace krait
