#include "apps/krait/insn_sample.hpp"

#include <algorithm>
#include <functional>

namespace krait::app {
namespace {

using isa::FieldInfo;
using isa::InsnDef;
using isa::Role;
using isa::Space;
using isa::Tile;
using isa::Violation;

// Elements a partition of the samples that rules start from; legal for every instruction.
constexpr std::int64_t kRuleSize = 128;

std::vector<FieldInfo> tiles_of(const InsnDef& def) {
  std::vector<FieldInfo> out;
  for (const FieldInfo& field : def.fields)
    if (field.role == Role::kOut || field.role == Role::kIn) out.push_back(field);
  return out;
}

/// The sample with every optional tile that may be a column, so that its rules are met too.
isa::Sample with_optional_tiles(isa::Sample sample, const MachineSpec& machine) {
  for (const FieldInfo& field : tiles_of(sample.def())) {
    if (sample.tile(field).present()) continue;
    isa::Sample more = sample;
    more.tile(field) = isa::sample_tile(Space::kSbuf, DType::kF32, isa::kPartitions, 1);
    if (isa::check(more.def(), more.self(), machine).empty()) sample = std::move(more);
  }
  return sample;
}

/// Ways to break a tile. Each shows a different family of rules.
std::vector<std::function<void(Tile&)>> mutations() {
  return {
      [](Tile& t) { t.partitions = 0; },
      [](Tile& t) { t.space = Space::kSbuf; },
      [](Tile& t) { t.space = Space::kPsum; },
      [](Tile& t) { t.space = Space::kHbm, t.partition_step = t.free_size(); },
      [](Tile& t) { t.dims[0].count += 1; },
      [](Tile& t) { t.dims[0].count = 1; },
      [](Tile& t) { t.dims[0].count = 1 << 20; },
      [](Tile& t) { t.partitions = 64; },
      [](Tile& t) { t.partitions = 64, t.partition = 16; },
      [](Tile& t) { t.offset = 2; },
      [](Tile& t) { t.dtype = DType::kI32; },
      [](Tile& t) { t.dtype = DType::kBf16; },
      [](Tile& t) { t.dims[0].step = -1; },
  };
}

}  // namespace

std::optional<isa::Sample> legal_sample(const InsnDef& def, const MachineSpec& machine,
                                        std::int64_t n) {
  isa::Sample sample = isa::make_sample(def, {.n = n}, machine);
  if (isa::check(def, sample.self(), machine).empty()) return sample;
  return std::nullopt;
}

std::vector<Violation> rules(const InsnDef& def, const MachineSpec& machine) {
  std::vector<Violation> out;
  const auto fields = tiles_of(def);
  const isa::Sample base =
      with_optional_tiles(isa::make_sample(def, {.n = kRuleSize}, machine), machine);
  const auto collect = [&](const isa::Sample& sample) {
    for (Violation& v : isa::check(def, sample.self(), machine)) {
      const bool known = std::any_of(out.begin(), out.end(), [&v](const Violation& o) {
        return o.rule == v.rule && o.what == v.what;
      });
      if (!known) out.push_back(std::move(v));
    }
  };
  collect(base);  // a machine that lacks it says so
  for (const auto& mutate : mutations()) {
    for (const FieldInfo& field : fields) {
      isa::Sample broken = base;
      mutate(broken.tile(field));
      collect(broken);
    }
    isa::Sample all = base;  // rules about several tiles at once
    for (const FieldInfo& field : fields) mutate(all.tile(field));
    collect(all);
  }
  return out;
}

}  // namespace krait::app
