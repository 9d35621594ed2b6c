#include "apps/krait/insn_sample.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace krait::app {
namespace {

using isa::FieldInfo;
using isa::InsnDef;
using isa::Role;
using isa::Space;
using isa::Tile;
using isa::Violation;

constexpr std::int64_t kRuleSize =
    128;  // elements a partition of the samples that rules start from

Tile make_tile(Space space, std::int64_t elements, int partitions = isa::kPartitions) {
  Tile tile;
  tile.space = space;
  tile.partitions = static_cast<std::uint16_t>(partitions);
  tile.partition_step = space == Space::kHbm ? elements : 0;
  tile.dims[0] = {.step = 1, .count = elements};
  return tile;
}

/// What a tile of a sample may be, most usual first.
std::vector<Tile> candidates(std::int64_t n) {
  std::vector<Tile> out{make_tile(Space::kSbuf, n), make_tile(Space::kPsum, n),
                        make_tile(Space::kHbm, n), make_tile(Space::kSbuf, isa::kPartitions),
                        make_tile(Space::kSbuf, 1)};
  out.push_back(out.front());
  out.back().dtype = DType::kU32;  // predicates
  out.push_back(out.front());
  out.back().dtype = DType::kU8;
  if (n <= isa::kPartitions)  // the result of a transpose
    out.push_back(make_tile(Space::kPsum, isa::kPartitions, static_cast<int>(n)));
  out.emplace_back();  // optional ones may be left out
  return out;
}

std::vector<FieldInfo> required_tiles(const InsnDef& def) {
  std::vector<FieldInfo> out;
  for (const FieldInfo& field : def.fields)
    if (field.role == Role::kOut || field.role == Role::kIn) out.push_back(field);
  return out;
}

/// Tries every choice of candidates for fields[at..]; true if a legal one was found.
bool choose(const InsnDef& def, const MachineSpec& machine, const std::vector<FieldInfo>& fields,
            std::size_t at, const std::vector<Tile>& choices, InsnSample& sample) {
  if (at == fields.size()) return isa::check(def, sample.self(), machine).empty();
  for (const Tile& tile : choices) {
    sample.tile(fields[at]) = tile;
    if (choose(def, machine, fields, at + 1, choices, sample)) return true;
  }
  return false;
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

constexpr std::string_view kGeneration = "generation";

/// No operands could make the instruction legal on this machine.
bool lacks(const InsnDef& def, const MachineSpec& machine) {
  const auto violations = isa::check(def, InsnSample(def).self(), machine);
  return std::any_of(violations.begin(), violations.end(),
                     [](const Violation& v) { return v.rule == kGeneration; });
}

}  // namespace

InsnSample::InsnSample(const InsnDef& def) : def_(&def) {
  const std::size_t units = (def.size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  storage_ = std::make_unique<std::max_align_t[]>(units);
  def.init(self());
}

Tile& InsnSample::tile(const FieldInfo& field) {
  return *reinterpret_cast<Tile*>(static_cast<char*>(self()) + field.offset);
}

InsnSample InsnSample::clone() const {
  InsnSample copy(*def_);
  std::memcpy(copy.self(), self(), def_->size);
  return copy;
}

std::optional<InsnSample> legal_sample(const InsnDef& def, const MachineSpec& machine,
                                       std::int64_t n) {
  InsnSample sample(def);
  if (lacks(def, machine)) return std::nullopt;
  if (def.sample != nullptr) {
    def.sample(sample.self(), n);
    if (isa::check(def, sample.self(), machine).empty()) return sample;
    return std::nullopt;
  }
  if (choose(def, machine, required_tiles(def), 0, candidates(n), sample)) return sample;
  return std::nullopt;
}

std::vector<Violation> rules(const InsnDef& def, const MachineSpec& machine) {
  std::vector<Violation> out;
  const auto base = legal_sample(def, machine, kRuleSize);
  if (!base) {  // the generation lacks it: that is the one rule
    for (Violation& v : isa::check(def, InsnSample(def).self(), machine))
      if (v.rule == kGeneration) out.push_back(std::move(v));
    return out;
  }
  const auto fields = required_tiles(def);
  const auto collect = [&](const InsnSample& sample) {
    for (Violation& v : isa::check(def, sample.self(), machine)) {
      const bool known = std::any_of(out.begin(), out.end(), [&v](const Violation& o) {
        return o.rule == v.rule && o.what == v.what;
      });
      if (!known) out.push_back(std::move(v));
    }
  };
  for (const auto& mutate : mutations()) {
    for (const FieldInfo& field : fields) {
      InsnSample broken = base->clone();
      mutate(broken.tile(field));
      collect(broken);
    }
    InsnSample all = base->clone();  // rules about several tiles at once
    for (const FieldInfo& field : fields) mutate(all.tile(field));
    collect(all);
  }
  return out;
}

}  // namespace krait::app
