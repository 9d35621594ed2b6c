#pragma once

// What the selecting instructions share: elements that are only moved keep every bit.

#include <cstring>

#include "krait/isa/memory.hpp"

namespace krait::isa {

/// dst[i] = row[i], rounded; where keep(i), src's element bit for bit if the dtypes are equal (row
/// then holds its f32 value otherwise). `row` is a scratch row: dst may be src.
template <class Keep>
void store_selected(Memory& m, const Tile& dst, const Tile& src, int p, std::span<const float> row,
                    Keep keep) {
  if (dst.dtype != src.dtype) return m.store(dst, p, row);
  Memory::Bits kept, out;
  m.load_bits(src, p, kept);
  m.store(dst, p, row);
  m.load_bits(dst, p, out);
  const auto bytes = static_cast<std::size_t>(dst.element_bytes());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!keep(i)) continue;
    std::memcpy(out.bytes.data() + i * bytes, kept.bytes.data() + i * bytes, bytes);
    if (!out.unrounded.empty()) out.unrounded[i] = kept.unrounded[i];
  }
  m.store_bits(dst, p, out);
}

}  // namespace krait::isa
