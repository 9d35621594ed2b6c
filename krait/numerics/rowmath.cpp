#include "krait/numerics/hwy_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/numerics/rowmath.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "krait/numerics/rowmath.hpp"
#include "krait/numerics/rowmath_core-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace krait::numerics_detail::HWY_NAMESPACE {

using DHalf = hn::Rebind<float, D>;  // as many f32 as there are f64 lanes
using VHalf = hn::Vec<DHalf>;
inline constexpr DHalf kHalf{};

/// Rounds to f32. Highway's own scalar version saturates where IEEE gives Inf.
HWY_INLINE VHalf to_f32(V x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  HWY_ALIGN double wide[hn::MaxLanes(D())];
  HWY_ALIGN float narrow[hn::MaxLanes(D())];
  hn::Store(x, kD, wide);
  for (std::size_t i = 0; i < hn::Lanes(kD); ++i) narrow[i] = static_cast<float>(wide[i]);
  return hn::Load(kHalf, narrow);
#else
  return hn::DemoteTo(kHalf, x);
#endif
}

/// fn(x), with NaN for NaN; every NaN is the canonical one, so payloads depend on nothing.
template <class Fn>
HWY_INLINE V evaluate(Fn fn, V x) {
  const V y = fn(x);
  const M is_number = hn::And(hn::Eq(x, x), hn::Eq(y, y));
  return hn::IfThenElse(is_number, y, set(std::numeric_limits<double>::quiet_NaN()));
}

template <class Fn>
void map_row(Fn fn, const float* in, float* out, std::size_t n) {
  const std::size_t lanes = hn::Lanes(kD);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V x = hn::PromoteTo(kD, hn::LoadU(kHalf, in + i));
    hn::StoreU(to_f32(evaluate(fn, x)), kHalf, out + i);
  }
  if (i == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(D())] = {};
  std::memcpy(rest, in + i, (n - i) * sizeof(float));
  hn::Store(to_f32(evaluate(fn, hn::PromoteTo(kD, hn::Load(kHalf, rest)))), kHalf, rest);
  std::memcpy(out + i, rest, (n - i) * sizeof(float));
}

/// Calls use(f) with the vector function f of `fn`.
template <class Use>
void with_function(UnaryFn fn, Use use) {
  switch (fn) {
    case UnaryFn::kCopy:
      return use([](V x) HWY_ATTR { return x; });
    case UnaryFn::kSquare:
      return use([](V x) HWY_ATTR { return hn::Mul(x, x); });
    case UnaryFn::kAbs:
      return use([](V x) HWY_ATTR { return hn::Abs(x); });
    case UnaryFn::kSign:
      return use([](V x) HWY_ATTR { return sign(x); });
    case UnaryFn::kRelu:
      return use([](V x) HWY_ATTR { return hn::IfThenElseZero(hn::Lt(hn::Zero(kD), x), x); });
    case UnaryFn::kExp:
      return use([](V x) HWY_ATTR { return exp(x); });
    case UnaryFn::kLog:
      return use([](V x) HWY_ATTR { return log(x); });
    case UnaryFn::kSqrt:
      return use([](V x) HWY_ATTR { return hn::Sqrt(x); });
    case UnaryFn::kRsqrt:
      return use([](V x) HWY_ATTR { return hn::Div(set(1), hn::Sqrt(x)); });
    case UnaryFn::kReciprocal:
      return use([](V x) HWY_ATTR { return hn::Div(set(1), x); });
    case UnaryFn::kSin:
      return use([](V x) HWY_ATTR { return sin(x); });
    case UnaryFn::kArctan:
      return use([](V x) HWY_ATTR { return arctan(x); });
    case UnaryFn::kTanh:
      return use([](V x) HWY_ATTR { return tanh(x); });
    case UnaryFn::kSigmoid:
      return use([](V x) HWY_ATTR { return sigmoid(x); });
    case UnaryFn::kSoftplus:
      return use([](V x) HWY_ATTR { return softplus(x); });
    case UnaryFn::kSilu:
      return use([](V x) HWY_ATTR { return silu(x); });
    case UnaryFn::kMish:
      return use([](V x) HWY_ATTR { return mish(x); });
    case UnaryFn::kErf:
      return use([](V x) HWY_ATTR { return erf(x); });
    case UnaryFn::kGelu:
      return use([](V x) HWY_ATTR { return gelu(x); });
    case UnaryFn::kGeluApprxTanh:
      return use([](V x) HWY_ATTR { return gelu_apprx_tanh(x); });
    case UnaryFn::kGeluApprxSigmoid:
      return use([](V x) HWY_ATTR { return gelu_apprx_sigmoid(x); });
  }
}

void apply_any(UnaryFn fn, const float* in, float* out, std::size_t n) {
  with_function(fn, [=](auto f) HWY_ATTR { map_row(f, in, out, n); });
}

void apply_one(UnaryFn fn, double x, double* y) {
  with_function(fn, [=](auto f) HWY_ATTR { *y = hn::GetLane(evaluate(f, set(x))); });
}

}  // namespace krait::numerics_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <array>

#include "krait/base/error.hpp"
#include "krait/numerics/cpu_target.hpp"

namespace krait {
namespace numerics_detail {
namespace {

HWY_EXPORT(apply_any);
HWY_EXPORT(apply_one);

}  // namespace
}  // namespace numerics_detail

namespace {

constexpr std::array kFunctions = {
    UnaryFn::kCopy,       UnaryFn::kSquare,        UnaryFn::kAbs,
    UnaryFn::kSign,       UnaryFn::kRelu,          UnaryFn::kExp,
    UnaryFn::kLog,        UnaryFn::kSqrt,          UnaryFn::kRsqrt,
    UnaryFn::kReciprocal, UnaryFn::kSin,           UnaryFn::kArctan,
    UnaryFn::kTanh,       UnaryFn::kSigmoid,       UnaryFn::kSoftplus,
    UnaryFn::kSilu,       UnaryFn::kMish,          UnaryFn::kErf,
    UnaryFn::kGelu,       UnaryFn::kGeluApprxTanh, UnaryFn::kGeluApprxSigmoid};

// In the order of kFunctions.
constexpr std::array<std::string_view, kFunctions.size()> kNames = {"copy",
                                                                    "square",
                                                                    "abs",
                                                                    "sign",
                                                                    "relu",
                                                                    "exp",
                                                                    "log",
                                                                    "sqrt",
                                                                    "rsqrt",
                                                                    "reciprocal",
                                                                    "sin",
                                                                    "arctan",
                                                                    "tanh",
                                                                    "sigmoid",
                                                                    "softplus",
                                                                    "silu",
                                                                    "mish",
                                                                    "erf",
                                                                    "gelu",
                                                                    "gelu_apprx_tanh",
                                                                    "gelu_apprx_sigmoid"};

}  // namespace

std::span<const UnaryFn> unary_fns() {
  return kFunctions;
}

std::string_view name(UnaryFn fn) {
  const auto index = static_cast<std::size_t>(fn);
  KRAIT_ASSERT(index < kNames.size());
  return kNames[index];
}

std::optional<UnaryFn> parse_unary_fn(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return kFunctions[i];
  }
  return std::nullopt;
}

void apply_row(UnaryFn fn, std::span<const float> in, std::span<float> out) {
  using namespace numerics_detail;
  KRAIT_ASSERT(in.size() == out.size());
  apply_cpu_override();
  if (fn == UnaryFn::kCopy) {
    if (!in.empty()) std::memmove(out.data(), in.data(), in.size_bytes());
    return;
  }
  HWY_DYNAMIC_DISPATCH(apply_any)(fn, in.data(), out.data(), in.size());
}

double apply_scalar(UnaryFn fn, double x) {
  using namespace numerics_detail;
  apply_cpu_override();
  double y = 0;
  HWY_DYNAMIC_DISPATCH(apply_one)(fn, x, &y);
  return y;
}

}  // namespace krait
#endif  // HWY_ONCE
