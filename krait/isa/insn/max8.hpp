#pragma once

#include <algorithm>

#include "krait/isa/cost.hpp"
#include "krait/isa/eight.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p, 0..7] = the 8 largest of src[p,:] in descending order, repeats included, compared in f32.
/// NaN counts as smaller than everything (assumed: no page says); equal values keep their order,
/// which shows only between -0 and +0. Source: ISA32.
struct Max8 {
  Tile dst, src;  // [P, 8]; [P, F] with 8 <= F <= 16384

  static constexpr InsnInfo info{.name = "max8",
                                 .engine = Engine::kVector,
                                 .summary = "the eight largest elements of each partition",
                                 .formula = "dst[p,j] = the j-th largest of src[p,:]",
                                 .cost_source = {Evidence::kDocumented, "ISA26: N"}};

  static constexpr auto fields() {
    return std::tuple{out("dst", &Max8::dst), in("src", &Max8::src)};
  }
  static Max8 sample(const SampleShape& s) {
    return {.dst = s.out(8), .src = s.in(std::max<std::int64_t>(s.n, 8))};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("src", src);
    c.on_chip("dst", dst), c.on_chip("src", src);
    c.same_partitions("dst", dst, "src", src);
    check_eight(c, "dst", dst);
    check_searched(c, "src", src);
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(src, p);
      m.store(dst, p, eight_largest(x));
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, src.free_size(), s.vector_rates.base, {&src});
  }

 private:
  // Insertion into a sorted list of eight.
  static std::array<float, 8> eight_largest(std::span<const float> x) {
    std::array<float, 8> best{};
    std::size_t found = 0;
    const auto above = [](float a, float b) { return a > b || (b != b && a == a); };
    for (const float v : x) {
      std::size_t at = found;
      while (at > 0 && above(v, best[at - 1])) --at;
      if (at == best.size()) continue;
      found = std::min(found + 1, best.size());
      for (std::size_t i = found - 1; i > at; --i) best[i] = best[i - 1];
      best[at] = v;
    }
    return best;
  }
};

}  // namespace krait::isa
