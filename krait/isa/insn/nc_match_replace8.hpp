#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/eight.hpp"
#include "krait/isa/insn.hpp"
#include "krait/isa/select.hpp"

namespace krait::isa {

/// For j = 7 down to 0: the first element of data[p,:] that equals vals[p,j] in f32 and has not
/// been replaced yet becomes imm in dst; dst_idx[p,j], if given, is its index, all ones if there is
/// none (assumed: undefined on the machine). The other elements are copied bit for bit. Duplicates
/// in vals get their matches in the opposite order to nc_find_index8. Source: ISA32, RN (2.32).
struct NcMatchReplace8 {
  Tile dst, data, vals;  // [P, F] of one dtype, 8 <= F <= 16384; vals [P, 8]
  Tile dst_idx;          // [P, 8] u16 or u32, optional
  float imm = 0;

  static constexpr InsnInfo info{
      .name = "nc_match_replace8",
      .engine = Engine::kVector,
      .summary = "replace eight values by a constant and say where they stood",
      .formula = "for j = 7..0: i = first with data[p,i] == vals[p,j]; dst[p,i] = imm",
      .cost_source = {Evidence::kDocumented,
                      "ISA22: N; later editions print min(MIN_II, N), a slip for max"}};

  static constexpr auto fields() {
    using T = NcMatchReplace8;
    return std::tuple{out("dst", &T::dst), in("data", &T::data), in("vals", &T::vals),
                      out("dst_idx", &T::dst_idx), attr("imm", &T::imm)};
  }
  static NcMatchReplace8 sample(const SampleShape& s) {
    const std::int64_t n = std::max<std::int64_t>(s.n, 8);
    return {
        .dst = s.out(n), .data = s.in(n), .vals = s.other(8), .dst_idx = s.other(8, DType::kU32)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data), c.present("vals", vals);
    c.on_chip("dst", dst), c.on_chip("data", data), c.on_chip("vals", vals);
    c.on_chip("dst_idx", dst_idx);
    c.same_shape("dst", dst, "data", data);
    c.same_dtype("dst", dst, "data", data);
    c.same_partitions("dst", dst, "vals", vals);
    if (dst_idx.present()) c.same_partitions("dst", dst, "dst_idx", dst_idx);
    check_eight(c, "vals", vals), check_eight(c, "dst_idx", dst_idx);
    check_searched(c, "data", data);
    check_indices(c, "dst_idx", dst_idx);
  }

  void execute(Memory& m) const {
    std::vector<bool> replaced;
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p), v = m.load(vals, p);
      replaced.assign(x.size(), false);
      std::array<std::uint32_t, 8> found{};
      for (std::size_t j = found.size(); j-- > 0;) found[j] = replace(x, v[j], replaced);
      const auto row = m.scratch(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) row[i] = replaced[i] ? imm : x[i];
      store_selected(m, dst, data, p, row, [&](std::size_t i) { return !replaced[i]; });
      if (dst_idx.present()) m.store_words(dst_idx, p, found);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, data.free_size(), s.vector_rates.base, {&dst, &data});
  }

 private:
  static std::uint32_t replace(std::span<const float> x, float value, std::vector<bool>& replaced) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (replaced[i] || x[i] != value) continue;
      replaced[i] = true;
      return static_cast<std::uint32_t>(i);
    }
    return kNotFound;
  }
};

}  // namespace krait::isa
