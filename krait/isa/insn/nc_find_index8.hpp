#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/eight.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,j] = index of the first element of data[p,:] that equals vals[p,j], in f32. If vals holds
/// a value more than once, its occurrences get successive matches, in ascending order of j; a value
/// without a match (left) gives all ones. Source: ISA32, RN (2.32).
struct NcFindIndex8 {
  Tile dst, data, vals;  // [P, 8] u16 or u32; [P, F] with 8 <= F <= 16384; [P, 8]

  static constexpr InsnInfo info{.name = "nc_find_index8",
                                 .engine = Engine::kVector,
                                 .summary = "where eight values stand in each partition",
                                 .formula = "dst[p,j] = first i with data[p,i] == vals[p,j]",
                                 .cost_source = {Evidence::kDocumented, "ISA26: N"}};

  static constexpr auto fields() {
    using T = NcFindIndex8;
    return std::tuple{out("dst", &T::dst), in("data", &T::data), in("vals", &T::vals)};
  }
  static NcFindIndex8 sample(const SampleShape& s) {
    return {.dst = s.other(8, DType::kU32),
            .data = s.in(std::max<std::int64_t>(s.n, 8)),
            .vals = s.other(8)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data), c.present("vals", vals);
    c.on_chip("dst", dst), c.on_chip("data", data), c.on_chip("vals", vals);
    c.same_partitions("dst", dst, "data", data);
    c.same_partitions("dst", dst, "vals", vals);
    check_eight(c, "dst", dst), check_eight(c, "vals", vals);
    check_searched(c, "data", data);
    check_indices(c, "dst", dst);
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p), v = m.load(vals, p);
      std::array<std::uint32_t, 8> found{};
      for (std::size_t j = 0; j < found.size(); ++j) found[j] = find(x, v, j, found);
      m.store_words(dst, p, found);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, data.free_size(), s.vector_rates.base, {&data});
  }

 private:
  // Starts behind what the last equal value before j has found.
  static std::uint32_t find(std::span<const float> x, std::span<const float> v, std::size_t j,
                            const std::array<std::uint32_t, 8>& found) {
    std::size_t from = 0;
    for (std::size_t k = 0; k < j; ++k)
      if (v[k] == v[j]) from = found[k] == kNotFound ? x.size() : found[k] + std::size_t{1};
    for (std::size_t i = from; i < x.size(); ++i)
      if (x[i] == v[j]) return static_cast<std::uint32_t>(i);
    return kNotFound;
  }
};

}  // namespace krait::isa
