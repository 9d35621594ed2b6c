// Meaning and time of whole programs: do both agree, are they repeatable, are faults reported?

#include "krait/sim/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"
#include "krait/dsl/builder.hpp"
#include "krait/machine/registry.hpp"

namespace krait::sim {
namespace {

using dsl::Hbm;
using dsl::KernelBuilder;
using dsl::Ref;
using ::testing::HasSubstr;

constexpr std::int64_t kRows = 300, kWidth = 96;

/// out = silu(x) + x, rows in tiles of 128 with a ragged tail, double buffered.
ir::Program silu_plus(const MachineSpec& machine) {
  KernelBuilder kb("silu_plus", machine);
  const Hbm x = kb.input("x", DType::kF32, {kRows, kWidth});
  const Hbm out = kb.output("out", DType::kF32, {kRows, kWidth});
  kb.tiles(kRows, 128, [&](const Affine&, const Affine& row, std::int64_t p) {
    const Ref in = kb.sbuf("in", DType::kF32, p, {kWidth}, 2);
    const Ref y = kb.sbuf("y", DType::kF32, p, {kWidth}, 2);
    kb.emit(isa::DmaCopy{.dst = in, .src = x.view(row * kWidth, kWidth, p, {{1, kWidth}})});
    kb.emit(isa::Activation{.dst = y, .data = in, .fn = UnaryFn::kSilu});
    kb.emit(isa::TensorTensor{.dst = y, .a = y, .b = in, .op = isa::AluOp::kAdd});
    kb.emit(isa::DmaCopy{.dst = out.view(row * kWidth, kWidth, p, {{1, kWidth}}),
                         .src = y,
                         .ring = isa::DmaRing::kGpSimd});
  });
  return kb.finish();
}

TensorMap inputs() {
  Tensor x(DType::kF32, {kRows, kWidth});
  fill_normal(x.values<float>(), 1, 0);
  return {{"x", x}};
}

/// out = b(a(x)) with a kept in `dtype`, then widened.
ir::Program through(DType dtype, const MachineSpec& machine) {
  KernelBuilder kb("through", machine);
  const Hbm x = kb.input("x", DType::kF32, {1, 1});
  const Hbm out = kb.output("out", DType::kF32, {1, 1});
  const Ref wide = kb.sbuf("wide", DType::kF32, 1, {1}), kept = kb.sbuf("kept", dtype, 1, {1});
  kb.emit(isa::DmaCopy{.dst = wide, .src = x.view(0, 1, 1, {{1, 1}})});
  kb.emit(isa::TensorCopy{.dst = kept, .src = wide});
  kb.emit(isa::TensorCopy{.dst = wide, .src = kept});
  kb.emit(isa::DmaCopy{.dst = out.view(0, 1, 1, {{1, 1}}), .src = wide});
  return kb.finish();
}

TEST(Run, TimeIsTheSameWithAndWithoutData) {
  for (const MachineSpec* m : machines()) {
    const ir::Program program = silu_plus(*m);
    const Result with = run(program, *m, inputs()), without = run(program, *m, {}, {.data = false});
    EXPECT_GT(with.time, Ps{0});
    EXPECT_EQ(with.time, without.time);
    EXPECT_EQ(with.path, without.path);
    EXPECT_EQ(with.busy, without.busy);
    EXPECT_TRUE(without.outputs.empty());
  }
}

TEST(Run, DataIsTheSameWithAndWithoutTime) {
  const MachineSpec& m = find_machine("trn2");
  const ir::Program program = silu_plus(m);
  const Result data = run(program, m, inputs(), {.timing = false});
  EXPECT_EQ(data.time, Ps{0});
  EXPECT_EQ(data.outputs.at("out").to_f64(), run(program, m, inputs()).outputs.at("out").to_f64());
}

TEST(Run, CountersEqualWhatIsCountedByHand) {
  for (const MachineSpec* m : machines()) {
    const Result r = run(silu_plus(*m), *m, {}, {.data = false});
    EXPECT_EQ(r.hbm_read_bytes, kRows * kWidth * 4);
    EXPECT_EQ(r.hbm_write_bytes, kRows * kWidth * 4);
    EXPECT_EQ(r.instructions.at("DMA"), 6);  // 2 whole tiles and a ragged one, in and out
    EXPECT_EQ(r.instructions.at("ScalarE"), 3);
    EXPECT_EQ(r.instructions.at("VectorE"), 3);
    EXPECT_EQ(r.work.at("VectorE"), 3 * kWidth);
    EXPECT_EQ(r.depth, 4) << "load, silu, add, store; tiles do not depend on one another";
    Ps sum{};
    for (const auto& [cause, time] : r.path) sum += time;
    EXPECT_EQ(sum, r.time);
    EXPECT_EQ(r.path.at(r.bound_by),
              std::max_element(r.path.begin(), r.path.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
              })->second);
  }
}

TEST(Run, TwoRunsGiveTheSameTraceByteForByte) {
  const MachineSpec& m = find_machine("trn2");
  const ir::Program program = silu_plus(m);
  TraceSink first, second;
  (void)run(program, m, inputs(), {.trace = &first});
  (void)run(silu_plus(m), m, {}, {.data = false, .trace = &second});
  EXPECT_EQ(trace_json(first, "k"), trace_json(second, "k"));
}

// Viewers nest events of a track: one that starts within another must end within it.
TEST(Run, EventsOfATrackFollowOneAnother) {
  for (const MachineSpec* m : machines()) {
    TraceSink trace;
    (void)run(silu_plus(*m), *m, {}, {.data = false, .trace = &trace});
    EXPECT_EQ(trace.events().size(), 12U);
    std::map<int, double> end;
    const auto document = nlohmann::json::parse(trace_json(trace, "k"));
    for (const auto& e : document.at("traceEvents")) {
      if (e.at("ph") != "X") continue;
      double& last = end[e.at("tid")];
      EXPECT_GE(e.at("ts").get<double>(), last - 1e-9) << m->name() << " " << e;
      last = e.at("ts").get<double>() + e.at("dur").get<double>();
    }
  }
}

TEST(Run, RoundingIsWhatTheTypeKeepsAndCanBeLeftOut) {
  const MachineSpec& m = find_machine("trn2");
  Tensor x(DType::kF32, {1, 1});
  x.values<float>()[0] = 1.00390625F + 0x1p-20F;  // 1 + 2^-8 + 2^-20: bf16 has steps of 2^-7 here
  const auto out = [&](bool rounding) {
    return run(through(DType::kBf16, m), m, {{"x", x}}, {.rounding = rounding})
        .outputs.at("out")
        .values<float>()[0];
  };
  EXPECT_EQ(out(true), 1.0078125F);
  EXPECT_EQ(out(false), x.values<float>()[0]);
}

TEST(Run, RoundingDoesNotChangeF32) {
  const MachineSpec& m = find_machine("trn2");
  const ir::Program program = silu_plus(m);
  EXPECT_EQ(run(program, m, inputs()).outputs.at("out").to_f64(),
            run(program, m, inputs(), {.rounding = false}).outputs.at("out").to_f64());
}

// --- findings ---

ir::Program reads_nothing(const MachineSpec& machine) {
  KernelBuilder kb("reads_nothing", machine);
  const Hbm out = kb.output("out", DType::kF32, {128, 4});
  const Ref never = kb.sbuf("never", DType::kF32, 128, {4}),
            y = kb.sbuf("y", DType::kF32, 128, {4});
  kb.emit(isa::TensorCopy{.dst = y, .src = never});
  kb.emit(isa::DmaCopy{.dst = out.view(0, 4, 128, {{1, 4}}), .src = y});
  return kb.finish();
}

TEST(Run, ReadingWhatNothingHasWrittenIsAFinding) {
  const MachineSpec& m = find_machine("trn1");
  const Result r = run(reads_nothing(m), m, {});
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, "uninitialised-read");
  EXPECT_THAT(r.findings[0].what, HasSubstr("tensor_copy"));
  EXPECT_THAT(r.findings[0].where, HasSubstr("reads_nothing"));
  EXPECT_FALSE(r.findings[0].fix.empty());
}

// Two tiles accumulate into one register each lane; without the reset that is a finding.
TEST(Run, AccumulatorsLastBetweenInstructionsAndStartUnset) {
  const MachineSpec& m = find_machine("trn2");
  for (const bool reset : {true, false}) {
    KernelBuilder kb("sums", m);
    const Hbm out = kb.output("out", DType::kF32, {128, 1});
    const Ref x = kb.sbuf("x", DType::kF32, 128, {4}), sum = kb.sbuf("sum", DType::kF32, 128, {1});
    kb.emit(isa::Memset{.dst = x, .value = 1.5F});
    isa::TensorScalarReduce add;
    add.dst = x, add.data = x, add.operand0 = 2.0F;
    add.reduce_cmd = reset ? isa::ReduceCmd::kResetReduce : isa::ReduceCmd::kReduce;
    kb.emit(add);
    add.reduce_cmd = isa::ReduceCmd::kReduce, add.reduce_res = sum;
    kb.emit(add);
    kb.emit(isa::DmaCopy{.dst = out.view(0, 1, 128, {{1, 1}}), .src = sum});
    const Result r = run(kb.finish(), m, {});
    if (reset) {
      EXPECT_TRUE(r.findings.empty());
      EXPECT_EQ(r.outputs.at("out").values<float>()[77], 4 * 3 + 4 * 6);
      continue;
    }
    ASSERT_EQ(r.findings.size(), 1U);
    EXPECT_EQ(r.findings[0].kind, "accumulator-unset");
    EXPECT_THAT(r.findings[0].fix, HasSubstr("reset_reduce"));
  }
}

TEST(Run, StrictTurnsAFindingIntoAFault) {
  const MachineSpec& m = find_machine("trn1");
  EXPECT_THROW((void)run(reads_nothing(m), m, {}, {.strict = true}), MachineFault);
  EXPECT_NO_THROW((void)run(silu_plus(m), m, inputs(), {.strict = true}));
}

TEST(Run, AnOutputThatIsNotWholeIsAFinding) {
  const MachineSpec& m = find_machine("trn1");
  KernelBuilder kb("half", m);
  const Hbm out = kb.output("out", DType::kF32, {128, 4});
  const Ref y = kb.sbuf("y", DType::kF32, 128, {4});
  kb.emit(isa::Memset{.dst = y, .value = 1});
  kb.emit(isa::DmaCopy{.dst = out.view(0, 4, 127, {{1, 4}}), .src = y.partitions(0, 127)});
  const Result r = run(kb.finish(), m, {});
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].kind, "output-unwritten");
  EXPECT_THAT(r.findings[0].what, HasSubstr("out"));
}

// --- what a caller may get wrong ---

std::string refusal(const MachineSpec& machine, const TensorMap& given) {
  try {
    (void)run(silu_plus(find_machine("trn1")), machine, given);
  } catch (const UserError& error) {
    return error.report().text();
  }
  return "accepted";
}

TEST(Run, RefusesMissingAndMisshapenInputsByName) {
  const MachineSpec& m = find_machine("trn1");
  EXPECT_THAT(refusal(m, {}), HasSubstr("input x"));
  EXPECT_THAT(refusal(m, {{"x", Tensor(DType::kF32, {kWidth, kRows})}}), HasSubstr("[96, 300]"));
  EXPECT_THAT(refusal(m, {{"x", Tensor(DType::kBf16, {kRows, kWidth})}}), HasSubstr("bf16"));
  EXPECT_EQ(refusal(m, inputs()), "accepted");
}

TEST(Run, RefusesAProgramOfAnotherMachine) {
  EXPECT_THAT(refusal(find_machine("trn2"), inputs()), HasSubstr("built for trn1, run on trn2"));
}

}  // namespace
}  // namespace krait::sim
