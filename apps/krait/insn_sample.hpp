#pragma once

// Sample instructions: a legal one of every kind, to show what it costs, and broken ones, to show
// the rules. Rules live in the check() of each instruction and are found here by breaking them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "krait/isa/insn.hpp"

namespace krait::app {

/// An object of an instruction's type; the storage is aligned for any type.
class InsnSample {
 public:
  explicit InsnSample(const isa::InsnDef& def);
  [[nodiscard]] void* self() { return storage_.get(); }
  [[nodiscard]] const void* self() const { return storage_.get(); }
  /// The tile of a field that is not an attribute.
  [[nodiscard]] isa::Tile& tile(const isa::FieldInfo& field);
  [[nodiscard]] InsnSample clone() const;

 private:
  const isa::InsnDef* def_;
  std::unique_ptr<std::max_align_t[]> storage_;
};

/// A legal instruction that processes n elements on each of 128 partitions; nothing if there is
/// none (n is beyond what the machine allows).
[[nodiscard]] std::optional<InsnSample> legal_sample(const isa::InsnDef& def,
                                                     const MachineSpec& machine, std::int64_t n);

/// What comes out when one tile at a time of a legal sample is removed, moved, resized or retyped;
/// one violation for every rule and field, in the order found.
[[nodiscard]] std::vector<isa::Violation> rules(const isa::InsnDef& def,
                                                const MachineSpec& machine);

}  // namespace krait::app
