#include "krait/isa/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "krait/base/error.hpp"

namespace krait::isa {
namespace {

// A2: an innermost stride above the threshold halves the port's rate. Fast modes have their own
// conditions on contiguity (vector_copy_rate), so the rule applies to base-rate access only.
double stride_penalty(const MachineSpec& m, std::initializer_list<const Tile*> tiles) {
  double factor = 1;
  for (const Tile* t : tiles)
    if (t->present() &&
        std::abs(t->inner_step()) * t->element_bytes() > m.access.stride_threshold_bytes)
      factor = std::max(factor, m.access.stride_factor.value);
  return factor;
}

bool reads_or_writes_psum(std::initializer_list<const Tile*> tiles) {
  return std::any_of(tiles.begin(), tiles.end(),
                     [](const Tile* t) { return t->present() && t->in_psum(); });
}

Timing elementwise(const MachineSpec& m, const ElementwiseEngine& engine, std::int64_t n,
                   double rate, std::initializer_list<const Tile*> tiles) {
  Timing out;
  const double factor = rate > 1 ? 1 : stride_penalty(m, tiles);
  const Cycles work{std::ceil(static_cast<double>(n) * factor / rate)};
  out.occupancy = max(engine.min_ii.value, work) + engine.extra_occupancy.value;
  out.latency = reads_or_writes_psum(tiles) ? engine.latency_psum.value : engine.latency.value;
  out.elements = n;
  return out;
}

}  // namespace

const Clock& clock_of(const MachineSpec& m, Engine engine) {
  switch (engine) {
    case Engine::kTensor:
      return m.tensor.clock.value;
    case Engine::kVector:
      return m.vector.clock.value;
    case Engine::kScalar:
      return m.scalar.clock.value;
    case Engine::kGpSimd:
      return m.gpsimd.clock.value;
    case Engine::kSync:
      return m.sync.base_clock.value;
  }
  KRAIT_ASSERT(false);
}

bool is_16bit(DType dtype, const MachineSpec& m) {
  if (dtype == DType::kBf16 || dtype == DType::kF16) return true;
  return m.types.f8_is_16bit_class && is_float(dtype) && size_of(dtype) == 1;
}

Timing vector_time(const MachineSpec& m, std::int64_t n, double rate,
                   std::initializer_list<const Tile*> tiles) {
  Timing out = elementwise(m, m.vector, n, rate, tiles);
  out.fast_mode = rate > 1;
  return out;
}

Timing scalar_time(const MachineSpec& m, std::int64_t n, double rate,
                   std::initializer_list<const Tile*> tiles) {
  return elementwise(m, m.scalar, n, rate, tiles);
}

bool loads_table(UnaryFn fn) {
  return fn != UnaryFn::kCopy && fn != UnaryFn::kSquare && fn != UnaryFn::kAbs &&
         fn != UnaryFn::kRelu && fn != UnaryFn::kSign;
}

Timing gpsimd_time(const MachineSpec& m, std::int64_t n, double rate) {
  Timing out;
  out.occupancy = m.gpsimd.start.value + Cycles{std::ceil(static_cast<double>(n) / rate)};
  out.elements = n;
  return out;
}

Timing tensor_time(const MachineSpec& m, std::int64_t stationary_columns, std::int64_t columns,
                   double passes, int instructions) {
  Timing out;
  const auto& t = m.tensor;
  const Cycles one = max(t.min_columns.value,
                         Cycles{std::ceil(static_cast<double>(columns) * passes / instructions)}) +
                     t.extra_cycles.value;
  out.occupancy = one * instructions;
  out.latency = t.latency.value;
  out.load_stationary = Cycles{t.load_cycles_per_column.value} *
                        (static_cast<double>(stationary_columns) * instructions);
  return out;
}

double vector_copy_rate(const MachineSpec& m, const Tile& dst, const Tile& src) {
  const auto& r = m.vector_rates;
  const int in_psum = (dst.in_psum() ? 1 : 0) + (src.in_psum() ? 1 : 0);
  if (is_16bit(dst.dtype, m) && is_16bit(src.dtype, m)) {
    const bool contiguous = dst.inner_step() == 1 && src.inner_step() == 1;
    if (in_psum == 0) return contiguous ? r.copy_16bit_contiguous : r.copy_16bit_strided;
    if (in_psum == 1 && contiguous) return r.copy_16bit_one_psum;
    return r.base;
  }
  return in_psum == 0 ? r.copy_32bit_sbuf : r.base;
}

}  // namespace krait::isa
