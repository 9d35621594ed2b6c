#pragma once

// The shapes that costs take on the engines; instructions choose one and give the rate.

#include <initializer_list>

#include "krait/isa/tile.hpp"
#include "krait/isa/timing.hpp"

namespace krait::isa {

/// The clock that an engine's cycles belong to.
[[nodiscard]] const Clock& clock_of(const MachineSpec& machine, Engine engine);
[[nodiscard]] bool is_16bit(DType dtype, const MachineSpec& machine);

/// VectorE: max(min_ii, n / rate) + extra, n enlarged if an operand's innermost stride is slow.
[[nodiscard]] Timing vector_time(const MachineSpec& m, std::int64_t n, double rate,
                                 std::initializer_list<const Tile*> tiles);
/// ScalarE, likewise.
[[nodiscard]] Timing scalar_time(const MachineSpec& m, std::int64_t n, double rate,
                                 std::initializer_list<const Tile*> tiles);
/// ScalarE loads a table for this function; copy, square, abs, relu and sign need none.
[[nodiscard]] bool loads_table(UnaryFn fn);
/// GpSimdE: start + n / rate.
[[nodiscard]] Timing gpsimd_time(const MachineSpec& m, std::int64_t n, double rate);
/// TensorE: a product of `columns` moving columns against `stationary_columns`, `passes` cycles a
/// column spread over `instructions` MMs.
[[nodiscard]] Timing tensor_time(const MachineSpec& m, std::int64_t stationary_columns,
                                 std::int64_t columns, double passes, int instructions);
/// Elements per cycle of tensor_copy and tensor_scalar on VectorE (A3, performance modes).
[[nodiscard]] double vector_copy_rate(const MachineSpec& m, const Tile& dst, const Tile& src);

}  // namespace krait::isa
