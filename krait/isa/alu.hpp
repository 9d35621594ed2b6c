#pragma once

// The element-wise operators of the Vector engine ("AluOp" of the manual) and their row forms.
// All arithmetic is f32; comparisons and logical operators give 1.0 or 0.0. Bit operators work on
// the patterns of integers, without a cast; they have functions of their own, and only
// tensor_tensor, tensor_scalar and tensor_reduce take them. Source: SH26, SH32, RN.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace krait::isa {

enum class AluOp : std::uint8_t {
  kBypass,
  kAdd,
  kSubtract,
  kMultiply,
  kMax,
  kMin,
  kEqual,
  kNotEqual,
  kGreaterEqual,
  kGreater,
  kLessEqual,
  kLess,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kAbs,
  kRsqrt,
  kReciprocal,
  kSquare,
  kRelu,
  kAbsMax,  // the operand of larger magnitude, with its sign; a tie gives the second
  kAbsMin,
  // bit operators
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kInvert,
  kLeftShift,
  kRightShift,  // logical: zeros come in
};

[[nodiscard]] std::string_view name(AluOp op);  // "add", "multiply", ...
[[nodiscard]] std::optional<AluOp> parse_alu_op(std::string_view name);
[[nodiscard]] std::span<const AluOp> alu_ops();  // arithmetic, comparing, logical
[[nodiscard]] std::span<const AluOp> bit_ops();
[[nodiscard]] bool is_bitwise(AluOp op);
/// Legal as the operator of a reduction.
[[nodiscard]] bool reduces(AluOp op);
/// Ignores its second operand.
[[nodiscard]] bool is_unary(AluOp op);
/// What a reduction starts from: add 0, multiply 1, max -inf, min and abs_min +inf, logical_and 1.
[[nodiscard]] float identity(AluOp op);

/// op(a, b). max, min, abs_max and abs_min return the other operand if one is NaN (as IEEE maxNum;
/// no document says); relu keeps NaN.
[[nodiscard]] float apply(AluOp op, float a, float b);
/// out[i] = op(a[i], b[i])
void apply_rows(AluOp op, std::span<const float> a, std::span<const float> b, std::span<float> out);
/// out[i] = reverse ? op(b, a[i]) : op(a[i], b)
void apply_row_scalar(AluOp op, std::span<const float> a, float b, bool reverse,
                      std::span<float> out);
/// op folded over the row from `start`, left to right.
[[nodiscard]] float reduce_row(AluOp op, std::span<const float> a, float start);

/// A bit operator on elements of `width` bits (in the low bits of the words; the others are 0). A
/// shift by the width or more gives 0 (assumed).
[[nodiscard]] std::uint32_t apply_bits(AluOp op, std::uint32_t a, std::uint32_t b, int width);

}  // namespace krait::isa
