#pragma once

#include <algorithm>

#include "krait/base/text.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// In every quadrant q of 32 lanes: dst[32q+j,:] = src[32q+mask[j],:]; mask[j] = 255 leaves the
/// lane of dst as it is. Bits move unchanged. ceil(max(P of src, P of dst) / 32) quadrants take
/// part; src and dst may stand in different ones, and may be the same tile. Source: ISA32.
struct NcStreamShuffle {
  Tile dst, src;  // [P, F], [P', F], one dtype
  ShuffleMask mask;

  static constexpr InsnInfo info{
      .name = "nc_stream_shuffle",
      .engine = Engine::kVector,
      .summary = "permute the partitions of each quadrant, all quadrants alike",
      .formula = "dst[32q+j,i] = src[32q+mask[j],i] unless mask[j] = 255",
      .cost_source = {Evidence::kDocumented, "ISA26: max(MIN_II, N)"}};

  static constexpr auto fields() {
    using T = NcStreamShuffle;
    return std::tuple{out("dst", &T::dst), in("src", &T::src), attr("mask", &T::mask)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("src", src);
    c.on_chip("dst", dst), c.on_chip("src", src);
    c.same_free_size("dst", dst, "src", src);
    c.same_dtype("dst", dst, "src", src);
    for (int lane = 0; lane < quadrants() * 32; ++lane) {
      const int from = source(lane);
      if (from == ShuffleMask::kKeep) continue;
      c.require(from < 32, "shuffle-mask", "a mask entry names a lane of the quadrant, or is 255",
                cat("mask[", lane % 32, "] = ", from), "use 0 to 31, or 255");
      // One is enough: the lanes behind it break the rule alike.
      const bool inside = lane < dst.partitions && lane / 32 * 32 + from < src.partitions;
      c.require(inside, "shuffle-lanes", "the shuffle would move lanes outside its tiles",
                cat("lane ", lane, " takes lane ", lane / 32 * 32 + from, ", dst = ", describe(dst),
                    ", src = ", describe(src)),
                "give whole quadrants, or 255 for the lanes beyond the tiles");
      if (!inside || from >= 32) break;
    }
  }

  [[nodiscard]] bool accumulates() const {  // lanes that are left alone keep dst's value
    return std::find(mask.lane.begin(), mask.lane.end(), ShuffleMask::kKeep) != mask.lane.end();
  }

  void execute(Memory& m) const {
    std::vector<Memory::Bits> rows(static_cast<std::size_t>(dst.partitions));
    for (int lane = 0; lane < dst.partitions; ++lane)
      if (source(lane) != ShuffleMask::kKeep)
        m.load_bits(src, lane / 32 * 32 + source(lane), rows[static_cast<std::size_t>(lane)]);
    for (int lane = 0; lane < dst.partitions; ++lane)
      if (source(lane) != ShuffleMask::kKeep)
        m.store_bits(dst, lane, rows[static_cast<std::size_t>(lane)]);
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), s.vector_rates.base, {&dst, &src});
  }

 private:
  [[nodiscard]] int source(int lane) const {
    return mask.lane[static_cast<std::size_t>(lane % 32)];
  }
  [[nodiscard]] int quadrants() const {
    return (std::max(dst.partitions, src.partitions) + 31) / 32;
  }
};

}  // namespace krait::isa
