// Are the programs that kernels build legal everywhere, do they move and compute what they claim,
// and do they refuse what they cannot do, by name? What they compute is asked in tests/sweep.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/ir/text.hpp"
#include "krait/kernels/kernel.hpp"
#include "krait/machine/registry.hpp"
#include "krait/sim/run.hpp"

namespace krait::kernels {
namespace {

using ::testing::HasSubstr;

// --- problems ---

struct Scan {
  std::int64_t batch = 1, d_inner = 128, d_state = 16, length = 128;
  bool all = true;  // D, z, delta_bias, initial_state
};

Problem scan_problem(const Scan& s) {
  Problem p;
  const Shape tokens{s.batch, s.d_inner, s.length};
  p.inputs["u"] = p.inputs["delta"] = {DType::kF32, tokens};
  p.inputs["A"] = {DType::kF32, {s.d_inner, s.d_state}};
  p.inputs["B"] = p.inputs["C"] = {DType::kF32, {s.batch, s.d_state, s.length}};
  if (s.all) {
    p.inputs["z"] = {DType::kF32, tokens};
    p.inputs["D"] = p.inputs["delta_bias"] = {DType::kF32, {s.d_inner}};
    p.inputs["initial_state"] = {DType::kF32, {s.batch, s.d_inner, s.d_state}};
  }
  p.attrs["delta_softplus"] = true;
  return p;
}

Problem norm_problem(std::int64_t rows, std::int64_t width, DType dtype = DType::kF32) {
  Problem p;
  p.inputs["x"] = {dtype, {rows, width}};
  p.inputs["weight"] = {DType::kF32, {width}};
  return p;
}

std::vector<Problem> problems_of(const Kernel& kernel) {
  if (kernel.op == "rmsnorm")
    return {norm_problem(1, 1), norm_problem(300, 700), norm_problem(129, 20000, DType::kBf16),
            norm_problem(40, 9000)};
  return {scan_problem({1, 1, 1, 1, false}), scan_problem({2, 129, 16, 130}),
          scan_problem({1, 300, 130, 70, false}), scan_problem({1, 128, 3, 513})};
}

ir::Program build(const std::string& name, const MachineSpec& machine, const Problem& problem,
                  const std::vector<std::string>& assignments = {}) {
  const Kernel& kernel = find_kernel(name);
  Params params(kernel.params);
  for (const std::string& a : assignments) params.set_assignment(a);
  return kernel.build(machine, problem, params);
}

sim::Result timed(const ir::Program& program, const MachineSpec& machine) {
  return sim::run(program, machine, {}, {.data = false});
}

/// Calls fn(insn) for every instruction, once.
void each_insn(const ir::Block& block, const std::function<void(const ir::Insn&)>& fn) {
  for (const ir::Node& node : block) {
    if (node.insn() != nullptr) fn(*node.insn());
    if (node.loop() != nullptr) each_insn(node.loop()->body, fn);
  }
}

// --- all kernels ---

TEST(Kernels, EveryProgramIsLegalOnEveryMachine) {
  for (const Kernel& kernel : kernels())
    for (const MachineSpec* machine : machines())
      for (const Problem& problem : problems_of(kernel)) {
        const ir::Program program = kernel.build(*machine, problem, Params(kernel.params));
        const auto broken = ir::verify(program, *machine);
        EXPECT_TRUE(broken.empty())
            << kernel.name << " on " << machine->name() << ": " << broken.front().violation.what;
      }
}

TEST(Kernels, EveryProgramPrintsAndParsesBackToTheSame) {
  for (const Kernel& kernel : kernels())
    for (const MachineSpec* machine : machines())
      for (const Problem& problem : problems_of(kernel)) {
        const ir::Program program = kernel.build(*machine, problem, Params(kernel.params));
        const std::string text = ir::print(program);
        const ir::Program again = ir::parse(text);
        EXPECT_EQ(ir::print(again), text) << kernel.name;
        const sim::Result a = timed(program, *machine), b = timed(again, *machine);
        EXPECT_EQ(a.time, b.time) << kernel.name;
        EXPECT_EQ(a.path, b.path) << kernel.name;
      }
}

// A loop nest: a longer sequence or more rows are more turns, not more text.
TEST(Kernels, ProgramsDoNotGrowWithTheLoopCount) {
  const MachineSpec& m = find_machine("trn2");
  const auto size = [&](const Kernel& k, std::int64_t factor) {
    const Problem p = k.op == "rmsnorm" ? norm_problem(128 * 8 * factor, 700)
                                        : scan_problem({1, 128, 16, 512 * 4 * factor});
    return ir::print(k.build(m, p, Params(k.params))).size();
  };
  for (const Kernel& k : kernels())
    EXPECT_LT(static_cast<double>(size(k, 16)), 1.02 * static_cast<double>(size(k, 1))) << k.name;
}

TEST(Kernels, ParametersOutOfRangeAreRefusedByName) {
  int asked = 0;
  for (const Kernel& kernel : kernels())
    for (const ParamSpec& spec : kernel.params) {
      std::vector<std::string> wrong{"nonsense"};
      if (spec.kind == ParamKind::kInt)
        wrong = {cat(static_cast<std::int64_t>(spec.min) - 1),
                 cat(static_cast<std::int64_t>(spec.max) + 1), "1.5", ""};
      for (const std::string& value : wrong) {
        Params params(kernel.params);
        try {
          params.set(spec.name, value);
          ADD_FAILURE() << kernel.name << " takes " << spec.name << "=" << value;
        } catch (const UserError& error) {
          EXPECT_THAT(error.report().text(), HasSubstr(spec.name));
        }
        ++asked;
      }
    }
  EXPECT_GE(asked, 10);
}

TEST(Kernels, AnUnknownKernelGetsTheNearestNames) {
  try {
    (void)find_kernel("scan_hardwear");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.report().fix, HasSubstr("scan_hardware"));
  }
}

// --- refusals: by name, as the caller's error ---

std::string refusal(const std::string& kernel, const Problem& problem,
                    const std::vector<std::string>& assignments = {}) {
  try {
    (void)build(kernel, find_machine("trn1"), problem, assignments);
  } catch (const UserError& error) {
    return error.report().text();
  }
  return "accepted";
}

TEST(Kernels, ScansRefuseWhatTheyCannotDo) {
  for (const std::string kernel : {"scan_stepwise", "scan_logdepth", "scan_hardware"}) {
    Problem bf16 = scan_problem({});
    bf16.inputs["u"].dtype = DType::kBf16;
    EXPECT_THAT(refusal(kernel, bf16), HasSubstr("u must be f32")) << kernel;
    for (const char* name : {"u", "delta", "A", "B", "C"}) {
      Problem missing = scan_problem({});
      missing.inputs.erase(name);
      EXPECT_THAT(refusal(kernel, missing), HasSubstr(cat("input '", name, "' is missing")));
    }
    for (const char* name : {"delta", "A", "B", "C", "D", "z", "delta_bias", "initial_state"}) {
      Problem shape = scan_problem({});
      if (std::string(name) == "A") continue;  // A says what d_state is
      shape.inputs[name].shape.back() += 1;
      EXPECT_THAT(refusal(kernel, shape), HasSubstr(cat(name, " has another shape"))) << kernel;
    }
    Problem empty = scan_problem({});
    empty.inputs["u"].shape = {1, 128, 0};
    EXPECT_THAT(refusal(kernel, empty), HasSubstr("at least 1"));
    Problem groups = scan_problem({});
    groups.inputs["B"].shape = {1, 2, 16, 128}, groups.inputs["C"].shape = {1, 4, 16, 128};
    EXPECT_THAT(refusal(kernel, groups), HasSubstr("the groups of C do not fit"));
    groups.inputs["B"].shape = {1, 3, 16, 128};
    EXPECT_THAT(refusal(kernel, groups), HasSubstr("the groups of B do not fit"));
  }
}

TEST(Kernels, OneGroupGoesWithAnyNumberOfTheOther) {
  for (const std::string kernel : {"scan_stepwise", "scan_logdepth", "scan_hardware"}) {
    Problem p = scan_problem({});
    p.inputs["B"].shape = {1, 1, 16, 128}, p.inputs["C"].shape = {1, 4, 16, 128};
    EXPECT_EQ(refusal(kernel, p), "accepted") << kernel;
    std::swap(p.inputs["B"], p.inputs["C"]);
    EXPECT_EQ(refusal(kernel, p), "accepted") << kernel;
  }
}

TEST(Kernels, NormsRefuseWhatTheyCannotDo) {
  for (const std::string kernel : {"rmsnorm_naive", "rmsnorm_fused"}) {
    Problem gated = norm_problem(4, 8);
    gated.inputs["z"] = gated.inputs["x"];
    EXPECT_THAT(refusal(kernel, gated), HasSubstr("no gate"));
    Problem groups = norm_problem(4, 8);
    groups.attrs["group_size"] = std::int64_t{4};
    EXPECT_THAT(refusal(kernel, groups), HasSubstr("group_size 4"));
    EXPECT_THAT(refusal(kernel, norm_problem(4, 8, DType::kF16)),
                HasSubstr("x must be f32 or bf16"));
    Problem weight = norm_problem(4, 8);
    weight.inputs["weight"].shape = {9};
    EXPECT_THAT(refusal(kernel, weight), HasSubstr("weight must be [width]"));
    weight.inputs.erase("weight");
    EXPECT_THAT(refusal(kernel, weight), HasSubstr("input 'weight' is missing"));
  }
}

TEST(Kernels, WhatDoesNotFitOnChipIsTheCallersErrorWithARemedy) {
  const std::string text = refusal("rmsnorm_fused", norm_problem(256, 40000), {"chunk=8192"});
  EXPECT_THAT(text, HasSubstr("capacity: SBUF has no room for"));
  EXPECT_THAT(text, HasSubstr("use smaller tiles"));
  EXPECT_EQ(refusal("rmsnorm_fused", norm_problem(256, 40000)), "accepted");
}

// No parameter or shape may run into an assertion of ours.
TEST(Kernels, ExtremeShapesAreBuiltOrRefusedNeverAnInternalError) {
  const auto ask = [](const std::string& kernel, const Problem& problem,
                      const std::vector<std::string>& assignments) {
    for (const MachineSpec* m : machines()) try {
        EXPECT_TRUE(ir::verify(build(kernel, *m, problem, assignments), *m).empty()) << kernel;
      } catch (const UserError&) {
      }
  };
  for (const std::int64_t width : {1, 2, 8191, 8192, 8193, 50000, 1000000})
    for (const char* chunk : {"chunk=1024", "chunk=8192"}) {
      ask("rmsnorm_naive", norm_problem(130, width), {chunk});
      ask("rmsnorm_fused", norm_problem(130, width, DType::kBf16), {chunk});
    }
  for (const std::int64_t d_state : {1, 128, 129, 300})
    for (const std::int64_t d_inner : {1, 129}) {
      ask("scan_hardware", scan_problem({1, d_inner, d_state, 40}), {"chunk=512"});
      ask("scan_hardware", scan_problem({1, d_inner, d_state, 40}), {"chunk=1"});
      ask("scan_stepwise", scan_problem({1, d_inner, d_state, 40}), {"columns=1"});
      ask("scan_stepwise", scan_problem({1, d_inner, d_state, 40}), {"columns=512"});
      ask("scan_logdepth", scan_problem({1, d_inner, d_state, 40}), {"dtype=bf16"});
    }
}

// --- RMSNorm: five row transfers against two ---

TEST(Rmsnorm, FusedMovesEveryRowInAndOutOnce) {
  for (const MachineSpec* m : machines())
    for (const DType dtype : {DType::kF32, DType::kBf16}) {
      constexpr std::int64_t kRows = 300, kWidth = 4096;
      const sim::Result r =
          timed(build("rmsnorm_fused", *m, norm_problem(kRows, kWidth, dtype)), *m);
      const std::int64_t rows = kRows * kWidth * static_cast<std::int64_t>(size_of(dtype));
      EXPECT_EQ(r.hbm_read_bytes, rows + kWidth * 4) << "x, and one row of weights";
      EXPECT_EQ(r.hbm_write_bytes, rows);
    }
}

TEST(Rmsnorm, FusedReadsRowsTwiceThatDoNotFit) {
  const MachineSpec& m = find_machine("trn1");
  constexpr std::int64_t kRows = 300, kWidth = 20000;
  const sim::Result r = timed(build("rmsnorm_fused", m, norm_problem(kRows, kWidth)), m);
  EXPECT_EQ(r.hbm_read_bytes, 2 * kRows * kWidth * 4 + kWidth * 4);
  EXPECT_EQ(r.hbm_write_bytes, kRows * kWidth * 4);
}

TEST(Rmsnorm, NaiveMovesEveryRowFiveTimes) {
  for (const MachineSpec* m : machines())
    for (const DType dtype : {DType::kF32, DType::kBf16}) {
      constexpr std::int64_t kRows = 300, kWidth = 5000, kPieces = 2;  // chunks of 4096
      const sim::Result r =
          timed(build("rmsnorm_naive", *m, norm_problem(kRows, kWidth, dtype)), *m);
      const std::int64_t rows = kRows * kWidth * static_cast<std::int64_t>(size_of(dtype));
      // x, squares and x again; weights on 128 partitions; the row factors once a piece.
      EXPECT_EQ(r.hbm_read_bytes, 3 * rows + kWidth * 4 + kPieces * kRows * 4);
      EXPECT_EQ(r.hbm_write_bytes, 2 * rows + kRows * 4) << "squares and y; row factors";
    }
}

// --- the log-depth scan ---

std::int64_t depth(const std::string& kernel, std::int64_t length) {
  const MachineSpec& m = find_machine("trn1");
  return timed(build(kernel, m, scan_problem({1, 32, 16, length, false})), m).depth;
}

TEST(ScanLogdepth, DepthGrowsByTheSameStepForEveryDoubling) {
  const std::int64_t step = depth("scan_logdepth", 16) - depth("scan_logdepth", 8);
  EXPECT_GT(step, 0);
  EXPECT_LE(step, 6) << "a round: shift, product, sum";
  for (const std::int64_t length : {32, 64, 128})
    EXPECT_EQ(depth("scan_logdepth", length) - depth("scan_logdepth", length / 2), step) << length;
  // The stepwise scan adds two dependent instructions for every token.
  EXPECT_EQ(depth("scan_stepwise", 24) - depth("scan_stepwise", 16), 16);
}

TEST(ScanLogdepth, EveryShiftIsAProductWithAConstantShiftMatrix) {
  const MachineSpec& m = find_machine("trn2");
  const ir::Program program = build("scan_logdepth", m, scan_problem({1, 128, 16, 128}));
  std::map<std::string, int> products;  // by stationary shift matrix
  each_insn(program.body, [&](const ir::Insn& insn) {
    isa::for_each_tile(
        *insn.def, insn.self(), [&](const isa::FieldInfo& field, const isa::Tile& t) {
          const std::string& buffer = program.buffers[t.buffer].name;
          if (buffer.starts_with("shift")) {
            const std::string_view name = insn.def->info.name;
            if (name == "nc_matmul") {
              EXPECT_EQ(field.name, "stationary");
              ++products[buffer];
            } else {
              EXPECT_TRUE(name == "memset" || name == "affine_select")
                  << name << " writes a constant";
            }
          }
          // Nothing else moves data between partitions: all but products stay where they are.
          const bool moves = insn.def->info.engine == isa::Engine::kTensor || t.in_hbm();
          EXPECT_TRUE(moves || t.partition == 0) << insn.def->info.name;
        });
  });
  std::set<std::string> shifts;
  for (const auto& [name, count] : products) shifts.insert(name);
  EXPECT_EQ(shifts, (std::set<std::string>{"shift1", "shift2", "shift4", "shift8", "shift16",
                                           "shift32", "shift64"}));
  EXPECT_EQ(products.at("shift1"), 2) << "decay and input";
}

TEST(ScanHardware, RunsOnTheScanInstruction) {
  for (const MachineSpec* m : machines()) {
    std::map<std::string_view, int> count;
    each_insn(build("scan_hardware", *m, scan_problem({})).body,
              [&](const ir::Insn& insn) { ++count[insn.def->info.name]; });
    EXPECT_GT(count["tensor_tensor_scan"], 0);
    const ir::Program stepwise = build("scan_stepwise", *m, scan_problem({}));
    each_insn(stepwise.body,
              [](const ir::Insn& insn) { EXPECT_NE(insn.def->info.name, "tensor_tensor_scan"); });
  }
}

}  // namespace
}  // namespace krait::kernels
