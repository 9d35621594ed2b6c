#include "krait/numerics/dtype.hpp"

#include <array>

#include "krait/base/error.hpp"

namespace krait {
namespace {

// The safetensors name F8_E4M3 is the OCP type (torch.float8_e4m3fn); the IEEE-like 240-max type,
// tf32 and single 4-bit elements have no name there.
// clang-format off
constexpr std::array kTypes = {
    DTypeInfo{DType::kF64,      "f64",      "F64",     8, true, 11, 52},
    DTypeInfo{DType::kF32,      "f32",      "F32",     4, true, 8, 23},
    DTypeInfo{DType::kTf32,     "tf32",     "",        4, true, 8, 10},
    DTypeInfo{DType::kBf16,     "bf16",     "BF16",    2, true, 8, 7},
    DTypeInfo{DType::kF16,      "f16",      "F16",     2, true, 5, 10},
    DTypeInfo{DType::kF8E4M3,   "f8e4m3",   "",        1, true, 4, 3},
    DTypeInfo{DType::kF8E5M2,   "f8e5m2",   "F8_E5M2", 1, true, 5, 2},
    DTypeInfo{DType::kF8E3M4,   "f8e3m4",   "",        1, true, 3, 4},
    DTypeInfo{DType::kF8E4M3Fn, "f8e4m3fn", "F8_E4M3", 1, true, 4, 3},
    DTypeInfo{DType::kF8E8M0,   "f8e8m0",   "F8_E8M0", 1, true, 8, 0},
    DTypeInfo{DType::kF4E2M1,   "f4e2m1",   "",        1, true, 2, 1},
    DTypeInfo{DType::kI64,      "i64",      "I64",     8, false, 0, 0},
    DTypeInfo{DType::kI32,      "i32",      "I32",     4, false, 0, 0},
    DTypeInfo{DType::kU32,      "u32",      "U32",     4, false, 0, 0},
    DTypeInfo{DType::kI16,      "i16",      "I16",     2, false, 0, 0},
    DTypeInfo{DType::kU16,      "u16",      "U16",     2, false, 0, 0},
    DTypeInfo{DType::kI8,       "i8",       "I8",      1, false, 0, 0},
    DTypeInfo{DType::kU8,       "u8",       "U8",      1, false, 0, 0},
    DTypeInfo{DType::kF8E5M2x4,   "f8e5m2_x4",   "",   4, false, 0, 0},
    DTypeInfo{DType::kF8E4M3Fnx4, "f8e4m3fn_x4", "",   4, false, 0, 0},
    DTypeInfo{DType::kF4E2M1x4,   "f4e2m1fn_x4", "",   2, false, 0, 0},
};
// clang-format on

constexpr bool in_enumeration_order() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<std::size_t>(kTypes[i].dtype) != i) return false;
  }
  return true;
}
static_assert(in_enumeration_order());

}  // namespace

std::span<const DTypeInfo> dtypes() {
  return kTypes;
}

const DTypeInfo& info(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  KRAIT_ASSERT(index < kTypes.size());
  return kTypes[index];
}

std::string_view name(DType dtype) {
  return info(dtype).name;
}
std::size_t size_of(DType dtype) {
  return info(dtype).size;
}
bool is_float(DType dtype) {
  return info(dtype).is_float;
}

bool is_packed(DType dtype) {
  return element_of(dtype) != dtype;
}

DType element_of(DType dtype) {
  switch (dtype) {
    case DType::kF8E5M2x4:
      return DType::kF8E5M2;
    case DType::kF8E4M3Fnx4:
      return DType::kF8E4M3Fn;
    case DType::kF4E2M1x4:
      return DType::kF4E2M1;
    default:
      return dtype;
  }
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeInfo& type : kTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

}  // namespace krait
