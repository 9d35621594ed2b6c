#include "krait/kernels/probes/probe.hpp"

#include <vector>

#include "krait/base/error.hpp"

namespace krait::kernels {
namespace {

// Far more than a slope needs, few enough for a run of seconds.
constexpr double kMostRepeats = 1 << 20;

const ir::Insn* last_insn(const ir::Block& block) {
  if (block.empty()) return nullptr;
  const ir::Node& last = block.back();
  return last.loop() != nullptr ? last_insn(last.loop()->body) : last.insn();
}

}  // namespace

std::span<const Probe> probes() {
  static const std::vector<Probe> kAll{stream_probe(), dma_probe()};
  return kAll;
}

const Probe* find_probe(std::string_view name) {
  for (const Probe& probe : probes())
    if (probe.name == name) return &probe;
  return nullptr;
}

const ir::Insn& repeated_insn(const ir::Program& program) {
  const ir::Insn* insn = last_insn(program.body);
  KRAIT_ASSERT(insn != nullptr);
  return *insn;
}

std::vector<ParamSpec> repeat_params(const char* repeat, const char* shorter) {
  return {{"repeat", ParamKind::kInt, repeat, 2, kMostRepeats, {}, "repetitions of the long run"},
          {"short",
           ParamKind::kInt,
           shorter,
           1,
           kMostRepeats - 1,
           {},
           "of the short one; the slope between both is the time of one"}};
}

}  // namespace krait::kernels
