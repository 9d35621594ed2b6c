// The text of the plain loops; a loops_<level>.cpp defines KRAIT_LOOPS and KRAIT_LEVEL and includes
// it. It calls no inline function of another header: the linker keeps one copy of those, and a copy
// built for AVX-512 would then run everywhere.

#include "krait/cpu/compiled/loops.hpp"

// glibc's vector versions (libmvec, up to 4 ulp); -ffast-math would declare them, and more than we
// want.
#if defined(__GLIBC__) && defined(__x86_64__) && !defined(__clang__)
#define KRAIT_VECTOR_VERSION __attribute__((simd("notinbranch")))
#else
#define KRAIT_VECTOR_VERSION
#endif
extern "C" {
KRAIT_VECTOR_VERSION float expf(float x) noexcept;
KRAIT_VECTOR_VERSION float log1pf(float x) noexcept;
}

namespace krait::compiled {
namespace {

float softplus_of(float x) {
  const float bounded = x <= 20 ? x : 20;
  const float y = log1pf(expf(bounded));
  return x <= 20 ? y : x;
}
float silu_of(float x) {
  return x / (1 + expf(-x));
}

void pack(const float* in, int64_t n, int64_t length, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = 0; t < length; ++t) out[t * n + i] = in[i * length + t];
}

void scan_channel(const SelectiveScanArgs<float>& s, int64_t batch, int64_t e, const float* b,
                  int64_t b_step, const float* c, int64_t c_step, float* __restrict rows,
                  float* __restrict h) {
  const int64_t length = s.length, d_state = s.d_state, at = (batch * s.dim + e) * length;
  const float *u = s.u + at, *delta = s.delta + at, *a = s.a + e * d_state;
  float* __restrict dt = rows, * __restrict du = rows + length, *out = s.out + at;
  const float bias = s.delta_bias ? s.delta_bias[e] : 0;
  if (s.delta_softplus)
    for (int64_t t = 0; t < length; ++t) dt[t] = softplus_of(delta[t] + bias);
  else
    for (int64_t t = 0; t < length; ++t) dt[t] = delta[t] + bias;
  for (int64_t t = 0; t < length; ++t) du[t] = dt[t] * u[t];

  for (int64_t t = 0; t < length; ++t) {
    const float step = dt[t], input = du[t];
    float y = 0;
    for (int64_t n = 0; n < d_state; ++n) {
      h[n] = expf(step * a[n]) * h[n] + input * b[t * b_step + n];
      y += c[t * c_step + n] * h[n];
    }
    dt[t] = y;  // dt[t] is not needed any more
  }
  const float skip = s.d ? s.d[e] : 0;
  if (s.d)
    for (int64_t t = 0; t < length; ++t) dt[t] += skip * u[t];
  if (s.z)
    for (int64_t t = 0; t < length; ++t) out[t] = dt[t] * silu_of(s.z[at + t]);
  else
    for (int64_t t = 0; t < length; ++t) out[t] = dt[t];
}

float inverse_rms(const float* x, int64_t n, float eps) {
  float squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += x[i] * x[i];
  return 1 / __builtin_sqrtf(squares / static_cast<float>(n) + eps);
}

void rmsnorm_group(const RmsNormArgs<float>& s, int64_t first) {
  const int64_t n = s.group_size;
  const float *x = s.x + first, *z = s.z ? s.z + first : nullptr;
  float* out = s.out + first;
  if (z && !s.norm_before_gate) {
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] * silu_of(z[i]);
    x = out;
  }
  const float rstd = inverse_rms(x, n, s.eps);
  const float* w = s.weight ? s.weight + first % s.width : nullptr;
  const bool gate = z && s.norm_before_gate;
  if (w && gate)
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] * rstd * w[i] * silu_of(z[i]);
  else if (w)
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] * rstd * w[i];
  else if (gate)
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] * rstd * silu_of(z[i]);
  else
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] * rstd;
}

void rmsnorm_rows(const RmsNormArgs<float>& s, int64_t first, int64_t count) {
  for (int64_t i = first * s.width; i < (first + count) * s.width; i += s.group_size)
    rmsnorm_group(s, i);
}

void add_scalar(const float* x, float s, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + s;
}
void scale_add(const float* x, float s, int64_t n, float* io) {
  for (int64_t i = 0; i < n; ++i) io[i] += s * x[i];
}
void softplus(int64_t n, float* io) {
  for (int64_t i = 0; i < n; ++i) io[i] = softplus_of(io[i]);
}
void silu(const float* x, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = silu_of(x[i]);
}
void exp(int64_t n, float* io) {
  for (int64_t i = 0; i < n; ++i) io[i] = expf(io[i]);
}
void multiply(const float* x, const float* y, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * y[i];
}
void multiply_scalar(const float* x, float s, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * s;
}
void add(const float* x, int64_t n, float* io) {
  for (int64_t i = 0; i < n; ++i) io[i] += x[i];
}
float sum(const float* x, int64_t n) {
  float total = 0;
  for (int64_t i = 0; i < n; ++i) total += x[i];
  return total;
}
float dot(const float* x, const float* y, int64_t n) {
  float total = 0;
  for (int64_t i = 0; i < n; ++i) total += x[i] * y[i];
  return total;
}
void outer(const float* x, const float* v, int64_t step, int64_t length, int64_t n, float* out) {
  for (int64_t t = 0; t < length; ++t)
    for (int64_t i = 0; i < n; ++i) out[t * n + i] = x[t] * v[t * step + i];
}

}  // namespace

const Loops KRAIT_LOOPS = {.level = KRAIT_LEVEL,
                           .pack = pack,
                           .scan_channel = scan_channel,
                           .rmsnorm_rows = rmsnorm_rows,
                           .add_scalar = add_scalar,
                           .scale_add = scale_add,
                           .softplus = softplus,
                           .silu = silu,
                           .exp = exp,
                           .multiply = multiply,
                           .multiply_scalar = multiply_scalar,
                           .add = add,
                           .sum = sum,
                           .dot = dot,
                           .outer = outer};

}  // namespace krait::compiled
