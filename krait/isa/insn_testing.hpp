#pragma once

// What the tests of instructions share: tiles in a small memory, reading and writing single
// elements by plain address arithmetic (no code of Memory's row functions), and short questions
// about rules and cost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/insns.hpp"
#include "krait/machine/registry.hpp"

namespace krait::isa::testing {

using ::testing::Contains;
using ::testing::IsEmpty;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// --- tiles ---

inline Tile tile(Space space, DType dtype, int partitions, std::initializer_list<Dim> dims,
                 std::int64_t offset = 0, int partition = 0) {
  Tile t;
  t.space = space;
  t.dtype = dtype;
  t.partitions = static_cast<std::uint16_t>(partitions);
  t.partition = static_cast<std::uint16_t>(partition);
  t.offset = offset;
  t.rank = static_cast<std::uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), t.dims.begin());
  return t;
}
/// [partitions, n], contiguous.
inline Tile sbuf(DType dtype, int partitions, std::int64_t n, std::int64_t offset = 0) {
  return tile(Space::kSbuf, dtype, partitions, {{1, n}}, offset);
}
inline Tile psum(DType dtype, int partitions, std::int64_t n, std::int64_t offset = 0) {
  return tile(Space::kPsum, dtype, partitions, {{1, n}}, offset);
}
/// Rows `partition_step` elements apart in HBM buffer `buffer`.
inline Tile hbm(DType dtype, int partitions, std::int64_t n, std::int64_t partition_step,
                std::uint32_t buffer = 0) {
  Tile t = tile(Space::kHbm, dtype, partitions, {{1, n}});
  t.partition_step = partition_step;
  t.buffer = buffer;
  return t;
}
inline Tile stepped(Tile t, std::int64_t step) {
  t.dims[t.rank - 1U].step = step;
  return t;
}

/// The dtypes that may lie on chip and have values: all but the packs.
inline std::vector<DType> chip_dtypes() {
  std::vector<DType> out;
  for (const DTypeInfo& d : dtypes())
    if (d.dtype != DType::kF64 && d.dtype != DType::kI64 && !is_packed(d.dtype))
      out.push_back(d.dtype);
  return out;
}

/// Ways to lay 12 elements of `dtype` out from byte `base` on: dense, strided, reversed, in two
/// dimensions with a gap, and (for inputs) with a broadcast inner or outer dimension.
inline std::vector<Tile> layouts(DType dtype, int partitions, std::int64_t base, bool input,
                                 int partition = 0, Space space = Space::kSbuf) {
  const auto at = [&](std::initializer_list<Dim> dims, std::int64_t first = 0) {
    return tile(space, dtype, partitions, dims,
                base + first * static_cast<std::int64_t>(size_of(dtype)), partition);
  };
  std::vector<Tile> out{at({{1, 12}}),        at({{3, 12}}),        at({{-2, 12}}, 22),
                        at({{7, 3}, {1, 4}}), at({{1, 4}, {5, 3}}), at({{20, 2}, {6, 3}, {2, 2}})};
  if (input) {
    out.push_back(at({{0, 12}}));
    out.push_back(at({{1, 3}, {0, 4}}));
    out.push_back(at({{0, 3}, {1, 4}}));
  }
  return out;
}

// --- memory ---

/// Byte offset of element i, from the tile's own start.
inline std::int64_t element_offset(const Tile& t, std::int64_t i) {
  std::int64_t elements = 0;
  for (int d = t.rank - 1; d >= 0; --d) {
    const Dim& dim = t.dims[static_cast<std::size_t>(d)];
    elements += i % dim.count * dim.step;
    i /= dim.count;
  }
  return elements * static_cast<std::int64_t>(size_of(t.dtype));
}

/// Index of [row, column] in a row-major matrix.
[[nodiscard]] constexpr std::size_t flat(std::int64_t row, std::int64_t columns,
                                         std::int64_t column) {
  return static_cast<std::size_t>(row * columns + column);
}

class TestMemory : public Memory {
 public:
  static constexpr std::int64_t kSbuf = 64LL * 1024;
  static constexpr std::int64_t kPsum = 16LL * 1024;
  explicit TestMemory(Options options = {},
                      std::vector<std::int64_t> hbm_bytes = {1 << 20, 1 << 20})
      : Memory(kSbuf, kPsum, hbm_bytes, options) {}

  std::uint64_t bits(const Tile& t, int p, std::int64_t i) {
    std::uint64_t out = 0;
    std::memcpy(&out, at(t, p, i), size_of(t.dtype));
    return out;
  }
  void set_bits(const Tile& t, int p, std::int64_t i, std::uint64_t value) {
    std::memcpy(at(t, p, i), &value, size_of(t.dtype));
    const Place where = place(t, p);
    ByteState* state = where.region->state(where.row, where.offset + element_offset(t, i));
    for (std::size_t b = 0; b < size_of(t.dtype); ++b) state[b] = ByteState::kWritten;
  }
  float get(const Tile& t, int p, std::int64_t i) { return decode(t.dtype, bits(t, p, i)); }
  void set(const Tile& t, int p, std::int64_t i, float value) {
    set_bits(t, p, i, encode(t.dtype, value));
  }
  /// value(p, i) for every element.
  void fill(const Tile& t, const std::function<float(int, std::int64_t)>& value) {
    for (int p = 0; p < t.partitions; ++p)
      for (std::int64_t i = 0; i < t.free_size(); ++i) set(t, p, i, value(p, i));
  }
  /// Normals of size about 2, with special values sprinkled in if wanted.
  void fill_random(const Tile& t, std::uint64_t stream, bool special = true) {
    const CounterRng rng(0x15A, stream);
    static constexpr float kSpecial[] = {kNan,   kInf,  -kInf, 0.0F,     -0.0F,
                                         1e-40F, 3e38F, -1.0F, 65535.0F, 0.5F};
    fill(t, [&](int p, std::int64_t i) {
      const auto at = static_cast<std::uint64_t>(p) * 4096 + static_cast<std::uint64_t>(i);
      if (special && rng.bits(2 * at) % 4 == 0)
        return kSpecial[rng.bits(2 * at + 1) % std::size(kSpecial)];
      return static_cast<float>(2 * rng.normal(at));
    });
  }
  template <Instruction T>
  void run(const T& insn) {
    set_instruction(T::info.name);
    def_of<T>().execute(&insn, *this);
  }
  /// Values of the whole tile, partition after partition.
  std::vector<float> values(const Tile& t) {
    std::vector<float> out;
    for (int p = 0; p < t.partitions; ++p)
      for (std::int64_t i = 0; i < t.free_size(); ++i) out.push_back(get(t, p, i));
    return out;
  }

 private:
  std::byte* at(const Tile& t, int p, std::int64_t i) {
    const Place where = place(t, p);
    return where.region->at(where.row, where.offset + element_offset(t, i));
  }
};

inline bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Every element of dst is value(p, i) rounded to dst's dtype; NaN equals NaN.
inline void expect_tile(TestMemory& m, const Tile& dst,
                        const std::function<float(int, std::int64_t)>& value,
                        const std::string& what = {}) {
  for (int p = 0; p < dst.partitions; ++p)
    for (std::int64_t i = 0; i < dst.free_size(); ++i) {
      const float want = round_to(dst.dtype, value(p, i)), got = m.get(dst, p, i);
      ASSERT_TRUE(same(got, want))
          << what << " " << to_string(dst) << " [" << p << "," << i << "] is " << got << ", want "
          << want << " (" << value(p, i) << ")";
    }
}

// --- rules ---

inline const MachineSpec& trn1() {
  return find_machine("trn1");
}
inline const MachineSpec& trn2() {
  return find_machine("trn2");
}
inline const MachineSpec& trn3() {
  return find_machine("trn3");
}

/// Names of the rules broken, each with complete message parts.
template <Instruction T>
std::vector<std::string> rules(const T& insn, const MachineSpec& machine) {
  std::vector<std::string> out;
  for (const Violation& v : check(def_of<T>(), &insn, machine)) {
    EXPECT_FALSE(v.what.empty() || v.got.empty() || v.fix.empty()) << v.rule << ": " << v.what;
    out.push_back(v.rule);
  }
  return out;
}
template <Instruction T>
void expect_legal_everywhere(const T& insn) {
  for (const MachineSpec* m : machines()) EXPECT_THAT(rules(insn, *m), IsEmpty()) << m->name();
}
template <Instruction T>
void expect_rule_everywhere(const T& insn, const std::string& rule) {
  for (const MachineSpec* m : machines()) EXPECT_THAT(rules(insn, *m), Contains(rule)) << m->name();
}

// --- cost ---

/// Occupancy in cycles of the engine.
template <Instruction T>
double cycles(const T& insn, const MachineSpec& machine) {
  return def_of<T>().time(&insn, machine).occupancy.value;
}

// Figures of the manuals, written out here so that the tests do not read them from the tables.
inline constexpr double kMinIi = 64;         // ISA26, MIN_II
inline constexpr double kIssue = 16;         // MAMBA, KO: extra occupancy of V and S
inline constexpr double kGpSimdStart = 150;  // ISA26, GPSIMD_START
/// max(MIN_II, work) + issue
inline double elementwise(double work) {
  return std::max(kMinIi, work) + kIssue;
}

}  // namespace krait::isa::testing
