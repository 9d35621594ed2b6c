#pragma once

// Plain loops that the compiler vectorises, built once for each architecture level (x86-64, -v3
// with AVX2 and FMA, -v4 with AVX-512) from the same text, loops_body.inc, and chosen at run time.
// They are the `compiler` and `naive` forms' inner loops. Flags: see CMakeLists.txt; sums may be
// reassociated and multiply-adds fused, but NaN and infinities keep their meaning.

#include <cstdint>

#include "krait/cpu/rmsnorm.hpp"
#include "krait/cpu/selective_scan.hpp"

namespace krait::compiled {

using std::int64_t;

struct Loops {
  const char* level;

  // Fused nests. pack: [n, length] -> [length, n].
  void (*pack)(const float* in, int64_t n, int64_t length, float* out);
  /// One channel. b, c: first token's states, steps apart (0: constant); rows: 2 * length floats;
  /// h: [d_state], read and overwritten.
  void (*scan_channel)(const SelectiveScanArgs<float>& s, int64_t batch, int64_t e, const float* b,
                       int64_t b_step, const float* c, int64_t c_step, float* rows, float* h);
  void (*rmsnorm_rows)(const RmsNormArgs<float>& s, int64_t first, int64_t count);

  // Elementary passes of the naive forms.
  void (*add_scalar)(const float* x, float s, int64_t n, float* out);
  void (*scale_add)(const float* x, float s, int64_t n, float* io);  // io += s * x
  void (*softplus)(int64_t n, float* io);
  void (*silu)(const float* x, int64_t n, float* out);
  void (*exp)(int64_t n, float* io);
  void (*multiply)(const float* x, const float* y, int64_t n, float* out);
  void (*multiply_scalar)(const float* x, float s, int64_t n, float* out);
  void (*add)(const float* x, int64_t n, float* io);
  float (*sum)(const float* x, int64_t n);
  float (*dot)(const float* x, const float* y, int64_t n);
  /// out[t, n] = x[t] * v[t * step + n]; step 0: one row for all t
  void (*outer)(const float* x, const float* v, int64_t step, int64_t length, int64_t n,
                float* out);
};

/// The loops for the target that krait/numerics/cpu_target.hpp has chosen.
/// @throws as apply_cpu_override
[[nodiscard]] const Loops& loops();

extern const Loops kLoopsBaseline;
#if defined(__x86_64__)
extern const Loops kLoopsV3;
extern const Loops kLoopsV4;
#endif

}  // namespace krait::compiled
