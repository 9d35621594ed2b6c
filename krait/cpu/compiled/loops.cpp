#include "krait/cpu/compiled/loops.hpp"

#include <string_view>

#include "krait/numerics/cpu_target.hpp"

namespace krait::compiled {

const Loops& loops() {
  [[maybe_unused]] const std::string_view target = chosen_cpu_target();
#if defined(__x86_64__)
  if (target == "avx512") return kLoopsV4;
  if (target == "avx2") return kLoopsV3;
#endif
  return kLoopsBaseline;
}

}  // namespace krait::compiled
