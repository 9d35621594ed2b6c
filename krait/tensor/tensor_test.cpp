#include "krait/tensor/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"
#include "krait/numerics/convert.hpp"

namespace krait {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMaxI64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinI64 = std::numeric_limits<std::int64_t>::min();

template <class T>
Tensor of(DType dtype, const std::vector<T>& values) {
  Tensor out(dtype, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), out.values<T>().begin());
  return out;
}

template <class T>
std::vector<T> list(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

/// The low size_of(dtype) bytes of element i.
std::uint64_t bits(const Tensor& tensor, std::size_t i) {
  std::uint64_t out = 0;
  const std::size_t size = size_of(tensor.dtype());
  std::memcpy(&out, tensor.data() + i * size, size);
  return out;
}

std::string user_error(const std::function<void()>& act) {
  try {
    act();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no UserError";
}

TEST(Shape, PrintsAsAList) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{2, 16, 128}), "[2, 16, 128]");
}

TEST(Shape, CountIsTheProductOfTheDimensions) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({7}), 7);
  EXPECT_EQ(element_count({2, 0, 3}), 0);
  EXPECT_EQ(element_count({kMaxI64}), kMaxI64);
}

TEST(Shape, ZeroDimensionGivesNoElementsInAnyOrder) {
  const std::int64_t big = std::int64_t{1} << 62;
  EXPECT_EQ(element_count({0, big, big}), 0);
  EXPECT_EQ(element_count({big, big, 0}), 0);
}

TEST(Shape, RejectsNegativeAndOverflowingDimensions) {
  EXPECT_THAT(user_error([] {
                (void)element_count({2, -1, 0});
              }),
              AllOf(HasSubstr("negative"), HasSubstr("[2, -1, 0]")));
  EXPECT_THAT(user_error([] {
                (void)element_count({kMaxI64, 2});
              }),
              AllOf(HasSubstr("2^63"), HasSubstr("9223372036854775807, 2]")));
}

TEST(Shape, CheckedBytesAccountsForTheElementSize) {
  EXPECT_EQ(checked_bytes(DType::kF64, {3, 2}), 48u);
  EXPECT_EQ(checked_bytes(DType::kU8, {kMaxI64}), static_cast<std::uint64_t>(kMaxI64));
  EXPECT_EQ(checked_bytes(DType::kBf16, {kMaxI64}), std::nullopt);
  EXPECT_EQ(checked_bytes(DType::kU8, {-1}), std::nullopt);
}

TEST(Tensor, StartsZeroFilledAndAlignedForEveryDtype) {
  for (const DTypeInfo& row : dtypes()) {
    const Tensor tensor(row.dtype, {3, 5});
    EXPECT_EQ(tensor.bytes(), 15u * row.size) << row.name;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0u) << row.name;
    for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(bits(tensor, i), 0u) << row.name;
  }
}

TEST(Tensor, HoldsScalarsAndNothing) {
  const Tensor scalar(DType::kF64, {});
  EXPECT_EQ(scalar.count(), 1);
  EXPECT_EQ(scalar.rank(), 0u);
  const Tensor none(DType::kF32, {4, 0});
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_TRUE(none.values<float>().empty());
  EXPECT_EQ(none.clone().count(), 0);
  EXPECT_EQ(none.cast(DType::kBf16).count(), 0);
  EXPECT_TRUE(none.to_f64().empty());
  EXPECT_EQ(Tensor().count(), 0);
}

TEST(Tensor, RejectsSizesThatOverflowBytes) {
  EXPECT_THAT(user_error([] { Tensor(DType::kF32, {std::int64_t{1} << 61}); }),
              AllOf(HasSubstr("2^63"), HasSubstr("f32 [2305843009213693952]")));
}

TEST(Tensor, ReportsMemoryThatCannotBeHad) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer stops at an impossible allocation by itself";
#endif
  EXPECT_THAT(user_error([] { Tensor(DType::kU8, {std::int64_t{1} << 62}); }),
              HasSubstr("not enough memory"));
}

TEST(Tensor, CopySharesBytesAndCloneDoesNot) {
  Tensor a = Tensor::f32({2}, std::vector<float>{1, 2});
  Tensor shared = a;
  Tensor cloned = a.clone();
  a.values<float>()[0] = 9;
  EXPECT_THAT(list<float>(shared), ElementsAre(9, 2));
  EXPECT_THAT(list<float>(cloned), ElementsAre(1, 2));
}

TEST(Tensor, SharesAlignedForeignBytes) {
  const Tensor owner = Tensor::f32({4}, std::vector<float>{1, 2, 3, 4});
  const std::shared_ptr<std::byte> bytes(std::make_shared<Tensor>(owner),
                                         const_cast<std::byte*>(owner.data()) + 4);
  Tensor view(DType::kF32, {3}, bytes);
  EXPECT_EQ(view.data(), owner.data() + 4);
  EXPECT_THAT(list<float>(view), ElementsAre(2, 3, 4));
}

TEST(Tensor, CopiesMisalignedForeignBytes) {
  // Every dtype at every offset below its size: the values are readable and right.
  for (const DTypeInfo& row : dtypes()) {
    for (std::size_t shift = 0; shift < row.size; ++shift) {
      const std::shared_ptr<std::byte> store(new std::byte[64], std::default_delete<std::byte[]>());
      for (std::size_t i = 0; i < 64; ++i) store.get()[i] = static_cast<std::byte>(i * 37);
      const Tensor tensor(row.dtype, {3}, {store, store.get() + shift});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % row.size, 0u) << row.name;
      EXPECT_EQ(std::memcmp(tensor.data(), store.get() + shift, tensor.bytes()), 0) << row.name;
      EXPECT_EQ(tensor.data() == store.get() + shift, shift == 0) << row.name;
    }
  }
}

TEST(Tensor, RefusesNullDataWithElements) {
  EXPECT_THROW(Tensor(DType::kF32, {1}, nullptr), InternalError);
  EXPECT_NO_THROW(Tensor(DType::kF32, {0}, nullptr));
}

template <class T>
void expect_access_only(DType only) {
  for (const DTypeInfo& row : dtypes()) {
    Tensor tensor(row.dtype, {1});
    if (row.dtype == only) {
      EXPECT_EQ(tensor.values<T>().size(), 1u);
    } else {
      EXPECT_THROW((void)tensor.values<T>(), InternalError) << row.name;
      EXPECT_THROW((void)std::as_const(tensor).values<T>(), InternalError) << row.name;
    }
  }
}

TEST(Tensor, TypedAccessNeedsTheSameType) {
  expect_access_only<float>(DType::kF32);
  expect_access_only<double>(DType::kF64);
  expect_access_only<std::int32_t>(DType::kI32);
  expect_access_only<std::int64_t>(DType::kI64);
  expect_access_only<std::uint8_t>(DType::kU8);
}

TEST(Tensor, F32NeedsAsManyValuesAsElements) {
  EXPECT_THAT(user_error([] {
                Tensor::f32({2, 2}, std::vector<float>{1, 2, 3});
              }),
              AllOf(HasSubstr("3 values"), HasSubstr("[2, 2]"), HasSubstr("4 elements")));
}

TEST(Tensor, ReshapeSharesBytesAndKeepsTheCount) {
  const Tensor a = Tensor::f32({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor b = a.reshaped({3, 1, 2});
  EXPECT_EQ(b.shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(b.data(), a.data());
  EXPECT_THAT(user_error([&] { (void)a.reshaped({5}); }),
              AllOf(HasSubstr("[2, 3] (6)"), HasSubstr("[5] (5)")));
}

TEST(Cast, ToTheSameDtypeKeepsTheBits) {
  Tensor nan(DType::kBf16, {1});
  const std::uint16_t payload = 0x7fa5;  // a signalling NaN, which conversion would quiet
  std::memcpy(nan.data(), &payload, 2);
  const Tensor same = nan.cast(DType::kBf16);
  EXPECT_EQ(bits(same, 0), payload);
  EXPECT_NE(same.data(), nan.data());
}

TEST(Cast, FloatsToIntegersRoundToEvenSaturateAndMapNanToZero) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values{0.5,           1.5,  2.5, -0.5,         -1.5, 2147483647.5,
                                   -2147483648.5, -inf, inf, std::nan(""), 3e9,  -3e9};
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_THAT(list<std::int32_t>(of(DType::kF64, values).cast(DType::kI32)),
              ElementsAre(0, 2, 2, 0, -2, kMax, kMin, kMin, kMax, 0, kMax, kMin));
  const std::vector<float> f{0x1p63F, -0x1p63F, 0x1.fffffep62F, std::nanf("")};
  EXPECT_THAT(list<std::int64_t>(of(DType::kF32, f).cast(DType::kI64)),
              ElementsAre(kMaxI64, kMinI64, 0x7fffff8000000000, 0));
}

TEST(Cast, BetweenWideTypesDoesNotPassThroughF32) {
  const std::int64_t odd = (std::int64_t{1} << 53) - 1;  // exact in f64, not in f32
  const Tensor i = of<std::int64_t>(DType::kI64, {odd, -odd, 16777217});
  EXPECT_THAT(list<double>(i.cast(DType::kF64)),
              ElementsAre(0x1.fffffffffffffp52, -0x1.fffffffffffffp52, 16777217.0));
  EXPECT_THAT(list<std::int64_t>(i.cast(DType::kF64).cast(DType::kI64)),
              ElementsAre(odd, -odd, 16777217));
  EXPECT_THAT(list<std::int32_t>(i.cast(DType::kI32)),
              ElementsAre(2147483647, std::numeric_limits<std::int32_t>::min(), 16777217));
  EXPECT_THAT(list<float>(i.cast(DType::kF32)), ElementsAre(0x1p53F, -0x1p53F, 16777216.0F));
  EXPECT_THAT(list<float>(of<double>(DType::kF64, {1 + 0x1p-24, 1e300}).cast(DType::kF32)),
              ElementsAre(1.0F, std::numeric_limits<float>::infinity()));
}

bool converts_directly(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kI32 ||
         dtype == DType::kI64;
}

TEST(Cast, OtherPairsEqualScalarConversionOfEveryElement) {
  // 4099 elements: over two blocks of the implementation and a tail.
  constexpr std::int64_t kCount = 4099;
  const CounterRng rng(7);
  for (const DTypeInfo& from : dtypes()) {
    Tensor source(from.dtype, {kCount});
    for (std::size_t i = 0; i < source.bytes(); ++i)
      source.data()[i] = std::byte(rng.bits(i) & 255);
    for (const DTypeInfo& to : dtypes()) {
      if (from.dtype == to.dtype) continue;
      if (converts_directly(from.dtype) && converts_directly(to.dtype)) continue;
      const Tensor out = source.cast(to.dtype);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < kCount; ++i)
        wrong += bits(out, i) != encode(to.dtype, decode(from.dtype, bits(source, i)));
      EXPECT_EQ(wrong, 0u) << from.name << " to " << to.name;
    }
  }
}

TEST(Cast, ToF64IsExact) {
  EXPECT_THAT(of<std::int64_t>(DType::kI64, {kMinI64, (std::int64_t{1} << 53) - 1}).to_f64(),
              ElementsAre(-0x1p63, 0x1.fffffffffffffp52));
  EXPECT_THAT(of<double>(DType::kF64, {0.1, -0.0}).to_f64(), ElementsAre(0.1, -0.0));
  Tensor u32(DType::kU32, {1});
  std::memset(u32.data(), 0xff, 4);
  EXPECT_THAT(u32.to_f64(), ElementsAre(4294967295.0));
  // The 8- and 16-bit types fit f32, so decode() is their exact value; tested there exhaustively.
  for (const DTypeInfo& row : dtypes()) {
    if (row.size > 2) continue;
    Tensor all(row.dtype, {1 << 8 * row.size});
    for (std::size_t i = 0; i < all.bytes(); ++i) {
      const std::size_t element = i / row.size;
      all.data()[i] = std::byte(row.size == 1 || i % 2 == 0 ? element & 255 : element >> 8);
    }
    const std::vector<double> values = all.to_f64();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = decode(row.dtype, bits(all, i));
      wrong += values[i] != expected && !(std::isnan(values[i]) && std::isnan(expected));
    }
    EXPECT_EQ(wrong, 0u) << row.name;
  }
}

}  // namespace
}  // namespace krait
