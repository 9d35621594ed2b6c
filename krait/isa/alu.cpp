#include "krait/isa/alu.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "krait/base/error.hpp"
#include "krait/base/simd.hpp"

namespace krait::isa {
namespace {

constexpr std::array kOps{
    AluOp::kBypass,       AluOp::kAdd,        AluOp::kSubtract,   AluOp::kMultiply,
    AluOp::kMax,          AluOp::kMin,        AluOp::kEqual,      AluOp::kNotEqual,
    AluOp::kGreaterEqual, AluOp::kGreater,    AluOp::kLessEqual,  AluOp::kLess,
    AluOp::kLogicalAnd,   AluOp::kLogicalOr,  AluOp::kLogicalXor, AluOp::kAbs,
    AluOp::kRsqrt,        AluOp::kReciprocal, AluOp::kSquare,     AluOp::kRelu,
    AluOp::kAbsMax,       AluOp::kAbsMin,     AluOp::kBitwiseAnd, AluOp::kBitwiseOr,
    AluOp::kBitwiseXor,   AluOp::kInvert,     AluOp::kLeftShift,  AluOp::kRightShift};
constexpr std::array<std::string_view, kOps.size()> kNames{
    "bypass",      "add",        "subtract",      "multiply",   "max",         "min",
    "equal",       "not_equal",  "greater_equal", "greater",    "less_equal",  "less",
    "logical_and", "logical_or", "logical_xor",   "abs",        "rsqrt",       "reciprocal",
    "square",      "relu",       "abs_max",       "abs_min",    "bitwise_and", "bitwise_or",
    "bitwise_xor", "invert",     "left_shift",    "right_shift"};
constexpr std::size_t kBitOps = 6;  // at the end of the list

// max and min as selects: the other operand if one is NaN, and branch-free for the vectoriser.
inline float max_of(float a, float b) {
  return (a > b || b != b) ? a : b;
}
inline float min_of(float a, float b) {
  return (a < b || b != b) ? a : b;
}
inline float abs_max_of(float a, float b) {
  return (std::fabs(a) > std::fabs(b) || b != b) ? a : b;
}
inline float abs_min_of(float a, float b) {
  return (std::fabs(a) < std::fabs(b) || b != b) ? a : b;
}
inline float relu_of(float a) {
  return (a > 0 || a != a) ? a : 0.0F;
}
inline float truth(bool value) {
  return value ? 1.0F : 0.0F;
}
// f64 so that the result is rounded once.
inline float rsqrt_of(float a) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
}

// Calls body with a function object for `op`, so that every operator gets its own tight loop.
template <class Body>
inline __attribute__((always_inline)) void with_op(AluOp op, Body body) {
  switch (op) {
    case AluOp::kBypass:
      return body([](float a, float) { return a; });
    case AluOp::kAdd:
      return body([](float a, float b) { return a + b; });
    case AluOp::kSubtract:
      return body([](float a, float b) { return a - b; });
    case AluOp::kMultiply:
      return body([](float a, float b) { return a * b; });
    case AluOp::kMax:
      return body(max_of);
    case AluOp::kMin:
      return body(min_of);
    case AluOp::kEqual:
      return body([](float a, float b) { return truth(a == b); });
    case AluOp::kNotEqual:
      return body([](float a, float b) { return truth(a != b); });
    case AluOp::kGreaterEqual:
      return body([](float a, float b) { return truth(a >= b); });
    case AluOp::kGreater:
      return body([](float a, float b) { return truth(a > b); });
    case AluOp::kLessEqual:
      return body([](float a, float b) { return truth(a <= b); });
    case AluOp::kLess:
      return body([](float a, float b) { return truth(a < b); });
    case AluOp::kLogicalAnd:
      return body([](float a, float b) { return truth(a != 0 && b != 0); });
    case AluOp::kLogicalOr:
      return body([](float a, float b) { return truth(a != 0 || b != 0); });
    case AluOp::kLogicalXor:
      return body([](float a, float b) { return truth((a != 0) != (b != 0)); });
    case AluOp::kAbs:
      return body([](float a, float) { return std::fabs(a); });
    case AluOp::kRsqrt:
      return body([](float a, float) { return rsqrt_of(a); });
    case AluOp::kReciprocal:
      return body([](float a, float) { return 1.0F / a; });
    case AluOp::kSquare:
      return body([](float a, float) { return a * a; });
    case AluOp::kRelu:
      return body([](float a, float) { return relu_of(a); });
    case AluOp::kAbsMax:
      return body(abs_max_of);
    case AluOp::kAbsMin:
      return body(abs_min_of);
    case AluOp::kBitwiseAnd:
    case AluOp::kBitwiseOr:
    case AluOp::kBitwiseXor:
    case AluOp::kInvert:
    case AluOp::kLeftShift:
    case AluOp::kRightShift:
      break;  // apply_bits
  }
  KRAIT_ASSERT(false);
}

// The loops are separate plain functions because only those can be cloned per vector width.
KRAIT_CLONES void rows_loop(AluOp op, const float* a, const float* b, float* out, std::size_t n) {
  with_op(op, [&](auto f) {
    for (std::size_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  });
}

KRAIT_CLONES void scalar_loop(AluOp op, const float* a, float b, float* out, std::size_t n) {
  with_op(op, [&](auto f) {
    for (std::size_t i = 0; i < n; ++i) out[i] = f(a[i], b);
  });
}

KRAIT_CLONES void reversed_loop(AluOp op, const float* a, float b, float* out, std::size_t n) {
  with_op(op, [&](auto f) {
    for (std::size_t i = 0; i < n; ++i) out[i] = f(b, a[i]);
  });
}

}  // namespace

std::string_view name(AluOp op) {
  return kNames[static_cast<std::size_t>(op)];
}

std::optional<AluOp> parse_alu_op(std::string_view text) {
  for (const AluOp op : kOps)
    if (name(op) == text) return op;
  return std::nullopt;
}

std::span<const AluOp> alu_ops() {
  return std::span(kOps).first(kOps.size() - kBitOps);
}
std::span<const AluOp> bit_ops() {
  return std::span(kOps).last(kBitOps);
}
bool is_bitwise(AluOp op) {
  return op >= AluOp::kBitwiseAnd;
}

bool reduces(AluOp op) {
  switch (op) {
    case AluOp::kAdd:
    case AluOp::kSubtract:
    case AluOp::kMultiply:
    case AluOp::kMax:
    case AluOp::kMin:
    case AluOp::kLogicalAnd:
    case AluOp::kLogicalOr:
    case AluOp::kLogicalXor:
    case AluOp::kBitwiseAnd:
    case AluOp::kBitwiseOr:
    case AluOp::kBitwiseXor:
      return true;
    default:
      return false;
  }
}

bool is_unary(AluOp op) {
  switch (op) {
    case AluOp::kBypass:
    case AluOp::kAbs:
    case AluOp::kRsqrt:
    case AluOp::kReciprocal:
    case AluOp::kSquare:
    case AluOp::kRelu:
    case AluOp::kInvert:
      return true;
    default:
      return false;
  }
}

float identity(AluOp op) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  switch (op) {
    case AluOp::kMultiply:
    case AluOp::kLogicalAnd:
      return 1;
    case AluOp::kMax:
      return -kInf;
    case AluOp::kMin:
    case AluOp::kAbsMin:
      return kInf;
    default:
      return 0;
  }
}

float apply(AluOp op, float a, float b) {
  float out = 0;
  with_op(op, [&](auto f) { out = f(a, b); });
  return out;
}

void apply_rows(AluOp op, std::span<const float> a, std::span<const float> b,
                std::span<float> out) {
  rows_loop(op, a.data(), b.data(), out.data(), out.size());
}

void apply_row_scalar(AluOp op, std::span<const float> a, float b, bool reverse,
                      std::span<float> out) {
  (reverse ? reversed_loop : scalar_loop)(op, a.data(), b, out.data(), out.size());
}

float reduce_row(AluOp op, std::span<const float> a, float start) {
  float acc = start;
  with_op(op, [&](auto f) {
    for (const float x : a) acc = f(acc, x);
  });
  return acc;
}

std::uint32_t apply_bits(AluOp op, std::uint32_t a, std::uint32_t b, int width) {
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  const bool out = b >= static_cast<std::uint32_t>(width);
  switch (op) {
    case AluOp::kBypass:
      return a;
    case AluOp::kBitwiseAnd:
      return a & b;
    case AluOp::kBitwiseOr:
      return a | b;
    case AluOp::kBitwiseXor:
      return a ^ b;
    case AluOp::kInvert:
      return ~a & mask;
    case AluOp::kLeftShift:
      return out ? 0 : (a << b) & mask;
    default:
      KRAIT_ASSERT(op == AluOp::kRightShift);
      return out ? 0 : a >> b;
  }
}

}  // namespace krait::isa
