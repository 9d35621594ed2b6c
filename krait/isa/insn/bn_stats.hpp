#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,:] = (count, mean, variance * count) of the elements of data[p,:] with even index, then
/// the same of those with odd index; no element: three zeros. f32: the mean from a sum in order,
/// then the sum of squared differences from it in order (assumed: the machine's order is not
/// public). Source: ISA32.
struct BnStats {
  Tile dst, data;  // [P, 6]; [P, F] with F <= 512

  static constexpr InsnInfo info{
      .name = "bn_stats",
      .engine = Engine::kVector,
      .summary = "count, mean and squared deviations of even and odd elements",
      .formula = "dst[p,:] = (n, mean, sum (x - mean)^2) of even, then of odd elements",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, N), N up to 512"}};

  static constexpr auto fields() {
    return std::tuple{out("dst", &BnStats::dst), in("data", &BnStats::data)};
  }
  static BnStats sample(const SampleShape& s) { return {.dst = s.out(6), .data = s.in()}; }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_partitions("dst", dst, "data", data);
    c.require(!dst.present() || dst.free_size() == 6, "bn-shape",
              "bn_stats writes six elements a partition", describe(dst),
              "give dst a free size of 6");
    c.require(data.free_size() <= 512, "bn-size", "bn_stats takes up to 512 elements a partition",
              describe(data), "cut the free axis and merge with bn_aggr");
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      const auto row = m.scratch(6);
      statistics(x, 0, row.first(3));
      statistics(x, 1, row.last(3));
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, data.free_size(), s.vector_rates.base, {&data});
  }

 private:
  static void statistics(std::span<const float> x, std::size_t first, std::span<float> out) {
    float sum = 0, squares = 0;
    const std::size_t count = (x.size() + 1 - first) / 2;
    const auto n = static_cast<float>(count);
    for (std::size_t i = first; i < x.size(); i += 2) sum += x[i];
    const float mean = n == 0 ? 0 : sum / n;
    for (std::size_t i = first; i < x.size(); i += 2) squares += (x[i] - mean) * (x[i] - mean);
    out[0] = n, out[1] = mean, out[2] = squares;
  }
};

}  // namespace krait::isa
