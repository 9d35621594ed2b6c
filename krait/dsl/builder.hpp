#pragma once

// The typed front end that makes a Program. A device kernel is a function over a KernelBuilder and
// views, so kernels inline into one another and keep data on chip.
//
//   kb.loop(tiles, [&](const Affine& i) {
//     Ref x = kb.sbuf("x", DType::kF32, 128, {512}, 2);        // 2 buffers rotate over iterations
//     kb.emit(DmaCopy{.dst = x, .src = u.view(...)});
//   });
//
// Buffers live until the innermost open scope (loop body or scope()) ends; their bytes are then
// reused. emit checks every rule at once; its UserError names kernel, instruction and source line.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "krait/dsl/allocator.hpp"
#include "krait/dsl/ref.hpp"
#include "krait/ir/program.hpp"
#include "krait/isa/insns.hpp"

namespace krait::dsl {

class KernelBuilder {
 public:
  KernelBuilder(std::string name, const MachineSpec& machine);

  [[nodiscard]] const MachineSpec& machine() const { return machine_; }

  // --- tensors in HBM ---
  [[nodiscard]] Hbm input(const std::string& name, DType dtype, Shape shape);
  [[nodiscard]] Hbm output(const std::string& name, DType dtype, Shape shape);
  /// Scratch in HBM, not initialised.
  [[nodiscard]] Hbm internal(const std::string& name, DType dtype, Shape shape);

  // --- on-chip buffers ---
  /// [partitions, free dims...], contiguous. `rotate` > 1 makes a pool: that many copies, used in
  /// turn by the iterations of the enclosing loops.
  /// @throws UserError (rule capacity) if SBUF is full
  [[nodiscard]] Ref sbuf(const std::string& name, DType dtype, std::int64_t partitions,
                         std::initializer_list<std::int64_t> free, std::int64_t rotate = 1);
  /// The same in PSUM, in banks of its own; one copy fits one bank.
  [[nodiscard]] Ref psum(const std::string& name, DType dtype, std::int64_t partitions,
                         std::initializer_list<std::int64_t> free, std::int64_t rotate = 1);
  /// Bytes per partition that SBUF can still give.
  [[nodiscard]] std::int64_t sbuf_available() const { return sbuf_.largest_gap(); }

  // --- control ---
  // An exception out of a body ends its scope; the loop it came from leaves nothing behind.

  /// Runs body for indices 0 .. count-1; one iteration is inlined, none leaves nothing.
  /// @throws UserError for a loop nested deeper than kMaxLoopDepth, or after 65534 loops
  void loop(std::int64_t count, const std::function<void(const Affine&)>& body);
  /// Cuts [0, total) into pieces: body(index, start, size) in a loop over the whole ones, then once
  /// more for the ragged tail. @throws UserError if step < 1 or total < 0
  void tiles(
      std::int64_t total, std::int64_t step,
      const std::function<void(const Affine& index, const Affine& start, std::int64_t size)>& body);
  /// Releases at its end what body allocates.
  void scope(const std::function<void()>& body);

  // --- instructions ---
  template <isa::Instruction T>
  void emit(const T& insn, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    append(isa::def_of<T>(), &insn, file, line);
  }

  /// The same for an instruction of any listed kind; `insn` is an object of its type.
  void emit(const isa::InsnDef& def, const void* insn, const char* file = __builtin_FILE(),
            int line = __builtin_LINE()) {
    append(def, insn, file, line);
  }

  /// Notes what the kernel was built with. @throws UserError if the text form could not hold it
  void param(const std::string& name, const std::string& value);
  /// Hands the program over; the builder is empty afterwards, as if new. @throws UserError in a
  /// loop or scope
  [[nodiscard]] ir::Program finish();

 private:
  friend class Ref;
  friend class Hbm;
  struct Held {
    isa::Space space;
    std::int64_t address, bytes;
  };

  [[nodiscard]] Hbm hbm(const std::string& name, ir::BufferKind kind, DType dtype, Shape shape);
  [[nodiscard]] Ref on_chip(isa::Space space, const std::string& name, DType dtype,
                            std::int64_t partitions, std::initializer_list<std::int64_t> free,
                            std::int64_t rotate);
  [[nodiscard]] Affine iteration() const;  // linear count over the open loops
  void check_shape(isa::Space space, const std::string& name, std::int64_t partitions,
                   std::initializer_list<std::int64_t> free, std::int64_t rotate) const;
  void end_scope();
  [[nodiscard]] ir::Block close_loop();
  void check_scope(const isa::FieldInfo& field, const isa::Tile& tile,
                   std::vector<isa::Violation>& violations) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& got,
                           const std::string& fix) const;
  [[noreturn]] void out_of_space(isa::Space space, const std::string& name,
                                 std::int64_t bytes) const;
  [[nodiscard]] isa::Tile resolve(isa::Tile tile, const Offset& offset);
  void append(const isa::InsnDef& def, const void* insn, const char* file, int line);

  const MachineSpec& machine_;
  ir::Program program_;
  Allocator sbuf_, psum_;
  std::vector<std::uint16_t> open_loops_;
  std::vector<ir::Block> blocks_;  // innermost last
  std::vector<std::vector<Held>> scopes_;
  std::int64_t emitted_ = 0;
};

}  // namespace krait::dsl
