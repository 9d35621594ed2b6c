#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// Merges the triples (count, mean, M2 = variance * count) of data[p,:] into dst[p,:] = (mean,
/// variance):  n = sum count;  mean = sum(count * mean_k) / n;
/// variance = (sum M2 + sum count * (mean_k - mean)^2) / n. f32, triples in order. Source: ISA32.
struct BnAggr {
  Tile dst, data;  // [P, 2]; [P, 3k]

  static constexpr InsnInfo info{
      .name = "bn_aggr",
      .engine = Engine::kVector,
      .summary = "mean and variance from the triples of bn_stats",
      .formula = "dst[p,:] = (mean, variance) of all triples (n, mean, M2) of data[p,:]",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, 13 * (N/3))"}};

  static constexpr auto fields() {
    return std::tuple{out("dst", &BnAggr::dst), in("data", &BnAggr::data)};
  }
  static BnAggr sample(const SampleShape& s) {
    return {.dst = s.out(2), .data = s.in((s.n + 2) / 3 * 3)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_partitions("dst", dst, "data", data);
    c.require(!dst.present() || dst.free_size() == 2, "bn-shape",
              "bn_aggr writes two elements a partition, mean and variance", describe(dst),
              "give dst a free size of 2");
    c.require(!data.present() || data.free_size() % 3 == 0, "bn-triples",
              "data must hold triples (count, mean, variance * count)", describe(data),
              "pass what bn_stats writes");
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      float n = 0, weighted = 0, squares = 0;
      for (std::size_t k = 0; k < x.size(); k += 3) n += x[k], weighted += x[k] * x[k + 1];
      const float mean = weighted / n;
      for (std::size_t k = 0; k < x.size(); k += 3) {
        const float off = x[k + 1] - mean;
        squares += x[k + 2] + x[k] * (off * off);
      }
      const auto row = m.scratch(2);
      row[0] = mean, row[1] = squares / n;
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, data.free_size(), s.vector_rates.bn_aggr, {&data});
  }
};

}  // namespace krait::isa
