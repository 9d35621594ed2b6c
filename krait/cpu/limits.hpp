#pragma once

// What this machine allows, measured: the roofs that CPU figures are set against. Figures of one
// run belong together; a shared machine gives others a minute later.

#include <cstddef>
#include <string_view>

#include "krait/base/pool.hpp"

namespace krait {

/// Rates of all threads of the pool together; the best of several samples each.
struct MachineLimits {
  double gflops = 0;          ///< f32 fused multiply-adds on registers, 2 flops each, in 1e9 / s
  double gbps_read = 0;       ///< bytes read from memory beyond the caches, in 1e9 / s
  double exp_per_s = 0;       ///< f32 exp in L1 by Krait's own vector code (relative error 2.4e-7)
  std::size_t threads = 0;    ///< of the pool
  std::string_view target{};  ///< instruction set that ran
};

/// Short samples and many: on a shared machine some of them run undisturbed.
struct LimitProbe {
  double sample_seconds = 0.004;                  ///< least time of one sample
  int samples = 40;                               ///< of which the best counts
  std::size_t read_bytes = std::size_t{1} << 30;  ///< read probe's buffer: beyond a 260 MiB L3
};

/// Measures the limits with the pool's threads; a few seconds, mostly first touch of memory.
/// @throws std::bad_alloc if the buffer cannot be had
[[nodiscard]] MachineLimits measure_machine_limits(ThreadPool& pool, const LimitProbe& probe = {});

/// Rate at which all threads together read a buffer again and again, in 1e9 bytes / s: of memory,
/// or of the cache that holds it. The buffer has at least 1 MiB a thread.
/// @throws std::bad_alloc if the buffer cannot be had
[[nodiscard]] double measure_read_rate(ThreadPool& pool, const LimitProbe& probe = {});

}  // namespace krait
