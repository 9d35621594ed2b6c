#pragma once

// A device kernel as data: buffers, loops with symbolic indices, instructions whose tiles are
// affine in them. A Program is verified, printed and parsed back (text.hpp), simulated and costed
// (sim).
//
// Meaning: nodes run in order; a loop runs its body `count` times with its index 0 .. count-1; a
// tile whose expr is not 0 gets its byte offset from exprs[expr] at the current indices.
// Instructions of one engine keep this order in time; different engines run in parallel and wait
// for each other's data.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "krait/isa/insn.hpp"
#include "krait/tensor/affine.hpp"
#include "krait/tensor/tensor.hpp"

namespace krait::ir {

enum class BufferKind : std::uint8_t { kInput, kOutput, kInternal };

/// An HBM tensor, or an allocation in SBUF or PSUM.
struct Buffer {
  std::string name;
  isa::Space space = isa::Space::kHbm;
  BufferKind kind = BufferKind::kInternal;
  DType dtype = DType::kF32;
  Shape shape;                 // HBM: the tensor's; on chip: {partitions, elements per partition}
  std::int64_t address = 0;    // on chip: byte offset in every partition
  std::int64_t bytes = 0;      // HBM: whole tensor; on chip: per partition and rotation
  std::int64_t rotations = 1;  // on chip: copies that lie one after another
  bool operator==(const Buffer&) const = default;
};

struct Node;
using Block = std::vector<Node>;

/// One instruction: its definition and an object of its type.
struct Insn {
  const isa::InsnDef* def = nullptr;
  std::vector<std::byte> object;
  std::string where;  // "scan_hardware.cpp:62", not part of the text form

  [[nodiscard]] void* self() { return object.data(); }
  [[nodiscard]] const void* self() const { return object.data(); }
};

struct Loop {
  std::uint16_t id = 0;  // index of Program::extents
  Block body;
};

struct Node {
  std::variant<Insn, Loop> value;
  [[nodiscard]] const Insn* insn() const { return std::get_if<Insn>(&value); }
  [[nodiscard]] const Loop* loop() const { return std::get_if<Loop>(&value); }
};

struct Program {
  std::string name;
  std::string machine;                        // the generation it was built for
  std::map<std::string, std::string> params;  // what it was built with, for the reader
  std::vector<Buffer> buffers;
  std::vector<Offset> exprs{Offset{}};  // [0] means "constant"
  std::vector<std::int64_t> extents;    // by loop id
  Block body;

  /// Highest byte in use per partition.
  [[nodiscard]] std::int64_t sbuf_bytes() const;
  [[nodiscard]] std::int64_t psum_bytes() const;
  /// Instructions that a run executes (at most 2^63 - 1).
  [[nodiscard]] std::int64_t instruction_count() const;
  /// Buffer of this name. @throws UserError
  [[nodiscard]] std::uint32_t find_buffer(std::string_view name) const;
};

/// Loops may be nested this deep.
inline constexpr std::size_t kMaxLoopDepth = 32;
/// And run this often each.
inline constexpr std::int64_t kMaxTurns = std::int64_t{1} << 40;
/// What programs, buffers and parameters may be called: one or more letters, digits, _.-+/:%#@
[[nodiscard]] bool is_name(std::string_view text);
/// The index of an offset expression, added to the program if it is new.
[[nodiscard]] std::uint32_t intern(Program& program, const Offset& offset);
/// Bytes per partition that an allocation takes: whole banks in PSUM, multiples of 64 in SBUF.
[[nodiscard]] std::int64_t on_chip_bytes(isa::Space space, std::int64_t bytes);

/// A rule that a program breaks, and the instruction.
struct Problem {
  isa::Violation violation;
  std::string where;
};

/// Rules of every instruction on the program's machine, bounds of every tile over all loop
/// iterations, capacity of SBUF and PSUM, PSUM banks, buffer and loop references. Empty if the
/// program is legal.
[[nodiscard]] std::vector<Problem> verify(const Program& program, const MachineSpec& machine);

/// Bounds and bank rules of one tile over the whole loop nest (the builder calls this as it emits).
[[nodiscard]] std::vector<isa::Violation> verify_tile(const Program& program,
                                                      std::string_view field,
                                                      const isa::Tile& tile);

}  // namespace krait::ir
