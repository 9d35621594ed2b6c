#pragma once

// Operands of a sample instruction, set from text: "psum", "sbuf:bf16", "f32", "tile", "none".

#include <optional>
#include <string_view>

#include "krait/isa/sample.hpp"

namespace krait::kernels {

/// What a text says of a tile; what it leaves open stays as the sample has it.
struct OperandForm {
  bool absent = false;
  std::optional<isa::Space> space;
  std::optional<DType> dtype;
};

/// Words joined by ':': a space, a dtype, `tile` (present), `none` (left out).
/// @throws UserError with the nearest words
[[nodiscard]] OperandForm parse_operand_form(std::string_view name, std::string_view text);

/// Gives a tile the form. An absent one becomes one f32 element a partition first.
void apply_form(const OperandForm& form, std::int64_t partitions, isa::Tile& tile);

}  // namespace krait::kernels
