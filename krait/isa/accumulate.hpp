#pragma once

// What the instructions with reduce_cmd share: rules, and running the command on one register.
// Instructions of one engine run in order, so one that accumulates onto the one before it waits for
// nothing (assumed: no page says).

#include <algorithm>
#include <initializer_list>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/checker.hpp"
#include "krait/isa/field.hpp"
#include "krait/isa/memory.hpp"

namespace krait::isa {

/// The command is one of those the instruction has, and what reduce_res reads is defined.
inline void check_reduce(Checker& c, Engine engine, ReduceCmd cmd, const Tile& reduce_res,
                         const Tile& dst, std::initializer_list<ReduceCmd> legal) {
  c.require(std::find(legal.begin(), legal.end(), cmd) != legal.end(), "reduce-cmd",
            "the instruction has no such reduce_cmd", attr_text(cmd), "use reset_reduce or reduce");
  if (!reduce_res.present()) return;
  c.per_partition("reduce_res", reduce_res, dst);
  c.require(engine != Engine::kVector || cmd != ReduceCmd::kIdle, "reduce-cmd",
            "idle leaves VectorE's accumulators undefined, so there is nothing to read out",
            cat("reduce_cmd = idle, reduce_res = ", describe(reduce_res)),
            "use reset_reduce, or leave reduce_res out");
}

/// Runs cmd on the register of a lane: op folds the row onto it, left to right in f32.
inline void accumulate(Memory& m, Engine engine, int lane, ReduceCmd cmd, AluOp op, float load,
                       std::span<const float> row) {
  switch (cmd) {
    case ReduceCmd::kIdle:
      if (engine == Engine::kVector) m.unset_accumulator(engine, lane);
      return;
    case ReduceCmd::kReset:
      return m.set_accumulator(engine, lane, identity(op));
    case ReduceCmd::kReduce:
      return m.set_accumulator(engine, lane, reduce_row(op, row, m.accumulator(engine, lane)));
    case ReduceCmd::kResetReduce:
      return m.set_accumulator(engine, lane, reduce_row(op, row, identity(op)));
    case ReduceCmd::kLoadReduce:
      return m.set_accumulator(engine, lane, reduce_row(op, row, load));
    case ReduceCmd::kDefault:
      break;  // instructions resolve it
  }
  KRAIT_ASSERT(false);
}

}  // namespace krait::isa
