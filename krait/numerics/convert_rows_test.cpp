// Rows against the scalar definitions, bit by bit, on every instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/numerics/convert.hpp"
#include "krait/numerics/convert_oracle.hpp"
#include "krait/numerics/each_target.hpp"

namespace krait {
namespace {

std::uint32_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

/// Random bit patterns: all exponents alike, so many NaN, subnormal and overflowing values; a third
/// of them in the range of the small formats and integers.
std::vector<float> hostile_values(std::size_t n, std::uint64_t seed) {
  const CounterRng rng(seed);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t r = rng.bits(i);
    values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(r));
    if (r >> 62 == 0)
      values[i] = static_cast<float>(static_cast<std::int32_t>(r) >> (r >> 40 & 31)) / 4;
  }
  return values;
}

/// Every boundary of every format: values, midpoints, neighbours, and all NaN and Inf.
std::vector<float> boundary_values() {
  std::vector<float> values;
  for (const OracleFormat& format : kOracleFormats) {
    const Oracle oracle(format);
    for (std::uint32_t code = 0; code < oracle.finite_codes(); ++code) {
      for (const double at :
           {oracle.value(code), (oracle.value(code) + oracle.value(code + 1)) / 2}) {
        const auto x = static_cast<float>(at);
        for (const float y : {x, std::nextafterf(x, 0), std::nextafterf(x, HUGE_VALF)}) {
          values.push_back(y);
          values.push_back(-y);
        }
      }
    }
  }
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<float>(i) - 0.5F);
  for (const float x : {0x1p31F, 0x1p32F, 0x1p63F, 0x1.fffffep30F, 0x1.fffffep31F, 0.49999997F,
                        8388607.0F, 4194303.5F}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

void expect_row_equals_scalar(DType dtype, std::span<const float> in) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> stored(in.size() * size);
  store_row(dtype, in, stored.data(), 1);
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::uint64_t got = 0;
    std::memcpy(&got, stored.data() + i * size, size);
    ASSERT_EQ(got, encode(dtype, in[i])) << name(dtype) << " of bits " << std::hex << bits(in[i]);
  }
}

TEST(ConvertRows, StoreEqualsEncodeAtEveryBoundary) {
  const std::vector<float> values = boundary_values();
  for_each_target([&] {
    for (const DTypeInfo& type : dtypes()) expect_row_equals_scalar(type.dtype, values);
  });
}

TEST(ConvertRows, StoreEqualsEncodeOnRandomBits) {
  const std::vector<float> values = hostile_values(100003, 1);
  for_each_target([&] {
    for (const DTypeInfo& type : dtypes()) expect_row_equals_scalar(type.dtype, values);
  });
}

TEST(ConvertRows, LoadEqualsDecodeOnEveryPatternOfUpTo16Bits) {
  for_each_target([&] {
    for (const DTypeInfo& type : dtypes()) {
      if (type.size > 2) continue;
      const std::size_t count = std::size_t{1} << (8 * type.size);
      std::vector<std::byte> stored(count * type.size);
      for (std::size_t i = 0; i < count; ++i) std::memcpy(&stored[i * type.size], &i, type.size);
      std::vector<float> loaded(count);
      load_row(type.dtype, stored.data(), 1, loaded);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(bits(loaded[i]), bits(decode(type.dtype, i))) << type.name << " " << i;
      }
    }
  });
}

TEST(ConvertRows, LoadEqualsDecodeOnRandomBits) {
  const CounterRng rng(2);
  std::vector<std::byte> stored(80000);
  for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<std::byte>(rng.bits(i));
  for_each_target([&] {
    for (const DTypeInfo& type : dtypes()) {
      std::vector<float> loaded(stored.size() / type.size);
      load_row(type.dtype, stored.data(), 1, loaded);
      for (std::size_t i = 0; i < loaded.size(); ++i) {
        std::uint64_t element = 0;
        std::memcpy(&element, &stored[i * type.size], type.size);
        ASSERT_EQ(bits(loaded[i]), bits(decode(type.dtype, element))) << type.name;
      }
    }
  });
}

/// Every size, stride and misalignment: right elements written, right elements read, none besides.
void check_layout(DType dtype, std::size_t n, std::ptrdiff_t stride, std::size_t shift) {
  constexpr auto kFill = std::byte{0xA5};
  const std::size_t size = size_of(dtype);
  const std::vector<float> in = hostile_values(n, 3);
  const auto step = static_cast<std::size_t>(stride < 0 ? -stride : stride);
  std::vector<std::byte> memory((n * step + 2) * size + shift, kFill);
  std::vector<std::byte> want = memory;
  const std::size_t first = shift + (stride < 0 ? (n == 0 ? 0 : (n - 1) * step * size) : 0);
  const auto at = [&](std::size_t i) {
    return stride < 0 ? first - i * step * size : first + i * step * size;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t element = encode(dtype, in[i]);
    std::memcpy(&want[at(i)], &element, size);
  }
  store_row(dtype, in, memory.data() + first, stride);
  ASSERT_EQ(memory, want) << name(dtype) << " n " << n << " stride " << stride << " shift "
                          << shift;

  std::vector<float> out(n + 1, 7.0F);
  load_row(dtype, memory.data() + first, stride, std::span(out).first(n));
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t element = 0;
    std::memcpy(&element, &want[at(i)], size);
    ASSERT_EQ(bits(out[i]), bits(decode(dtype, element))) << name(dtype) << " n " << n;
  }
  ASSERT_EQ(out[n], 7.0F);
}

TEST(ConvertRows, AnySizeStrideAndAlignment) {
  for_each_target([&] {
    for (const DTypeInfo& type : dtypes()) {
      for (const std::ptrdiff_t stride : {1, 2, 3, -1, -2}) {
        for (std::size_t n = 0; n <= 67; ++n) check_layout(type.dtype, n, stride, n % 5);
        check_layout(type.dtype, 700, stride, 1);  // more than one staged block
      }
    }
  });
}

TEST(ConvertRows, StrideZeroBroadcastsOnLoad) {
  const std::uint16_t one = 0x3F80;
  std::vector<float> out(300);
  load_row(DType::kBf16, reinterpret_cast<const std::byte*>(&one), 0, out);
  EXPECT_EQ(out, std::vector<float>(300, 1.0F));
}

TEST(ConvertRows, StochasticRowsFollowSeedAndCounter) {
  const std::vector<float> in = hostile_values(600, 4);
  const Rounding rounding{RoundingMode::kStochastic, 99, 1000};
  for_each_target([&] {
    for (const DTypeInfo& type : dtypes()) {
      for (const std::ptrdiff_t stride : {1, 2}) {
        std::vector<std::byte> stored(in.size() * 2 * type.size);
        store_row(type.dtype, in, stored.data(), stride, rounding);
        for (std::size_t i = 0; i < in.size(); ++i) {
          const auto word = static_cast<std::uint32_t>(CounterRng(99).bits(1000 + i) >> 32);
          std::uint64_t got = 0;
          const auto at = i * static_cast<std::size_t>(stride) * type.size;
          std::memcpy(&got, &stored[at], type.size);
          ASSERT_EQ(got, encode_stochastic(type.dtype, in[i], word)) << type.name << " " << i;
        }
      }
    }
  });
}

// 40000 draws at fraction 1/4: the mean is 1/4 within 5 standard deviations,
// 5 sqrt(3/16 / 40000) = 0.0108.
TEST(ConvertRows, StochasticRoundingIsUnbiased) {
  const std::vector<float> in(40000, 1 + 0x1p-9F);  // bf16 steps are 2^-7 here
  std::vector<std::uint16_t> out(in.size());
  store_row(DType::kBf16, in, std::as_writable_bytes(std::span(out)).data(), 1,
            {RoundingMode::kStochastic, 5, 0});
  double up = 0;
  for (const std::uint16_t code : out) {
    ASSERT_TRUE(code == 0x3F80 || code == 0x3F81);
    up += code == 0x3F81 ? 1 : 0;
  }
  EXPECT_NEAR(up / static_cast<double>(in.size()), 0.25, 0.0108);
}

}  // namespace
}  // namespace krait
