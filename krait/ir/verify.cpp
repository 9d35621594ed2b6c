#include <algorithm>

#include "krait/base/text.hpp"
#include "krait/ir/program.hpp"

namespace krait::ir {
namespace {

using isa::Tile;
using isa::Violation;

// Byte range a tile touches, over all iterations and partitions.
struct Reach {
  std::int64_t low, high;
};

Reach reach(const Program& program, const Tile& t) {
  std::int64_t low = t.offset, high = t.offset;
  if (t.expr != 0) {
    const auto range = program.exprs[t.expr].range(program.extents);
    low = range.first, high = range.second;
  }
  const std::int64_t bytes = t.element_bytes();
  low += t.span_begin() * bytes;
  high += t.span_end() * bytes;
  if (t.in_hbm()) {
    const std::int64_t sweep = t.partition_step * (t.partitions - 1) * bytes;
    low += std::min<std::int64_t>(sweep, 0);
    high += std::max<std::int64_t>(sweep, 0);
  }
  return {low, high};
}

// The largest distance that rotating or moving a tile can shift it within a bank: 0 if all shifts are
// whole banks.
bool stays_in_bank(const Program& program, const Tile& t) {
  const std::int64_t bank = isa::kPsumBankBytes;
  std::int64_t first = t.offset + t.span_begin() * t.element_bytes();
  std::int64_t slack = 0;
  if (t.expr != 0) {
    const Offset& expr = program.exprs[t.expr];
    first = expr.base.constant + t.span_begin() * t.element_bytes();
    for (const AffineTerm& term : expr.base.terms)
      if (term.coefficient % bank != 0)
        slack += std::max<std::int64_t>(term.coefficient, 0) * (program.extents[term.loop] - 1);
    if (expr.modulus != 1 && expr.stride % bank != 0) slack += expr.stride * (expr.modulus - 1);
  }
  const std::int64_t extent = (t.span_end() - t.span_begin()) * t.element_bytes();
  return first >= 0 && first % bank + slack + extent <= bank;
}

struct Verifier {
  const Program& program;
  const MachineSpec& machine;
  std::vector<Problem> problems;
  std::vector<bool> open;  // loops that enclose the current node
  std::int64_t position = 0;

  void add(const Violation& violation, const std::string& where) { problems.push_back({violation, where}); }

  void instruction(const Insn& insn) {
    const std::string where =
        cat("kernel ", program.name, ", instruction ", position++, " (", insn.def->info.name, ")",
            insn.where.empty() ? "" : cat(", ", insn.where));
    for (const Violation& v : isa::check(*insn.def, insn.self(), machine)) add(v, where);
    isa::for_each_tile(*insn.def, insn.self(), [&](const isa::FieldInfo& field, const Tile& tile) {
      for (const Violation& v : verify_tile(program, field.name, tile, machine)) add(v, where);
      if (tile.expr != 0 && tile.expr < program.exprs.size()) loops_open(program.exprs[tile.expr], where);
    });
  }

  void loops_open(const Offset& expr, const std::string& where) {
    for (const Affine* a : {&expr.base, &expr.count})
      for (const AffineTerm& term : a->terms)
        if (term.loop >= open.size() || !open[term.loop])
          add({"loop-scope", cat("an offset uses loop i", term.loop, " outside that loop"), to_string(expr),
               "move the instruction into the loop"},
              where);
  }

  void block(const Block& nodes) {
    for (const Node& node : nodes) {
      if (const Insn* insn = node.insn()) {
        instruction(*insn);
        continue;
      }
      const Loop& loop = *node.loop();
      if (loop.id >= program.extents.size() || program.extents[loop.id] < 1) {
        add({"loop-extent", "a loop must run at least once", cat("i", loop.id), "leave empty loops out"},
            cat("kernel ", program.name));
        continue;
      }
      open[loop.id] = true;
      block(loop.body);
      open[loop.id] = false;
    }
  }

  void capacity() {
    const auto sbuf = static_cast<std::int64_t>(machine.sbuf_usable_bytes_per_partition());
    const auto psum = static_cast<std::int64_t>(machine.geometry.psum_bytes_per_partition.value);
    const auto check = [&](const char* space, std::int64_t used, std::int64_t available) {
      if (used > available)
        add({"capacity", cat(space, " is full"), cat(used, " of ", available, " bytes per partition"),
             "use smaller tiles or fewer pool buffers"},
            cat("kernel ", program.name));
    };
    check("SBUF", program.sbuf_bytes(), sbuf);
    check("PSUM", program.psum_bytes(), psum);
  }
};

}  // namespace

std::vector<Violation> verify_tile(const Program& program, std::string_view field, const Tile& tile,
                                   const MachineSpec&) {
  std::vector<Violation> out;
  if (tile.buffer >= program.buffers.size() || tile.expr >= program.exprs.size()) {
    out.push_back({"reference", cat(field, " names a buffer or offset that does not exist"),
                   isa::to_string(tile), "declare the buffer first"});
    return out;
  }
  const Buffer& buffer = program.buffers[tile.buffer];
  const Reach r = reach(program, tile);
  const std::int64_t begin = tile.in_hbm() ? 0 : buffer.address;
  const std::int64_t end = begin + buffer.bytes * (tile.in_hbm() ? 1 : buffer.rotations);
  if (buffer.space != tile.space || r.low < begin || r.high > end)
    out.push_back({"bounds", cat(field, " reaches outside buffer ", buffer.name),
                   cat("bytes ", r.low, " .. ", r.high, " of ", begin, " .. ", end, ", ", describe(tile)),
                   "shrink the tile or peel the ragged tail of the loop"});
  if (!tile.in_hbm() && tile.partition + tile.partitions > isa::kPartitions)
    out.push_back({"bounds", cat(field, " reaches past partition 127"), isa::to_string(tile),
                   "use fewer partitions"});
  if (tile.in_psum() && !stays_in_bank(program, tile))
    out.push_back({"psum-bank", cat(field, " crosses a PSUM bank of 2048 bytes"), isa::to_string(tile),
                   "cut the tile at the bank (512 f32) or allocate one tile a bank"});
  return out;
}

std::vector<Problem> verify(const Program& program, const MachineSpec& machine) {
  Verifier verifier{program, machine, {}, std::vector<bool>(program.extents.size(), false)};
  verifier.capacity();
  verifier.block(program.body);
  return std::move(verifier.problems);
}

}  // namespace krait::ir
