#pragma once

// Which instruction set our vector code runs on. The best one the CPU has, unless KRAIT_CPU names
// another:
//   KRAIT_CPU = scalar | sse4 | avx2 | avx512
// A target also allows those below it, so a function not compiled for it falls back, never forward.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krait {

/// Applies KRAIT_CPU once for the process; later calls cost one load. Every entry point into vector
/// code calls it first.
/// @throws UserError, in each call, if KRAIT_CPU names no target or one that is not available
void apply_cpu_override();

/// The target that code runs on now, found by dispatching: "avx512", "avx2", "sse4", "scalar".
[[nodiscard]] std::string_view chosen_cpu_target();

/// The targets this build has and this CPU supports, best first; KRAIT_CPU does not narrow it.
[[nodiscard]] std::vector<std::string> available_cpu_targets();

/// Forces a target until destroyed, then restores the former one. For tests and benchmarks: the
/// choice is one for the whole process, so no other thread may be starting vector work meanwhile.
class ScopedCpuTarget {
 public:
  /// @throws UserError as apply_cpu_override()
  explicit ScopedCpuTarget(std::string_view name);
  ~ScopedCpuTarget();
  ScopedCpuTarget(const ScopedCpuTarget&) = delete;
  ScopedCpuTarget& operator=(const ScopedCpuTarget&) = delete;

 private:
  std::int64_t former_;
};

}  // namespace krait
