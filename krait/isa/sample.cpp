#include "krait/isa/sample.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "krait/isa/insn.hpp"

namespace krait::isa {
namespace {

std::size_t units(const InsnDef& def) {
  return (def.size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
}

/// An instruction without operands breaks a rule for each one that it cannot do without.
bool required(const FieldInfo& field, const std::vector<Violation>& missing) {
  return std::any_of(missing.begin(), missing.end(), [&](const Violation& v) {
    return v.rule == "operand-missing" && v.what.starts_with(std::string(field.name) + " ");
  });
}

}  // namespace

Tile sample_tile(Space space, DType dtype, std::int64_t partitions, std::int64_t elements) {
  Tile tile;
  tile.space = space;
  tile.dtype = dtype;
  // More partitions than a tile can name are too many for any rule; they must not wrap to few.
  tile.partitions = static_cast<std::uint16_t>(std::min<std::int64_t>(partitions, UINT16_MAX));
  tile.partition_step = space == Space::kHbm ? elements : 0;
  tile.dims[0] = {.step = 1, .count = elements};
  return tile;
}

Sample::Sample(const InsnDef& def)
    : def_(&def), storage_(std::make_unique<std::max_align_t[]>(units(def))) {
  def.init(self());
}

Sample::Sample(const Sample& other)
    : def_(other.def_), storage_(std::make_unique<std::max_align_t[]>(units(*other.def_))) {
  std::memcpy(self(), other.self(), def_->size);
}

Sample& Sample::operator=(const Sample& other) {
  if (this != &other) *this = Sample(other);
  return *this;
}

void* Sample::member(const FieldInfo& field) {
  return static_cast<char*>(self()) + field.offset;
}

Tile& Sample::tile(const FieldInfo& field) {
  return *static_cast<Tile*>(member(field));
}

Sample make_sample(const InsnDef& def, const SampleShape& shape, const MachineSpec& machine) {
  Sample out(def);
  if (def.sample != nullptr) {
    def.sample(out.self(), shape);
    return out;
  }
  const std::vector<Violation> missing = check(def, out.self(), machine);
  bool first = true;
  for (const FieldInfo& field : def.fields) {
    if (field.role != Role::kOut && field.role != Role::kIn) continue;
    if (!required(field, missing)) continue;
    out.tile(field) = field.role == Role::kOut ? shape.out() : first ? shape.in() : shape.other();
    first = first && field.role == Role::kOut;
  }
  return out;
}

bool lacks(const MachineSpec& machine, const InsnDef& def) {
  const std::vector<Violation> violations = check(def, Sample(def).self(), machine);
  return std::any_of(violations.begin(), violations.end(),
                     [](const Violation& v) { return v.rule == "generation"; });
}

}  // namespace krait::isa
