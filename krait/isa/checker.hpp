#pragma once

// Collects the rules that an instruction breaks on a machine. A rule has a short stable name; the
// caller (builder, verifier) turns violations into errors or findings.

#include <string>
#include <string_view>
#include <vector>

#include "krait/isa/alu.hpp"
#include "krait/isa/tile.hpp"
#include "krait/machine/spec.hpp"

namespace krait::isa {

struct Violation {
  std::string rule;  // "psum-operands", "partition-start", ...
  std::string what;
  std::string got;
  std::string fix;
};

class Checker {
 public:
  explicit Checker(const MachineSpec& machine) : machine_(machine) {}

  [[nodiscard]] const MachineSpec& machine() const { return machine_; }
  [[nodiscard]] const std::vector<Violation>& violations() const { return violations_; }

  /// Records a violation if the condition is false.
  void require(bool condition, std::string_view rule, std::string_view what, std::string_view got,
               std::string_view fix);

  // Rules that many instructions share.
  void present(std::string_view name, const Tile& t);
  void same_partitions(std::string_view a_name, const Tile& a, std::string_view b_name,
                       const Tile& b);
  void same_free_size(std::string_view a_name, const Tile& a, std::string_view b_name,
                      const Tile& b);
  void same_shape(std::string_view a_name, const Tile& a, std::string_view b_name, const Tile& b);
  void same_dtype(std::string_view a_name, const Tile& a, std::string_view b_name, const Tile& b);
  void not_both_psum(std::string_view a_name, const Tile& a, std::string_view b_name,
                     const Tile& b);
  void on_chip(std::string_view name, const Tile& t);
  void in_sbuf(std::string_view name, const Tile& t);
  void in_psum(std::string_view name, const Tile& t);
  /// [P, 1] f32 on chip, or a constant. P = partitions of `like`.
  void vector_operand(std::string_view name, const Operand& operand, const Tile& like);
  /// [P, 1] of any dtype.
  void per_partition(std::string_view name, const Tile& t, const Tile& like);
  /// The instruction exists on this generation; `available` is its flag in the machine table.
  void exists(bool available, std::string_view since, std::string_view fix);
  /// Bit operators take integer tiles of one dtype, without a cast.
  void integers(std::string_view a_name, const Tile& a, std::string_view b_name, const Tile& b);
  /// Packs are copied, never converted.
  void no_packed_cast(std::string_view a_name, const Tile& a, std::string_view b_name,
                      const Tile& b);
  /// VectorE has this operator on this generation, in this place.
  void vector_op(std::string_view name, AluOp op, bool first = true);

  /// The rules of every tile: it has elements, starts at a multiple of its element size and, on
  /// chip, suits the engines' ports (start partition, counts and steps); DMA reaches any partition
  /// and has no such ports. Bounds and PSUM banks need the program (ir/verify).
  /// @param packed  the instruction takes the x4 packs of MX values
  /// @return false if the tile is so malformed that no other rule can be asked
  bool tile(std::string_view name, const Tile& t, bool by_dma = false, bool packed = false);

 private:
  const MachineSpec& machine_;
  std::vector<Violation> violations_;
};

}  // namespace krait::isa
