// The probes. Each returns a value that depends on all its work, and pointers are made opaque to
// the optimiser every round: a compiler that sees through a probe reports impossible rates.

// clang-format off: this order is part of Highway's scheme
#include "krait/numerics/hwy_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/cpu/limits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "krait/cpu/vec_math-inl.hpp"
// clang-format on

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>

#include "krait/cpu/limits.hpp"
#include "krait/cpu/target_name.hpp"
#include "krait/numerics/cpu_target.hpp"

#ifndef KRAIT_CPU_LIMITS_ONCE
#define KRAIT_CPU_LIMITS_ONCE
namespace krait {
namespace {

constexpr std::int64_t kExpFloats = 2048;         // 8 KiB in, 8 KiB out: half of a 32 KiB L1
constexpr std::int64_t kReadTile = 256LL * 1024;  // floats: 1 MiB of a long contiguous stream
// Latency 4 at two a cycle needs 8; 16 registers hold 12.
constexpr std::int64_t kFmaAccumulators = 12;

template <class T>
T* opaque(T* p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}

}  // namespace
}  // namespace krait
#endif  // KRAIT_CPU_LIMITS_ONCE

HWY_BEFORE_NAMESPACE();
namespace krait::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

/// `rounds` fused multiply-adds on each of 12 accumulators; x -> x * scale + shift converges.
/// `p` holds scale, shift and 12 different starts: equal chains would be merged into one.
float fma_probe(std::int64_t rounds, const float* p) {
  const D d;
  const V m = hn::Set(d, p[0]), s = hn::Set(d, p[1]);
  V a = hn::Set(d, p[2]), b = hn::Set(d, p[3]), c = hn::Set(d, p[4]), e = hn::Set(d, p[5]);
  V f = hn::Set(d, p[6]), g = hn::Set(d, p[7]), h = hn::Set(d, p[8]), i = hn::Set(d, p[9]);
  V j = hn::Set(d, p[10]), k = hn::Set(d, p[11]), l = hn::Set(d, p[12]), o = hn::Set(d, p[13]);
  for (std::int64_t r = 0; r < rounds; ++r) {
    a = hn::MulAdd(a, m, s), b = hn::MulAdd(b, m, s), c = hn::MulAdd(c, m, s);
    e = hn::MulAdd(e, m, s), f = hn::MulAdd(f, m, s), g = hn::MulAdd(g, m, s);
    h = hn::MulAdd(h, m, s), i = hn::MulAdd(i, m, s), j = hn::MulAdd(j, m, s);
    k = hn::MulAdd(k, m, s), l = hn::MulAdd(l, m, s), o = hn::MulAdd(o, m, s);
  }
  const V x = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, i)));
  return hn::GetLane(hn::Add(x, hn::Add(hn::Add(j, k), hn::Add(l, o))));
}

std::int64_t fma_flops(std::int64_t rounds) {
  return rounds * kFmaAccumulators * kLanes * 2;
}

void exp_probe(std::int64_t rounds, const float* in, float* out) {
  const D d;
  for (std::int64_t r = 0; r < rounds; ++r) {
    in = opaque(in), out = opaque(out);
    for (std::int64_t i = 0; i < kExpFloats; i += 4 * kLanes) {
      for (std::int64_t k = 0; k < 4 * kLanes; k += kLanes)
        hn::Store(exp2_fast(d, hn::Load(d, in + i + k)), d, out + i + k);
    }
  }
}

/// The sum of kReadTile floats, read as four streams, which four prefetchers follow.
float read_probe(const float* in) {
  const D d;
  constexpr std::int64_t kStream = kReadTile / 4;
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (std::int64_t i = 0; i < kStream; i += kLanes) {
    s0 = hn::Add(s0, hn::Load(d, in + i));
    s1 = hn::Add(s1, hn::Load(d, in + i + kStream));
    s2 = hn::Add(s2, hn::Load(d, in + i + 2 * kStream));
    s3 = hn::Add(s3, hn::Load(d, in + i + 3 * kStream));
  }
  return hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

const char* probe_target() {
  return target_name(HWY_TARGET);
}

}  // namespace
}  // namespace krait::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace krait {
namespace {

HWY_EXPORT(fma_probe);
HWY_EXPORT(fma_flops);
HWY_EXPORT(exp_probe);
HWY_EXPORT(read_probe);
HWY_EXPORT(probe_target);

constexpr std::size_t kTilesAThread = 8;  // so that a late worker costs an eighth, not half

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best rate over the samples: work(rounds) units in the time of run(rounds), where rounds
/// grows until a sample lasts long enough.
double best_rate(const LimitProbe& probe, const std::function<double(std::int64_t)>& run) {
  std::int64_t rounds = 1;
  double best = 0, work = 0;
  while (seconds([&] { work = run(rounds); }) < probe.sample_seconds) rounds *= 2;
  for (int i = 0; i < probe.samples; ++i) {
    const double took = seconds([&] { work = run(rounds); });
    best = std::max(best, work / took);
  }
  return best;
}

double fma_work(ThreadPool& pool, std::int64_t rounds) {
  const float values[2 + kFmaAccumulators] = {0.5F, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::atomic<float> sink{0};
  const std::size_t tiles = pool.threads() * kTilesAThread;
  const std::int64_t count = rounds * 1024;
  pool.run(tiles, [&](std::size_t, std::size_t) {
    sink = HWY_DYNAMIC_DISPATCH(fma_probe)(count, opaque(values));
  });
  const std::int64_t flops = HWY_DYNAMIC_DISPATCH(fma_flops)(count);
  return static_cast<double>(flops) * static_cast<double>(tiles);
}

double exp_work(ThreadPool& pool, std::int64_t rounds) {
  const std::size_t tiles = pool.threads() * kTilesAThread;
  pool.run(tiles, [&](std::size_t, std::size_t) {
    alignas(64) float in[kExpFloats], out[kExpFloats];
    // Exponents of typical decays, 2^-20 .. 1.
    for (std::int64_t i = 0; i < kExpFloats; ++i) in[i] = -0.01F * static_cast<float>(i);
    HWY_DYNAMIC_DISPATCH(exp_probe)(rounds, in, out);
  });
  return static_cast<double>(rounds * kExpFloats) * static_cast<double>(tiles);
}

double read_work(ThreadPool& pool, std::int64_t rounds, const float* buffer, std::int64_t tiles) {
  std::atomic<float> sink{0};
  for (std::int64_t r = 0; r < rounds; ++r) {
    pool.run(static_cast<std::size_t>(tiles), [&](std::size_t tile, std::size_t) {
      const float* p = buffer + static_cast<std::int64_t>(tile) * kReadTile;
      sink = HWY_DYNAMIC_DISPATCH(read_probe)(opaque(p));
    });
  }
  return static_cast<double>(rounds * tiles * kReadTile) * sizeof(float);
}

struct FreeAligned {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
};

}  // namespace

double measure_read_rate(ThreadPool& pool, const LimitProbe& probe) {
  apply_cpu_override();
  const auto bytes = static_cast<std::int64_t>(probe.read_bytes);
  const auto threads = static_cast<std::int64_t>(pool.threads());
  const std::int64_t tiles = std::max(threads, bytes / 4 / kReadTile);
  const auto floats = static_cast<std::size_t>(tiles * kReadTile);
  const std::unique_ptr<float[], FreeAligned> buffer(new (std::align_val_t{64}) float[floats]);
  std::fill_n(buffer.get(), floats, 1.0F);  // touches every page before any clock runs
  return 1e-9 *
         best_rate(probe, [&](std::int64_t n) { return read_work(pool, n, buffer.get(), tiles); });
}

MachineLimits measure_machine_limits(ThreadPool& pool, const LimitProbe& probe) {
  apply_cpu_override();
  MachineLimits limits;
  limits.threads = pool.threads();
  limits.target = HWY_DYNAMIC_DISPATCH(probe_target)();
  limits.gflops = best_rate(probe, [&](std::int64_t n) { return fma_work(pool, n); }) * 1e-9;
  limits.exp_per_s = best_rate(probe, [&](std::int64_t n) { return exp_work(pool, n); });
  limits.gbps_read = measure_read_rate(pool, probe);
  return limits;
}

}  // namespace krait
#endif  // HWY_ONCE
