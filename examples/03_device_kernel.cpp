// Lesson 3: a kernel for the NeuronCore.
//
// A kernel is data: a builder makes a Program of buffers, loops and instructions. It can be
// verified, printed, simulated with values, and timed. This lesson computes y = silu(x) * g for
// 300 rows of 1000 numbers, 128 rows at a time.

#include <cmath>
#include <cstdio>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"
#include "krait/dsl/builder.hpp"
#include "krait/ir/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/sim/run.hpp"

namespace isa = krait::isa;
using krait::DType;
using krait::Tensor;

constexpr std::int64_t kRows = 300, kWidth = 1000;

// 1. Tiles of 128 partitions; `tiles` runs the body for 128, 128 and the ragged 44. The last
//    argument of sbuf is a pool of two: the load of one tile overlaps the work on the one before.
krait::ir::Program silu_gate(const krait::MachineSpec& machine) {
  krait::dsl::KernelBuilder kb("silu_gate", machine);
  const krait::dsl::Hbm x = kb.input("x", DType::kF32, {kRows, kWidth});
  const krait::dsl::Hbm g = kb.input("g", DType::kF32, {kRows, kWidth});
  const krait::dsl::Hbm y = kb.output("y", DType::kF32, {kRows, kWidth});
  kb.tiles(kRows, 128, [&](const auto&, const auto& row, std::int64_t p) {
    const auto in_hbm = [&](const krait::dsl::Hbm& t) {
      return t.view(t.at({row, 0}), kWidth, p, {{1, kWidth}});
    };
    const krait::dsl::Ref xs = kb.sbuf("xs", DType::kF32, p, {kWidth}, 2);
    const krait::dsl::Ref gs = kb.sbuf("gs", DType::kF32, p, {kWidth}, 2);
    kb.emit(isa::DmaCopy{.dst = xs, .src = in_hbm(x)});
    kb.emit(isa::DmaCopy{.dst = gs, .src = in_hbm(g)});
    kb.emit(isa::Activation{.dst = xs, .data = xs, .fn = krait::UnaryFn::kSilu});
    kb.emit(isa::TensorTensor{.dst = xs, .a = xs, .b = gs, .op = isa::AluOp::kMultiply});
    kb.emit(isa::DmaCopy{.dst = in_hbm(y), .src = xs});
  });
  return kb.finish();
}

// 2. What a builder refuses, it refuses when the instruction is written, with the remedy.
void show_a_refusal(const krait::MachineSpec& machine) {
  krait::dsl::KernelBuilder kb("too_big", machine);
  try {
    (void)kb.sbuf("everything", DType::kF32, 128, {1 << 20});
  } catch (const krait::UserError& error) {
    std::printf("%s\n\n", error.what());
  }
}

int main() {
  const krait::MachineSpec& machine = krait::find_machine("trn2");
  show_a_refusal(machine);
  const krait::ir::Program program = silu_gate(machine);
  std::printf("%s\n", krait::ir::print(program).c_str());

  // 3. Values and time come from one run. Times are predictions of the machine's tables.
  std::vector<float> x(kRows * kWidth), g(kRows * kWidth);
  krait::fill_normal(x, 1, 0, 1, 0);
  krait::fill_normal(g, 1, 1, 1, 0);
  const krait::sim::Result run = krait::sim::run(
      program, machine,
      {{"x", Tensor::f32({kRows, kWidth}, x)}, {"g", Tensor::f32({kRows, kWidth}, g)}});

  double error = 0;
  const auto y = run.outputs.at("y").values<float>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = x[i] / (1 + std::exp(-static_cast<double>(x[i]))) * g[i];
    error = std::max(error, std::abs(y[i] - expected));
  }
  std::printf("predicted %.1f us, bound by %s; VectorE busy %.1f us; largest error %.1e\n",
              run.time.ns() / 1e3, run.bound_by.c_str(), run.busy.at("VectorE").ns() / 1e3, error);
  return error < 4e-6 ? 0 : 1;  // two roundings of values below 32: 2 * 2^-24 * 32
}
