#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

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

// Bytes behind the last element of an on-chip buffer, up to its last grain: they are in no tile.
std::int64_t padding(const Buffer& b) {
  if (b.space == isa::Space::kHbm || b.shape.size() != 2) return 0;
  return std::max<std::int64_t>(0,
                                b.bytes - b.shape[1] * static_cast<std::int64_t>(size_of(b.dtype)));
}

// True if the tile lies in one bank at every iteration. Shifts by whole banks do not matter. The
// others either all stay in the bank, or are multiples of a divisor g of the bank: a tile that
// stays between two multiples of g never crosses the bank's end.
bool stays_in_bank(const Program& program, const Tile& t) {
  const std::int64_t bank = isa::kPsumBankBytes;
  std::int64_t first = t.offset, down = 0, up = 0, grid = bank;
  const auto shift = [&](std::int64_t step, std::int64_t turns) {
    if (step % bank == 0) return;
    (step < 0 ? down : up) += step * turns;
    grid = std::gcd(grid, step);
  };
  if (t.expr != 0) {
    const Offset& expr = program.exprs[t.expr];
    first = expr.base.constant;
    for (const AffineTerm& term : expr.base.terms)
      shift(term.coefficient, program.extents[term.loop] - 1);
    if (expr.modulus != 1) shift(expr.stride, expr.modulus - 1);
  }
  first += t.span_begin() * t.element_bytes();
  const std::int64_t extent = (t.span_end() - t.span_begin()) * t.element_bytes();
  if (first < 0) return false;  // no bank at all; the bounds say more
  const std::int64_t in_bank = first % bank;
  return (in_bank + down >= 0 && in_bank + up + extent <= bank) || first % grid + extent <= grid;
}

// Every offset that a loop nest can reach fits 48 bits, so that the ranges below do not overflow.
bool in_range(const Affine& affine, std::span<const std::int64_t> extents) {
  constexpr double kMost = 0x1p48;
  double reach = std::abs(static_cast<double>(affine.constant));
  for (const AffineTerm& term : affine.terms)
    reach +=
        std::abs(static_cast<double>(term.coefficient)) * static_cast<double>(extents[term.loop]);
  return reach <= kMost;
}

// What makes an offset expression unusable, empty if nothing.
std::string expr_problem(const Program& program, const Offset& expr) {
  for (const Affine* a : {&expr.base, &expr.count})
    for (const AffineTerm& term : a->terms)
      if (term.loop >= program.extents.size())
        return cat("uses loop i", term.loop, ", which does not exist");
  if (!in_range(expr.base, program.extents) || !in_range(expr.count, program.extents) ||
      expr.modulus < 1 ||
      std::abs(static_cast<double>(expr.stride)) * static_cast<double>(expr.modulus) > 0x1p48)
    return "has an offset larger than any memory";
  if (expr.modulus != 1 && expr.count.range(program.extents).first < 0)
    return "rotates by a count that becomes negative";
  return {};
}

bool aligned(const Program& program, const Tile& t) {
  const Offset& expr = program.exprs[t.expr];
  const std::int64_t size = t.element_bytes();
  return expr.base.constant % size == 0 && (expr.modulus == 1 || expr.stride % size == 0) &&
         std::all_of(expr.base.terms.begin(), expr.base.terms.end(),
                     [&](const AffineTerm& term) { return term.coefficient % size == 0; });
}

struct Verifier {
  const Program& program;
  const MachineSpec& machine;
  std::vector<Problem> problems;
  std::vector<bool> open;  // loops that enclose the current node
  std::int64_t position = 0;
  std::size_t depth = 0;

  void add(const Violation& violation, const std::string& where) {
    problems.push_back({violation, where});
  }

  void instruction(const Insn& insn) {
    const std::string where =
        cat("kernel ", program.name, ", instruction ", position++, " (", insn.def->info.name, ")",
            insn.where.empty() ? "" : cat(", ", insn.where));
    for (const Violation& v : isa::check(*insn.def, insn.self(), machine)) add(v, where);
    isa::for_each_tile(*insn.def, insn.self(), [&](const isa::FieldInfo& field, const Tile& tile) {
      for (const Violation& v : verify_tile(program, field.name, tile)) add(v, where);
      if (tile.expr != 0 && tile.expr < program.exprs.size())
        loops_open(program.exprs[tile.expr], where);
    });
  }

  void loops_open(const Offset& expr, const std::string& where) {
    for (const Affine* a : {&expr.base, &expr.count})
      for (const AffineTerm& term : a->terms)
        if (term.loop >= open.size() || !open[term.loop])
          add({"loop-scope", cat("an offset uses loop i", term.loop, " outside that loop"),
               to_string(expr), "move the instruction into the loop"},
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
        add({"loop-extent", "a loop must run at least once", cat("i", loop.id),
             "leave empty loops out"},
            cat("kernel ", program.name));
        continue;
      }
      if (open[loop.id] || depth == kMaxLoopDepth) {
        add({"loop-scope",
             open[loop.id] ? cat("loop i", loop.id, " contains itself")
                           : cat("loops are nested deeper than ", kMaxLoopDepth),
             cat("i", loop.id), "give every loop an index of its own, and fewer levels"},
            cat("kernel ", program.name));
        continue;
      }
      open[loop.id] = true, ++depth;
      block(loop.body);
      open[loop.id] = false, --depth;
    }
  }

  void capacity() {
    const auto sbuf = static_cast<std::int64_t>(machine.sbuf_usable_bytes_per_partition());
    const auto psum = static_cast<std::int64_t>(machine.geometry.psum_bytes_per_partition.value);
    const auto check = [&](const char* space, std::int64_t used, std::int64_t available) {
      if (used > available)
        add({"capacity", cat(space, " is full"),
             cat(used, " of ", available, " bytes per partition"),
             "use smaller tiles or fewer pool buffers"},
            cat("kernel ", program.name));
    };
    check("SBUF", program.sbuf_bytes(), sbuf);
    check("PSUM", program.psum_bytes(), psum);
  }
};

}  // namespace

std::vector<Violation> verify_tile(const Program& program, std::string_view field,
                                   const Tile& tile) {
  std::vector<Violation> out;
  if (tile.buffer >= program.buffers.size() || tile.expr >= program.exprs.size()) {
    out.push_back({"reference", cat(field, " names a buffer or offset that does not exist"),
                   isa::to_string(tile), "declare the buffer first"});
    return out;
  }
  if (tile.rank < 1 || tile.rank > isa::kMaxFreeDims || !tile.in_range())
    return out;  // isa::check says why
  if (std::string problem = expr_problem(program, program.exprs[tile.expr]); !problem.empty()) {
    out.push_back({"offset", cat(field, " ", problem), to_string(program.exprs[tile.expr]),
                   "use the indices of the loops around the instruction"});
    return out;
  }
  if (tile.expr != 0 && !aligned(program, tile))
    out.push_back({"alignment", cat(field, " starts inside an element at some iteration"),
                   cat(to_string(program.exprs[tile.expr]), ", ", describe(tile)),
                   cat("move by multiples of ", tile.element_bytes(), " bytes")});
  const Buffer& buffer = program.buffers[tile.buffer];
  const Reach r = reach(program, tile);
  const std::int64_t begin = tile.in_hbm() ? 0 : buffer.address;
  const std::int64_t end =
      begin + buffer.bytes * (tile.in_hbm() ? 1 : buffer.rotations) - padding(buffer);
  if (buffer.space != tile.space || r.low < begin || r.high > end)
    out.push_back(
        {"bounds", cat(field, " reaches outside buffer ", buffer.name),
         cat("bytes ", r.low, " .. ", r.high, " of ", begin, " .. ", end, ", ", describe(tile)),
         "shrink the tile or peel the ragged tail of the loop"});
  if (!tile.in_hbm() && tile.partition + tile.partitions > isa::kPartitions)
    out.push_back({"bounds", cat(field, " reaches past partition 127"), isa::to_string(tile),
                   "use fewer partitions"});
  if (tile.in_psum() && !stays_in_bank(program, tile))
    out.push_back({"psum-bank", cat(field, " crosses a PSUM bank of 2048 bytes"),
                   isa::to_string(tile),
                   "cut the tile at the bank (512 f32) or allocate one tile a bank"});
  return out;
}

std::vector<Problem> verify(const Program& program, const MachineSpec& machine) {
  Verifier verifier{program, machine, {}, std::vector<bool>(program.extents.size(), false), 0, 0};
  verifier.capacity();
  verifier.block(program.body);
  return std::move(verifier.problems);
}

}  // namespace krait::ir
