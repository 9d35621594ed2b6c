#include "krait/numerics/dtype.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace krait {
namespace {

TEST(DType, EveryTypeIsFoundByItsName) {
  std::set<std::string> names;
  for (const DTypeInfo& type : dtypes()) {
    EXPECT_EQ(parse_dtype(type.name), type.dtype);
    EXPECT_EQ(name(type.dtype), type.name);
    EXPECT_EQ(&info(type.dtype), &type);
    names.emplace(type.name);
  }
  EXPECT_EQ(names.size(), dtypes().size());
  EXPECT_EQ(dtypes().size(), static_cast<std::size_t>(DType::kF4E2M1x4) + 1);
}

TEST(DType, UnknownNamesGiveNothing) {
  for (const char* text : {"", "F32", "float32", "bf", "bf16 ", "f8"}) {
    EXPECT_FALSE(parse_dtype(text).has_value()) << text;
  }
}

TEST(DType, FloatFieldsFillTheElement) {
  for (const DTypeInfo& type : dtypes()) {
    EXPECT_EQ(is_float(type.dtype), type.is_float);
    EXPECT_EQ(size_of(type.dtype), type.size);
    if (!type.is_float) continue;
    const int bits = 1 + type.exponent_bits + type.mantissa_bits;
    const bool partial = type.dtype == DType::kTf32 || type.dtype == DType::kF4E2M1;
    const bool unsigned_scale = type.dtype == DType::kF8E8M0;
    if (partial) {
      EXPECT_LT(bits, type.size * 8) << type.name;
    } else {
      EXPECT_EQ(bits - (unsigned_scale ? 1 : 0), type.size * 8) << type.name;
    }
  }
}

TEST(DType, PacksHoldFourValuesOfTheirElement) {
  int packs = 0;
  for (const DTypeInfo& type : dtypes()) {
    const DTypeInfo& element = info(element_of(type.dtype));
    EXPECT_EQ(is_packed(type.dtype), element.dtype != type.dtype);
    EXPECT_EQ(is_packed(type.dtype), type.name.ends_with("_x4"));
    if (!is_packed(type.dtype)) continue;
    ++packs;
    EXPECT_EQ(type.size * 8, 4 * (1 + element.exponent_bits + element.mantissa_bits)) << type.name;
    EXPECT_FALSE(is_float(type.dtype));
  }
  EXPECT_EQ(packs, 3);
}

TEST(DType, SafetensorsNamesAreUnique) {
  std::set<std::string> names;
  for (const DTypeInfo& type : dtypes()) {
    if (type.safetensors.empty()) continue;
    EXPECT_TRUE(names.emplace(type.safetensors).second) << type.name;
  }
  EXPECT_EQ(info(DType::kF8E4M3Fn).safetensors, "F8_E4M3");  // as torch writes float8_e4m3fn
  EXPECT_TRUE(info(DType::kF8E4M3).safetensors.empty());
}

}  // namespace
}  // namespace krait
