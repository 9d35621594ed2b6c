#pragma once

// The fields of an instruction, listed once by its fields() function and read by everything
// generic: printing, parsing, binding of symbolic offsets, dependence tracking, documentation.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "krait/isa/alu.hpp"
#include "krait/isa/tile.hpp"
#include "krait/numerics/rowmath.hpp"

namespace krait::isa {

enum class Role : std::uint8_t {
  kOut,      // Tile, written
  kIn,       // Tile, read (absent tiles are skipped)
  kOperand,  // Operand, read if it is a tile
  kAttr,     // anything else
};

template <class T, class M>
struct Field {
  std::string_view name;
  Role role;
  M T::*member;
};

template <class T>
constexpr Field<T, Tile> out(std::string_view name, Tile T::*member) {
  return {name, Role::kOut, member};
}
template <class T>
constexpr Field<T, Tile> in(std::string_view name, Tile T::*member) {
  return {name, Role::kIn, member};
}
template <class T>
constexpr Field<T, Operand> operand(std::string_view name, Operand T::*member) {
  return {name, Role::kOperand, member};
}
template <class T, class M>
constexpr Field<T, M> attr(std::string_view name, M T::*member) {
  return {name, Role::kAttr, member};
}

/// iota and affine_select: value = offset + partition * multiplier + sum of index * step.
struct IotaPattern {
  std::int32_t offset = 0;
  std::int32_t multiplier = 0;
  std::uint8_t rank = 1;
  std::array<Dim, kMaxFreeDims> dims{};  // step, count; outermost first
  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < rank; ++d) n *= dims[d].count;
    return n;
  }
  bool operator==(const IotaPattern&) const = default;
};

/// The sequencer that triggers a DMA, i.e. the ring it is queued on.
enum class DmaRing : std::uint8_t { kSync, kScalar, kGpSimd, kVector, kTensor };
/// Who makes the descriptors (DGE).
enum class DgeMode : std::uint8_t { kStatic, kSoftware, kHardware };

/// What an instruction does with its engine's accumulator registers (ISA32, reduce_cmd).
enum class ReduceCmd : std::uint8_t {
  kDefault,      // activation: reset_reduce if reduce_res is given, else idle
  kIdle,         // ScalarE leaves them alone; VectorE leaves them undefined
  kReset,        // to the operator's identity; nothing is accumulated
  kReduce,       // accumulate onto what is there
  kResetReduce,  // reset, then accumulate
  kLoadReduce,   // load a value, then accumulate
};

/// nc_stream_shuffle: which lane of its quadrant each lane takes; kKeep leaves it as it is.
struct ShuffleMask {
  static constexpr std::uint8_t kKeep = 255;
  std::array<std::uint8_t, 32> lane{};
  constexpr ShuffleMask() {
    for (std::size_t j = 0; j < lane.size(); ++j) lane[j] = static_cast<std::uint8_t>(j);
  }
  bool operator==(const ShuffleMask&) const = default;
};

// Text of attribute values: one overload a type; parse_attr returns false on a mismatch.
std::string attr_text(AluOp value);
std::string attr_text(UnaryFn value);
std::string attr_text(Engine value);
std::string attr_text(DmaRing value);
std::string attr_text(DgeMode value);
std::string attr_text(bool value);
std::string attr_text(float value);
std::string attr_text(std::int32_t value);
std::string attr_text(const IotaPattern& value);
std::string attr_text(ReduceCmd value);
std::string attr_text(const ShuffleMask& value);
bool parse_attr(std::string_view text, AluOp& value);
bool parse_attr(std::string_view text, UnaryFn& value);
bool parse_attr(std::string_view text, Engine& value);
bool parse_attr(std::string_view text, DmaRing& value);
bool parse_attr(std::string_view text, DgeMode& value);
bool parse_attr(std::string_view text, bool& value);
bool parse_attr(std::string_view text, float& value);
bool parse_attr(std::string_view text, std::int32_t& value);
bool parse_attr(std::string_view text, IotaPattern& value);
bool parse_attr(std::string_view text, ReduceCmd& value);
bool parse_attr(std::string_view text, ShuffleMask& value);

}  // namespace krait::isa
