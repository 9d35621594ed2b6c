#pragma once

// Vector conversions of contiguous elements at any alignment; bit-identical to decode() and
// encode(). Internal: load_row and store_row choose between these and the scalar definitions.

#include <cstddef>

#include "krait/numerics/dtype.hpp"

namespace krait::numerics_detail {

/// Whether the two functions below know the type; the others are rare and go element by element.
[[nodiscard]] bool has_vector_rows(DType dtype);
/// out[i] = decode(in[i]), i < n
void widen_row(DType dtype, const std::byte* in, std::size_t n, float* out);
/// out[i] = encode(in[i]), i < n, round to nearest even
void narrow_row(DType dtype, const float* in, std::size_t n, std::byte* out);

}  // namespace krait::numerics_detail
