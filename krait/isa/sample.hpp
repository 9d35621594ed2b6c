#pragma once

// A legal object of any instruction, from a wanted shape: what `krait insn` shows the cost of, what
// probes stream, and what tests walk. Its tiles have a form (space, type, sizes) but no place yet.
//
// An instruction whose tiles are all [partitions, n] of one type needs nothing: every tile that it
// requires gets that form. Others say what is legal in
//   static T sample(const SampleShape& s) { return {.dst = s.out(1), .data = s.in()}; }

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "krait/isa/tile.hpp"
#include "krait/machine/spec.hpp"

namespace krait::isa {

struct InsnDef;
struct FieldInfo;

/// [partitions, elements], contiguous, from byte 0 of a buffer of its own.
[[nodiscard]] Tile sample_tile(Space space, DType dtype, std::int64_t partitions,
                               std::int64_t elements);

/// What a sample should look like. A sample takes what is asked for even where a rule then refuses
/// it; what is left open it chooses itself.
struct SampleShape {
  std::int64_t partitions = kPartitions;  // of the inputs
  std::int64_t n = 512;                   // elements a partition of the largest operand
  std::int64_t m = kPartitions;           // the second size, where there is one: columns of the
                                          // stationary operand
  DType dtype = DType::kF32;              // of inputs, and of outputs where they may have any
  std::optional<Space> dst, src;          // of the outputs; of the first input
  std::optional<DType> dst_dtype, src_dtype;

  /// An output of so many elements, where and of what type it usually is unless asked otherwise.
  [[nodiscard]] Tile out(std::int64_t elements, Space usual = Space::kSbuf) const {
    return sample_tile(dst.value_or(usual), dst_dtype.value_or(dtype), partitions, elements);
  }
  [[nodiscard]] Tile out() const { return out(n); }
  /// The first input.
  [[nodiscard]] Tile in(std::int64_t elements, Space usual = Space::kSbuf) const {
    return sample_tile(src.value_or(usual), src_dtype.value_or(dtype), partitions, elements);
  }
  [[nodiscard]] Tile in() const { return in(n); }
  /// A further input: in SBUF, because at most one input may lie in PSUM.
  [[nodiscard]] Tile other(std::int64_t elements) const {
    return sample_tile(Space::kSbuf, dtype, partitions, elements);
  }
  [[nodiscard]] Tile other() const { return other(n); }
  /// The same for operands whose type is fixed: indices, predicates, packed values.
  [[nodiscard]] Tile other(std::int64_t elements, DType fixed) const {
    return sample_tile(Space::kSbuf, fixed, partitions, elements);
  }
};

/// An object of an instruction's type; the storage is aligned for any type.
class Sample {
 public:
  /// As default-constructed: no operands.
  explicit Sample(const InsnDef& def);
  Sample(const Sample& other);
  Sample& operator=(const Sample& other);
  Sample(Sample&&) = default;
  Sample& operator=(Sample&&) = default;
  ~Sample() = default;

  [[nodiscard]] const InsnDef& def() const { return *def_; }
  [[nodiscard]] void* self() { return storage_.get(); }
  [[nodiscard]] const void* self() const { return storage_.get(); }
  /// The member of a field.
  [[nodiscard]] void* member(const FieldInfo& field);
  /// The tile of a field that is not an attribute; an operand's tile too.
  [[nodiscard]] Tile& tile(const FieldInfo& field);

 private:
  const InsnDef* def_;
  std::unique_ptr<std::max_align_t[]> storage_;
};

/// A sample of this shape, legal or not: the caller asks check().
[[nodiscard]] Sample make_sample(const InsnDef& def, const SampleShape& shape,
                                 const MachineSpec& machine);

/// No operands could make the instruction legal on this machine: it breaks the rule "generation".
[[nodiscard]] bool lacks(const MachineSpec& machine, const InsnDef& def);

}  // namespace krait::isa
