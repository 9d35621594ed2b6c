#include "krait/numerics/hwy_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "krait/numerics/convert_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "krait/numerics/convert_rows.hpp"
#include "krait/numerics/float_format.hpp"

HWY_BEFORE_NAMESPACE();
namespace krait::numerics_detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Lanes are 32 bits wide throughout; elements are promoted on load and demoted on store, so every
// target uses one algorithm, also the scalar one with its single lane.
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
using VU = hn::Vec<DU>;
inline constexpr DF kF{};
inline constexpr DI kI{};
inline constexpr DU kU{};

// Elements may lie at odd addresses. Vector loads allow that; the scalar target dereferences.
template <class D>
HWY_INLINE hn::Vec<D> load_elements(D d, const std::byte* in) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  HWY_ALIGN hn::TFromD<D> copy[hn::MaxLanes(D())];
  std::memcpy(copy, in, sizeof(copy));
  return hn::Load(d, copy);
#else
  return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(in));
#endif
}

template <class D>
HWY_INLINE void store_elements(hn::Vec<D> v, D d, std::byte* out) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  HWY_ALIGN hn::TFromD<D> copy[hn::MaxLanes(D())];
  hn::Store(v, d, copy);
  std::memcpy(out, copy, sizeof(copy));
#else
  hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(out));
#endif
}

template <class T>
HWY_INLINE VI load_signed(const std::byte* in) {
  if constexpr (sizeof(T) == 4) {
    return load_elements(kI, in);
  } else {
    return hn::PromoteTo(kI, load_elements(hn::Rebind<T, DF>(), in));
  }
}

template <class T>
HWY_INLINE void store_signed(VI v, std::byte* out) {
  if constexpr (sizeof(T) == 4) {
    store_elements(v, kI, out);
  } else {
    const hn::Rebind<T, DF> d;
    store_elements(hn::DemoteTo(d, v), d, out);
  }
}

HWY_INLINE VU select(hn::Mask<DU> mask, VU yes, VU no) {
  return hn::IfThenElse(mask, yes, no);
}
// Magnitudes and codes are below 2^31, where signed comparison is right and every target has it.
HWY_INLINE hn::Mask<DU> less(VU a, VU b) {
  return hn::RebindMask(kU, hn::Lt(hn::BitCast(kI, a), hn::BitCast(kI, b)));
}

/// Round half to even, saturating. Highway's own scalar NearestInt adds 0.5 first, which is wrong
/// for 0.49999997 and above 2^22, and casts 2^31, which is undefined.
HWY_INLINE VI nearest_int(VF v) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  const VF anchor = hn::CopySign(hn::Set(kF, 8388608.0F), v);  // 2^23: the last place is 1
  const auto is_integer = hn::Le(hn::Set(kF, 8388608.0F), hn::Abs(v));
  const VF rounded = hn::IfThenElse(is_integer, v, hn::Sub(hn::Add(v, anchor), anchor));
  const auto is_high = hn::Le(hn::Set(kF, 2147483648.0F), v);
  const VI converted = hn::ConvertTo(kI, hn::IfThenZeroElse(is_high, rounded));
  return hn::IfThenElse(hn::RebindMask(kI, is_high), hn::Set(kI, 0x7FFFFFFF), converted);
#else
  return hn::NearestInt(v);
#endif
}

/// The integer type of an element's bytes.
template <int kBytes>
struct CodeType;
template <>
struct CodeType<1> {
  using Type = std::uint8_t;
};
template <>
struct CodeType<2> {
  using Type = std::uint16_t;
};
template <>
struct CodeType<4> {
  using Type = std::uint32_t;
};

template <FloatFormat kFormat, int kBytes>
struct FloatElements {
  using Code = typename CodeType<kBytes>::Type;
  static constexpr int kSize = kBytes;
  static constexpr bool kWideExponent = kFormat.exponent_bits == 8;
  // In a 32-bit container (tf32) the code stands in the upper bits, with the unused ones below it.
  static constexpr bool kContainer = kBytes == 4;

  /// Shifting a code into f32's place leaves its exponent field off by the difference of the
  /// biases. Field 0: adding one more unit makes it normal with a hidden 1; subtracting that 1
  /// again leaves the subnormal value, exactly.
  static HWY_INLINE VF decode(VU code) {
    constexpr int kShift = kFormat.dropped_bits();
    const VU sign = hn::ShiftLeft<31 - kFormat.sign_shift()>(
        hn::And(code, hn::Set(kU, 1U << kFormat.sign_shift())));
    const VU magnitude = hn::And(code, hn::Set(kU, kFormat.magnitude_mask()));
    VU bits = hn::ShiftLeft<kShift>(magnitude);
    if constexpr (!kWideExponent) {
      constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kFormat.bias) << 23;
      constexpr std::uint32_t kHidden = kRebias + (1U << 23);
      const VF small = hn::Sub(hn::BitCast(kF, hn::Add(bits, hn::Set(kU, kHidden))),
                               hn::BitCast(kF, hn::Set(kU, kHidden)));
      const auto is_small = less(magnitude, hn::Set(kU, 1U << kFormat.mantissa_bits));
      bits = select(is_small, hn::BitCast(kU, small), hn::Add(bits, hn::Set(kU, kRebias)));
      if constexpr (kFormat.has_infinity()) {
        const auto is_infinity = hn::Eq(magnitude, hn::Set(kU, kFormat.ceiling));
        bits = select(is_infinity, hn::Set(kU, kF32Infinity), bits);
      }
    }
    const auto is_nan = less(hn::Set(kU, kFormat.first_nan - 1), magnitude);
    bits = select(is_nan, hn::Set(kU, kF32Nan), bits);
    return hn::BitCast(kF, hn::Or(bits, sign));
  }

  static HWY_INLINE VU encode(VF value) {
    constexpr int kShift = kFormat.dropped_bits();
    constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kFormat.bias)
                                      << kFormat.mantissa_bits;
    const VU bits = hn::BitCast(kU, value);
    const VU magnitude = hn::And(bits, hn::Set(kU, 0x7FFFFFFFU));
    const VU sign = hn::ShiftLeft<kFormat.sign_shift()>(hn::ShiftRight<31>(bits));
    const VU odd = hn::And(hn::ShiftRight<kShift>(magnitude), hn::Set(kU, 1U));
    const VU half = hn::Set(kU, (1U << (kShift - 1)) - 1);
    VU code = hn::Sub(hn::ShiftRight<kShift>(hn::Add(magnitude, hn::Add(half, odd))),
                      hn::Set(kU, kRebias));
    if constexpr (!kWideExponent) code = select(is_tiny(magnitude), encode_tiny(magnitude), code);
    const VU ceiling = hn::Set(kU, kFormat.ceiling);
    code = select(less(ceiling, code), ceiling, code);
    const auto is_nan = less(hn::Set(kU, kF32Infinity), magnitude);
    if constexpr (kFormat.nan_keeps_sign) {
      return hn::Or(select(is_nan, hn::Set(kU, kFormat.nan), code), sign);
    } else {
      return select(is_nan, hn::Set(kU, kFormat.nan), hn::Or(code, sign));
    }
  }

  static HWY_INLINE VF load(const std::byte* in) {
    VU code = hn::BitCast(kU, load_signed<Code>(in));
    if constexpr (kContainer) code = keep_nan_while_shifting(code);
    return decode(code);
  }
  static HWY_INLINE void store(VF v, std::byte* out) {
    VU code = encode(v);
    if constexpr (kContainer) code = hn::ShiftLeft<kFormat.dropped_bits()>(code);
    store_signed<Code>(hn::BitCast(kI, code), out);
  }

 private:
  static constexpr auto kMinNormal = static_cast<std::uint32_t>(kFormat.min_normal_field()) << 23;

  static HWY_INLINE hn::Mask<DU> is_tiny(VU magnitude) {
    return less(magnitude, hn::Set(kU, kMinNormal));
  }
  /// Adding a power of two whose last place is the format's smallest step rounds to that step, to
  /// nearest even; the sum's low bits are the code, also where it carries into the first normal.
  static HWY_INLINE VU encode_tiny(VU magnitude) {
    constexpr auto kAnchor =
        static_cast<std::uint32_t>(kFormat.min_normal_field() + kFormat.dropped_bits()) << 23;
    const VU anchor = hn::Set(kU, kAnchor);
    const VF sum = hn::Add(hn::BitCast(kF, magnitude), hn::BitCast(kF, anchor));
    return hn::Sub(hn::BitCast(kU, sum), anchor);
  }
  /// A NaN whose payload lies only in the unused bits must not become Inf.
  static HWY_INLINE VU keep_nan_while_shifting(VU bits) {
    const auto is_nan = less(hn::Set(kU, kF32Infinity), hn::And(bits, hn::Set(kU, 0x7FFFFFFFU)));
    bits = hn::Or(bits, hn::IfThenElseZero(is_nan, hn::Set(kU, 1U << 22)));
    return hn::ShiftRight<kFormat.dropped_bits()>(bits);
  }
};

/// Bounds are integers, so clamping before rounding equals rounding before clamping. NaN fails both
/// comparisons and is cleared at the end.
template <class T>
struct IntElements {
  static constexpr int kSize = sizeof(T);
  static constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);

  static HWY_INLINE VF load(const std::byte* in) { return hn::ConvertTo(kF, load_signed<T>(in)); }

  static HWY_INLINE void store(VF v, std::byte* out) {
    if constexpr (kSize < 4) {
      const VF low = hn::Set(kF, kIsSigned ? -static_cast<float>(1 << (8 * kSize - 1)) : 0.0F);
      const VF high =
          hn::Set(kF, static_cast<float>((1 << (8 * kSize - static_cast<int>(kIsSigned))) - 1));
      v = hn::IfThenElse(hn::Lt(v, low), low, v);
      v = hn::IfThenElse(hn::Lt(high, v), high, v);
    }
    store_signed<T>(round(v), out);  // for i32 the rounding itself saturates
  }

  static HWY_INLINE VI round(VF v) {
    v = hn::IfThenElseZero(hn::Eq(v, v), v);
    return nearest_int(v);
  }
};

struct UnsignedWords {
  static constexpr int kSize = 4;

  /// Both halves and the scaled upper half are exact, so the sum rounds once.
  static HWY_INLINE VF load(const std::byte* in) {
    const VU bits = load_elements(kU, in);
    const VU low = hn::And(bits, hn::Set(kU, 0xFFFFU));
    const VF high = hn::ConvertTo(kF, hn::BitCast(kI, hn::ShiftRight<16>(bits)));
    return hn::Add(hn::Mul(high, hn::Set(kF, 65536.0F)), hn::ConvertTo(kF, hn::BitCast(kI, low)));
  }

  /// Values from 2^31 up are integers already: convert them less 2^31 and put the top bit back.
  static HWY_INLINE void store(VF v, std::byte* out) {
    const VF half = hn::Set(kF, 2147483648.0F);
    const auto is_high = hn::Le(half, v);
    v = hn::IfThenElseZero(hn::Lt(hn::Zero(kF), v), v);  // negative and NaN give 0
    const VF reduced = hn::IfThenElse(is_high, hn::Sub(v, half), v);
    VU bits = hn::BitCast(kU, nearest_int(reduced));  // 2^31 and above give 0x7FFFFFFF
    bits = hn::Add(bits, hn::IfThenElseZero(hn::RebindMask(kU, is_high), hn::Set(kU, 0x80000000U)));
    store_elements(bits, kU, out);
  }
};

template <class Elements>
void widen(const std::byte* in, std::size_t n, float* out) {
  const std::size_t lanes = hn::Lanes(kF);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(Elements::load(in + i * Elements::kSize), kF, out + i);
  }
  if (i == n) return;
  std::byte rest[HWY_MAX_BYTES] = {};
  HWY_ALIGN float values[hn::MaxLanes(DF())];
  std::memcpy(rest, in + i * Elements::kSize, (n - i) * Elements::kSize);
  hn::Store(Elements::load(rest), kF, values);
  std::memcpy(out + i, values, (n - i) * sizeof(float));
}

template <class Elements>
void narrow(const float* in, std::size_t n, std::byte* out) {
  const std::size_t lanes = hn::Lanes(kF);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Elements::store(hn::LoadU(kF, in + i), out + i * Elements::kSize);
  }
  if (i == n) return;
  std::byte rest[HWY_MAX_BYTES];
  HWY_ALIGN float values[hn::MaxLanes(DF())] = {};
  std::memcpy(values, in + i, (n - i) * sizeof(float));
  Elements::store(hn::Load(kF, values), rest);
  std::memcpy(out + i * Elements::kSize, rest, (n - i) * Elements::kSize);
}

/// Calls `row` with the elements of a type; the list of types that have vector rows.
template <class Row>
bool with_elements(DType dtype, Row row) {
  switch (dtype) {
    case DType::kTf32:
      row(FloatElements<kTf32Format, 4>());
      return true;
    case DType::kBf16:
      row(FloatElements<kBf16Format, 2>());
      return true;
    case DType::kF16:
      row(FloatElements<kF16Format, 2>());
      return true;
    case DType::kF8E4M3:
      row(FloatElements<kF8E4M3Format, 1>());
      return true;
    case DType::kF8E5M2:
      row(FloatElements<kF8E5M2Format, 1>());
      return true;
    case DType::kF8E3M4:
      row(FloatElements<kF8E3M4Format, 1>());
      return true;
    case DType::kF8E4M3Fn:
      row(FloatElements<kF8E4M3FnFormat, 1>());
      return true;
    case DType::kF4E2M1:
      row(FloatElements<kF4E2M1Format, 1>());
      return true;
    case DType::kI32:
      row(IntElements<std::int32_t>());
      return true;
    case DType::kU32:
      row(UnsignedWords());
      return true;
    case DType::kI16:
      row(IntElements<std::int16_t>());
      return true;
    case DType::kU16:
      row(IntElements<std::uint16_t>());
      return true;
    case DType::kI8:
      row(IntElements<std::int8_t>());
      return true;
    case DType::kU8:
      row(IntElements<std::uint8_t>());
      return true;
    default:
      return false;
  }
}

bool widen_any(DType dtype, const std::byte* in, std::size_t n, float* out) {
  return with_elements(dtype, [=](auto elements) { widen<decltype(elements)>(in, n, out); });
}

bool narrow_any(DType dtype, const float* in, std::size_t n, std::byte* out) {
  return with_elements(dtype, [=](auto elements) { narrow<decltype(elements)>(in, n, out); });
}

}  // namespace krait::numerics_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "krait/base/error.hpp"
#include "krait/numerics/cpu_target.hpp"

namespace krait::numerics_detail {
namespace {

HWY_EXPORT(widen_any);
HWY_EXPORT(narrow_any);

}  // namespace

bool has_vector_rows(DType dtype) {
  return dtype != DType::kF64 && dtype != DType::kF32 && dtype != DType::kF8E8M0 &&
         dtype != DType::kI64 && !is_packed(dtype);
}

void widen_row(DType dtype, const std::byte* in, std::size_t n, float* out) {
  apply_cpu_override();
  KRAIT_ASSERT(HWY_DYNAMIC_DISPATCH(widen_any)(dtype, in, n, out));
}

void narrow_row(DType dtype, const float* in, std::size_t n, std::byte* out) {
  apply_cpu_override();
  KRAIT_ASSERT(HWY_DYNAMIC_DISPATCH(narrow_any)(dtype, in, n, out));
}

}  // namespace krait::numerics_detail
#endif  // HWY_ONCE
