#pragma once

// A Program made ready to run: every instruction once, with its cost, the places where offsets must
// be filled in, and its accesses; loops stay loops.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krait/ir/program.hpp"
#include "krait/sim/timeline.hpp"

namespace krait::sim {

struct PlannedInsn {
  const isa::InsnDef* def = nullptr;
  std::vector<std::byte> object;  // bound in place before each execution
  isa::Engine engine{};
  isa::Timing timing;
  std::vector<std::pair<isa::Tile*, std::uint32_t>> symbolic;  // tile in object, expr
  std::vector<Access> accesses;                                // tiles in object
  std::string label;                                           // "tensor_tensor (scan.cpp:62)"
  std::string where;
  std::string_view track;
};

struct PlannedNode {
  int insn = -1;  // index of Plan::insns, or -1
  std::uint16_t loop = 0;
  std::int64_t count = 0;
  std::vector<PlannedNode> body;
};

struct Plan {
  std::vector<PlannedInsn> insns;
  std::vector<PlannedNode> body;
};

[[nodiscard]] Plan make_plan(const ir::Program& program, const MachineSpec& machine);

}  // namespace krait::sim
