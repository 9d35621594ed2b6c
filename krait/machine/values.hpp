#pragma once

// Every value of a machine as one flat list: what `krait machines` prints, what the docs are made
// from, what tests walk, and what the table hash covers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krait/machine/spec.hpp"

namespace krait {

/// One value of a table.
struct ValueRow {
  std::string name;       ///< "vector.min_ii": group and member
  std::string text;       ///< the value as shown: "64", "0.96", "yes"
  double number = 0;      ///< the value as a number; a flag is 0 or 1
  std::string_view unit;  ///< "cycles", "B/ns", "flag", ...; never empty
  std::string_view help;  ///< one line
  Source source;
};

/// All values, in the order of KRAIT_MACHINE_GROUPS.
[[nodiscard]] std::vector<ValueRow> list_values(const MachineSpec& machine);

/// Calls visitor(const ValueRow&) for every value, in that order.
template <class Visitor>
void for_each_value(const MachineSpec& machine, Visitor&& visitor) {
  for (const ValueRow& row : list_values(machine)) visitor(row);
}

/// The machine with another value in row `index` of list_values: 2x + 1 for a number, the opposite
/// for a flag. For asking what rests on a value.
[[nodiscard]] MachineSpec with_another_value(const MachineSpec& machine, std::size_t index);

/// Identifies what a prediction rests on: 64-bit FNV-1a over the machine's name and every value's
/// name, unit, text and evidence letter. The wording of sources and helps does not count, so better
/// prose leaves old jobs comparable. The same on every host.
[[nodiscard]] std::uint64_t table_hash(const MachineSpec& machine);

}  // namespace krait
