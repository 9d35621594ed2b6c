#pragma once

// What the tests of the time core share: a timeline that is driven one instruction at a time,
// without a Program, and times written out from the manuals' figures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <ostream>
#include <vector>

#include "krait/isa/insn_testing.hpp"
#include "krait/sim/timeline.hpp"

namespace krait {
inline void PrintTo(const Ps& t, std::ostream* out) {
  *out << t.value << " ps";
}
}  // namespace krait

namespace krait::sim::testing {

using isa::Engine;
using isa::Tile;
using isa::testing::hbm;
using isa::testing::psum;
using isa::testing::sbuf;
using isa::testing::stepped;
using isa::testing::trn1;
using isa::testing::trn2;
using isa::testing::trn3;

/// Cycles of a clock as time. A part of a picosecond counts as a whole one.
inline Ps at(double ghz, double cycles) {
  return Ps{static_cast<std::int64_t>(std::ceil(cycles * 1000 / ghz - 1e-6))};
}
inline Ps ns(double value) {
  return from_ns(value);
}

/// Issues instructions on a timeline. HBM buffers 0 and 1 of 1 MiB may be written, 2 is an input.
class Driver {
 public:
  explicit Driver(const MachineSpec& machine) : machine_(machine), timeline_(machine) {
    for (const bool written : {true, true, false}) timeline_.add_hbm_buffer(1 << 20, written);
  }

  template <isa::Instruction T>
  Issued issue(T insn, std::initializer_list<SemaphoreWait> waits = {},
               std::initializer_list<std::uint32_t> signals = {}) {
    const isa::InsnDef& def = isa::def_of<T>();
    const isa::Timing timing = def.time(&insn, machine_);
    const Engine engine = def.engine(&insn);
    std::vector<Access> accesses;
    isa::for_each_tile(def, static_cast<void*>(&insn),
                       [&](const isa::FieldInfo& field, Tile& tile) {
                         accesses.push_back({&tile, field.role == isa::Role::kOut});
                       });
    return timeline_.issue({def.info.name,
                            engine,
                            &timing,
                            accesses,
                            {waits.begin(), waits.size()},
                            {signals.begin(), signals.size()}});
  }

  [[nodiscard]] Timeline& timeline() { return timeline_; }

 private:
  const MachineSpec& machine_;
  Timeline timeline_;
};

// --- short forms; offsets in bytes keep operands of different instructions apart ---

inline isa::TensorTensor add(const Tile& dst, const Tile& a, const Tile& b) {
  return {.dst = dst, .a = a, .b = b, .op = isa::AluOp::kAdd};
}
inline isa::Activation square(const Tile& dst, const Tile& src) {
  return {.dst = dst, .data = src, .fn = UnaryFn::kSquare};
}
inline isa::Activation function(UnaryFn fn, const Tile& dst, const Tile& src) {
  return {.dst = dst, .data = src, .fn = fn};
}
inline isa::TensorCopy copy(Engine engine, const Tile& dst, const Tile& src) {
  return {.dst = dst, .src = src, .engine = engine};
}
inline isa::DmaCopy dma(const Tile& dst, const Tile& src, isa::DmaRing ring = isa::DmaRing::kSync) {
  return {.dst = dst, .src = src, .ring = ring};
}
inline isa::NcMatmul product(const Tile& dst, const Tile& stationary, const Tile& moving) {
  return {.dst = dst, .stationary = stationary, .moving = moving};
}
/// The same tile on partitions [partition, partition + partitions).
inline Tile on_partitions(Tile t, int partition, int partitions) {
  t.partition = static_cast<std::uint16_t>(partition);
  t.partitions = static_cast<std::uint16_t>(partitions);
  return t;
}

}  // namespace krait::sim::testing
