// Native kernels: BM_<unit>/<shape>/<variant>/threads:<n>. Every case is checked against the f32
// definition before it is timed, and reports its share of limits that the same run measures:
//   best_ms      the shortest iteration; a shared machine leaves some of them undisturbed
//   exp_bound    time of the exponentials alone at the measured rate, divided by best_ms
//   fma_bound    time of the multiply-adds alone at the measured rate, divided by best_ms
//   read_bound   time of the unavoidable bytes at the rate measured for a set of that size, cached
//                or not, divided by best_ms. Bytes written count once: no read for ownership
// Buffers are written before any clock runs: first touch of fresh memory would dwarf the kernels.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/base/text.hpp"
#include "krait/cpu/limits.hpp"
#include "krait/cpu/ref/rmsnorm.hpp"
#include "krait/cpu/ref/selective_scan.hpp"
#include "krait/cpu/rmsnorm.hpp"
#include "krait/cpu/selective_scan.hpp"
#include "krait/linalg/fixed_order.hpp"
#include "krait/ops/operator.hpp"

namespace krait {
namespace {

ThreadPool& pool(std::size_t threads) {
  static std::map<std::size_t, std::unique_ptr<ThreadPool>> pools;
  auto& p = pools[threads];
  if (!p) p = std::make_unique<ThreadPool>(threads);
  return *p;
}

/// The best of three measurements apart in time: one of them alone can fall into a neighbour's
/// busy second, and every share of that run would be too high.
MachineLimits best_limits(std::size_t threads) {
  MachineLimits best;
  for (int i = 0; i < 3; ++i) {
    const MachineLimits l = measure_machine_limits(pool(threads));
    best.gflops = std::max(best.gflops, l.gflops);
    best.gbps_read = std::max(best.gbps_read, l.gbps_read);
    best.exp_per_s = std::max(best.exp_per_s, l.exp_per_s);
    best.threads = l.threads, best.target = l.target;
  }
  return best;
}

const MachineLimits& limits(std::size_t threads) {
  static std::map<std::size_t, MachineLimits> measured;
  const auto [it, fresh] = measured.try_emplace(threads);
  if (fresh) it->second = best_limits(threads);
  return it->second;
}

/// The best of three, as for the limits.
double set_gbps(std::size_t threads, double bytes) {
  double best = 0;
  const LimitProbe probe{.read_bytes = static_cast<std::size_t>(bytes)};
  for (int i = 0; i < 3; ++i) best = std::max(best, measure_read_rate(pool(threads), probe));
  return best;
}

std::vector<float> normals(std::int64_t count, std::uint64_t stream, float scale, float shift) {
  std::vector<float> v(static_cast<std::size_t>(count));
  fill_normal(v, 1, stream, scale, shift);
  return v;
}

/// Whether the result is within what the operator allows f32 code, as everywhere.
bool agrees(const char* op, const std::vector<float>& got, const std::vector<float>& want) {
  const ops::Tolerance allowed = ops::find_operator(op).f32_tolerance;
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double e = std::abs(static_cast<double>(got[i]) - want[i]);
    error = e <= error ? error : e;  // NaN is taken
    largest = std::max(largest, std::abs(static_cast<double>(want[i])));
  }
  return error <= allowed.atol + allowed.rtol * largest;
}

/// Times run() per iteration by the wall clock and reports bounds as shares of the time taken.
class Timed {
 public:
  explicit Timed(benchmark::State& state) : state_(state) {}

  void loop(const std::function<void()>& run) {
    for (auto _ : state_) {
      const auto start = std::chrono::steady_clock::now();
      run();
      benchmark::ClobberMemory();
      const double took =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      state_.SetIterationTime(took);
      best_ = std::min(best_, took);
    }
    state_.counters["best_ms"] = best_ * 1e3;
  }
  void share(const char* name, double bound_seconds) {
    state_.counters[name] = bound_seconds / best_;
  }
  /// Against the rate at which the same threads read a set of this size, cached or not.
  void read_share(double bytes, std::size_t threads) {
    share("read_bound", bytes / (set_gbps(threads, bytes) * 1e9));
  }

 private:
  benchmark::State& state_;
  double best_ = std::numeric_limits<double>::infinity();
};

/// `core`: dt is given as it is used, and there is no D, z or bias: what other programs time.
struct ScanShape {
  std::int64_t dim, d_state, length;
  bool core = false;
  [[nodiscard]] std::string name() const {
    return cat(core ? "_core/" : "/", dim, "x", d_state, "x", length);
  }
};

/// Mamba-1, batch 1, B and C per token; with every option, or the core alone.
struct ScanData {
  explicit ScanData(const ScanShape& s)
      : plane(s.dim * s.length),
        u(normals(plane, 0, 1, 0)),
        delta(normals(plane, 1, 1, -2)),
        z(normals(plane, 2, 1, 0)),
        a(static_cast<std::size_t>(s.dim * s.d_state)),
        b(normals(s.d_state * s.length, 3, 1, 0)),
        c(normals(s.d_state * s.length, 4, 1, 0)),
        d(normals(s.dim, 5, 1, 0)),
        bias(normals(s.dim, 6, 0.1F, 0)),
        out(u.size()),
        want(u.size()) {
    // The usual initialisation: A = -(1 .. d_state) in every row.
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = -static_cast<float>(static_cast<std::int64_t>(i) % s.d_state + 1);
    args.dim = s.dim, args.d_state = s.d_state, args.length = s.length;
    args.u = u.data(), args.delta = delta.data(), args.a = a.data(), args.b = b.data();
    args.c = c.data();
    if (s.core)
      for (float& dt : delta) dt = std::log1p(std::exp(dt));
    else
      args.delta_softplus = true, args.d = d.data(), args.z = z.data(),
      args.delta_bias = bias.data();
    args.out = want.data();
    ref::selective_scan(args);
    args.out = out.data();
  }
  std::int64_t plane;
  std::vector<float> u, delta, z, a, b, c, d, bias, out, want;
  SelectiveScanArgs<float> args;
};

const ScanData& scan_data(const ScanShape& s) {
  static std::map<std::string, std::unique_ptr<ScanData>> all;
  auto& p = all[s.name()];
  if (!p) p = std::make_unique<ScanData>(s);
  return *p;
}

using ScanArgs = SelectiveScanArgs<float>;
struct ScanVariant {
  const char* name;
  std::size_t (*scratch)(const ScanArgs&, std::size_t threads);
  const char* (*run)(const ScanArgs&, ThreadPool&, float* scratch);
};

constexpr ScanVariant kScanVariants[] = {
    {"naive", [](const ScanArgs& s, std::size_t) { return selective_scan_naive_scratch(s); },
     selective_scan_naive},
    {"compiler", selective_scan_compiled_scratch, selective_scan_compiled},
    {"custom", selective_scan_scratch, selective_scan},
};

void bench_scan(benchmark::State& state, const ScanShape& shape, const ScanVariant& variant,
                std::size_t threads) {
  const ScanData& data = scan_data(shape);
  std::vector<float> scratch(variant.scratch(data.args, threads), 0.0F);
  const char* ran = variant.run(data.args, pool(threads), scratch.data());
  if (!agrees("selective_scan", data.out, data.want))
    return state.SkipWithError("differs from the definition");
  Timed timed(state);
  timed.loop([&] { variant.run(data.args, pool(threads), scratch.data()); });
  // One exp a state, one each for softplus and the gate.
  const double exps = static_cast<double>(data.plane * (shape.d_state + (shape.core ? 0 : 2)));
  const std::int64_t rows = shape.core ? 3 : 4;
  const double bytes =
      static_cast<double>(data.plane * rows + shape.d_state * shape.length * 2) * 4;
  timed.share("exp_bound", exps / limits(threads).exp_per_s);
  timed.read_share(bytes, threads);
  state.SetLabel(ran);
}

void bench_rmsnorm(benchmark::State& state, std::int64_t rows, std::int64_t width, bool gated,
                   int variant, std::size_t threads) {
  const std::vector<float> x = normals(rows * width, 0, 1, 0), z = normals(rows * width, 1, 1, 0);
  const std::vector<float> weight = normals(width, 2, 0.1F, 1);
  std::vector<float> out(x.size()), want(x.size());
  RmsNormArgs<float> args{.rows = rows, .width = width, .group_size = width};
  args.norm_before_gate = false;
  args.x = x.data(), args.weight = weight.data(), args.z = gated ? z.data() : nullptr;
  args.out = want.data();
  ref::rmsnorm(args);
  args.out = out.data();
  std::vector<float> scratch(variant == 0 ? rmsnorm_naive_scratch(args) : 0, 0.0F);
  const auto run = [&] {
    if (variant == 0) return rmsnorm_naive(args, pool(threads), scratch.data());
    return variant == 1 ? rmsnorm_compiled(args, pool(threads)) : rmsnorm(args, pool(threads));
  };
  const char* ran = run();
  if (!agrees("rmsnorm", out, want)) return state.SkipWithError("differs from the definition");
  Timed timed(state);
  timed.loop(run);
  const double bytes = static_cast<double>(rows * width) * 4 * (gated ? 3 : 2);
  timed.read_share(bytes, threads);
  state.SetLabel(ran);
}

/// The product of one simulated Tensor engine instruction, [k, 128]^T x [k, n], on one thread; its
/// definition fixes each element's bits, so it must agree exactly.
void bench_fixed_order(benchmark::State& state, std::int64_t k, std::int64_t n) {
  constexpr std::int64_t kRows = 128;
  const std::vector<float> a = normals(k * kRows, 0, 1, 0), b = normals(k * n, 1, 1, 0);
  std::vector<float> c(static_cast<std::size_t>(kRows * n)), want(c.size());
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t x = 0; x < k; ++x)
        want[i * n + j] = std::fma(a[x * kRows + i], b[x * n + j], want[i * n + j]);
  const auto size = [](std::int64_t v) { return static_cast<std::size_t>(v); };
  const auto run = [&] {
    matmul_fixed_order(kRows, size(n), size(k), a.data(), kRows, b.data(), size(n), c.data(),
                       size(n), false);
  };
  run();
  if (c != want) return state.SkipWithError("differs from the definition");
  Timed timed(state);
  timed.loop(run);
  timed.share("fma_bound", 2e-9 * static_cast<double>(kRows * n * k) / limits(1).gflops);
}

struct RowsWidth {
  std::int64_t rows, width;
};

void tune(benchmark::internal::Benchmark* b) {
  b->Unit(benchmark::kMillisecond)->UseManualTime()->MinTime(0.2)->Repetitions(5);
  b->ComputeStatistics(
      "min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); });
  b->ComputeStatistics(
      "max", [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); });
  b->ReportAggregatesOnly();
}

void register_products() {
  for (const std::int64_t k : {32, 128})
    for (const std::int64_t n : {128, 512})
      tune(benchmark::RegisterBenchmark(
          cat("BM_matmul_fixed_order/", k, "x128x", n, "/custom/threads:1").c_str(),
          [=](benchmark::State& state) { bench_fixed_order(state, k, n); }));
}

void register_all() {
  register_products();
  for (const std::size_t threads : {1, 2}) {
    const std::string suffix = cat("/threads:", threads);
    for (const ScanShape shape :
         {ScanShape{1536, 16, 1}, ScanShape{1536, 16, 128}, ScanShape{1536, 16, 512},
          ScanShape{1536, 16, 2048}, ScanShape{768, 64, 256}, ScanShape{1536, 16, 128, true},
          ScanShape{1536, 16, 512, true}, ScanShape{1536, 16, 2048, true}}) {
      const std::string text = cat("BM_selective_scan", shape.name(), "/");
      for (const ScanVariant& variant : kScanVariants)
        tune(benchmark::RegisterBenchmark(
            (text + variant.name + suffix).c_str(),
            [=](benchmark::State& state) { bench_scan(state, shape, variant, threads); }));
    }
    for (const bool gated : {false, true})
      for (const RowsWidth shape :
           {RowsWidth{1, 2048}, RowsWidth{64, 2048}, RowsWidth{4096, 2048}, RowsWidth{512, 4096}})
        for (int variant = 0; variant < 3; ++variant) {
          const char* names[] = {"naive", "compiler", "custom"};
          const std::string text = cat("BM_rmsnorm", gated ? "_gated/" : "/", shape.rows, "x",
                                       shape.width, "/", names[variant], suffix);
          tune(benchmark::RegisterBenchmark(text.c_str(), [=](benchmark::State& state) {
            bench_rmsnorm(state, shape.rows, shape.width, gated, variant, threads);
          }));
        }
  }
}

/// The roofs, into the context of the report (also of the JSON).
void report_limits() {
  for (const std::size_t threads : {1, 2}) {
    const MachineLimits& l = limits(threads);
    char text[160];
    std::snprintf(text, sizeof text, "%.0f GFLOP/s, %.1f GB/s read, %.2f Gexp/s (%s)", l.gflops,
                  l.gbps_read, l.exp_per_s * 1e-9, std::string(l.target).c_str());
    benchmark::AddCustomContext(cat("limits_", threads, "_threads"), text);
  }
}

}  // namespace
}  // namespace krait

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  krait::report_limits();
  krait::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
