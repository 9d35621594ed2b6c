#pragma once

// Element-wise functions on rows of f32, used by the simulated Scalar engine and the references.
// Every function is computed in f64 without fused multiply-add and rounded once, so results are the
// same bits on every CPU and correctly rounded except where the exact value lies within about 2^-50
// (relative) of a rounding boundary. in and out may be the same row.
//
// Special values: NaN gives the canonical NaN 0x7FC00000 (copy keeps all bits); functions of x
// times something that vanishes give -0 at -Inf (silu, mish, the gelus), as for every very negative
// x; sign(+-0) and relu(-0) are +0; log(+-0) = -Inf, log and sqrt of negative values are NaN; rsqrt
// and reciprocal of +-0 are +-Inf. Subnormals are arguments and results like any other value.
// Ranges that the machine limits (sin beyond pi, log beyond 2^64, ...) are the instruction's
// concern, not ours: here every f32 is a valid argument, also of sin. Source: SH32
// (definitions); accuracy: our decision, hardware's tables are not public.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace krait {

enum class UnaryFn : std::uint8_t {
  kCopy,
  kSquare,
  kAbs,
  kSign,
  kRelu,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSin,
  kArctan,
  kTanh,
  kSigmoid,
  kSoftplus,  // ln(1 + e^x)
  kSilu,      // x * sigmoid(x)
  kMish,      // x * tanh(softplus(x))
  kErf,
  kGelu,             // x * Phi(x)
  kGeluApprxTanh,    // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  kGeluApprxSigmoid  // x * sigmoid(1.702 x)
};

[[nodiscard]] std::string_view name(UnaryFn fn);  // the ISA's name: "exp", "gelu_apprx_tanh"
[[nodiscard]] std::optional<UnaryFn> parse_unary_fn(std::string_view name);
[[nodiscard]] std::span<const UnaryFn> unary_fns();

/// out[i] = fn(in[i]); sizes equal.
void apply_row(UnaryFn fn, std::span<const float> in, std::span<float> out);
/// The scalar definition, for tests and references: the f64 value before rounding. Within 2^-50
/// (relative) if x is an f32 value and the result matters in f32; results beyond e^+-708 become
/// their limit. For other x the gelus lose some bits in the far negative tail.
[[nodiscard]] double apply_scalar(UnaryFn fn, double x);

}  // namespace krait
