#include "krait/numerics/hwy_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/numerics/cpu_target.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "krait/numerics/cpu_target.hpp"

HWY_BEFORE_NAMESPACE();
namespace krait::HWY_NAMESPACE {

std::int64_t running_target() {
  return HWY_TARGET;
}

}  // namespace krait::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <array>
#include <atomic>
#include <cstdlib>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait {
namespace {

HWY_EXPORT(running_target);

struct Target {
  std::string_view name;
  std::int64_t bits;
};

// Best first; Highway gives better targets lower bits.
constexpr std::array kTargets = {
#if HWY_ARCH_X86
    Target{"avx512", HWY_AVX3_DL | HWY_AVX3}, Target{"avx2", HWY_AVX2}, Target{"sse4", HWY_SSE4},
#else
    Target{"native", HWY_TARGETS & ~(HWY_SCALAR | HWY_EMU128)},
#endif
    Target{"scalar", HWY_SCALAR | HWY_EMU128}};

// What CPU and build have, asked before anything narrows Highway's answer.
std::int64_t detected() {
  static const std::int64_t targets = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  return targets;
}

std::atomic<std::int64_t>& allowed() {
  static std::atomic<std::int64_t> targets{detected()};
  return targets;
}

void allow(std::int64_t targets) {
  allowed() = targets;
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(targets);
}

// The named target and all below it.
std::int64_t at_most(std::string_view name, std::string_view where) {
  const std::vector<std::string> names = available_cpu_targets();
  for (const Target& target : kTargets) {
    if (target.name != name) continue;
    if ((target.bits & detected()) == 0) {
      throw UserError({cat("this CPU or build has no ", name), std::string(where),
                       std::string(name), cat("use one of: ", join(names, ", "))});
    }
    const std::int64_t best = target.bits & -target.bits;
    return detected() & ~(best - 1);
  }
  throw UserError({"unknown CPU target", std::string(where), cat("'", name, "'"),
                   cat("use one of: ", join(names, ", "), "; or unset it for the best one")});
}

bool apply_environment() {
  const char* value = std::getenv("KRAIT_CPU");
  if (value != nullptr && *value != '\0') allow(at_most(value, "environment variable KRAIT_CPU"));
  return true;
}

}  // namespace

void apply_cpu_override() {
  static const bool applied = apply_environment();  // retried after an exception
  static_cast<void>(applied);
}

std::string_view chosen_cpu_target() {
  apply_cpu_override();
  const std::int64_t running = HWY_DYNAMIC_DISPATCH(running_target)();
  for (const Target& target : kTargets) {
    if ((target.bits & running) != 0) return target.name;
  }
  return "unknown";
}

std::vector<std::string> available_cpu_targets() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) {
    if ((target.bits & detected()) != 0) names.emplace_back(target.name);
  }
  return names;
}

ScopedCpuTarget::ScopedCpuTarget(std::string_view name) {
  apply_cpu_override();
  const std::int64_t targets = at_most(name, "ScopedCpuTarget");
  former_ = allowed();
  allow(targets);
}

ScopedCpuTarget::~ScopedCpuTarget() {
  allow(former_);
}

}  // namespace krait
#endif  // HWY_ONCE
