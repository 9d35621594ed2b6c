#pragma once

// What max8, nc_find_index8 and nc_match_replace8 share.

#include <array>
#include <string_view>

#include "krait/isa/checker.hpp"

namespace krait::isa {

inline void check_eight(Checker& c, std::string_view name, const Tile& t) {
  c.require(!t.present() || t.free_size() == 8, "eight-elements",
            "eight elements a partition are found, no more and no fewer",
            std::string(name) + " = " + describe(t), "give it a free size of 8");
}

/// The data searched: 8 to 16384 elements a partition (ISA32).
inline void check_searched(Checker& c, std::string_view name, const Tile& t) {
  c.require(!t.present() || (t.free_size() >= 8 && t.free_size() <= 16384), "search-size",
            "the search takes 8 to 16384 elements a partition",
            std::string(name) + " = " + describe(t), "cut the free axis, and merge the results");
}

inline void check_indices(Checker& c, std::string_view name, const Tile& t) {
  c.require(!t.present() || t.dtype == DType::kU16 || t.dtype == DType::kU32, "operand-dtype",
            "indices are u16 or u32", std::string(name) + " = " + describe(t), "write them as u32");
}

/// What stands for an index that was not found: all ones in either type.
inline constexpr std::uint32_t kNotFound = 0xFFFFFFFF;

}  // namespace krait::isa
