#pragma once

// What an instruction is. A plain struct with
//   static constexpr InsnInfo info          name, engine, summary, source of its cost
//   static constexpr auto fields()          its operands and attributes, in order
//   void check(Checker&) const              its rules on a machine
//   void execute(Memory&) const             its meaning, on memory
//   Timing time(const MachineSpec&) const   its cost
// and, where it needs them,
//   Engine engine_of() const                the engine, if it is a choice
//   bool accumulates() const                whether dst is read
//   static T sample(const SampleShape&)     legal operands, if tiles differ in form (sample.hpp)
// InsnDef is the same, type-erased; the registry holds one for each line of insn_list.inc.

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "krait/isa/checker.hpp"
#include "krait/isa/field.hpp"
#include "krait/isa/memory.hpp"
#include "krait/isa/sample.hpp"
#include "krait/isa/timing.hpp"

namespace krait::isa {

struct InsnInfo {
  std::string_view name;  // the manual's
  Engine engine;          // default engine
  std::string_view summary;
  std::string_view formula;  // of the meaning, one line
  Source cost_source;
  bool by_dma = false;        // operands are reached by DMA: the ports' rules on tiles do not apply
  bool packed = false;        // takes tiles of the x4 packs of MX values
  bool engine_state = false;  // writes state inside its engine and need not write a tile
};

template <class T>
concept Instruction = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
    requires(const T t, Checker& c, Memory& m, const MachineSpec& s) {
  { T::info } -> std::convertible_to<InsnInfo>;
  T::fields();
  t.check(c);
  t.execute(m);
  { t.time(s) } -> std::same_as<Timing>;
};

/// One field, type-erased.
struct FieldInfo {
  std::string_view name;
  Role role;
  std::size_t offset;  // bytes into the struct; an Operand's tile is its first member
  std::string (*text)(const void* member);             // attributes
  bool (*parse)(std::string_view text, void* member);  // attributes
};

/// An instruction, type-erased. `self` points to an object of its type.
struct InsnDef {
  InsnInfo info;
  std::size_t size = 0;
  std::vector<FieldInfo> fields;
  void (*init)(void* self) = nullptr;
  void (*check)(const void* self, Checker& c) = nullptr;
  void (*execute)(const void* self, Memory& m) = nullptr;
  Timing (*time)(const void* self, const MachineSpec& machine) = nullptr;
  Engine (*engine)(const void* self) = nullptr;
  bool (*accumulates)(const void* self) = nullptr;
  void (*sample)(void* self, const SampleShape& shape) = nullptr;  // null: tiles of one form
};

namespace detail {

template <class T, class M>
FieldInfo erase(const Field<T, M>& field) {
  T probe{};
  const auto offset =
      static_cast<std::size_t>(reinterpret_cast<const char*>(&(probe.*field.member)) -
                               reinterpret_cast<const char*>(&probe));
  FieldInfo info{field.name, field.role, offset, nullptr, nullptr};
  if constexpr (!std::is_same_v<M, Tile> && !std::is_same_v<M, Operand>) {
    info.text = [](const void* m) { return attr_text(*static_cast<const M*>(m)); };
    info.parse = [](std::string_view text, void* m) {
      return parse_attr(text, *static_cast<M*>(m));
    };
  }
  return info;
}

}  // namespace detail

template <Instruction T>
InsnDef make_def() {
  InsnDef def;
  def.info = T::info;
  def.size = sizeof(T);
  std::apply([&](const auto&... field) { (def.fields.push_back(detail::erase(field)), ...); },
             T::fields());
  def.init = [](void* self) { new (self) T{}; };
  def.check = [](const void* self, Checker& c) { static_cast<const T*>(self)->check(c); };
  def.execute = [](const void* self, Memory& m) { static_cast<const T*>(self)->execute(m); };
  def.time = [](const void* self, const MachineSpec& s) {
    return static_cast<const T*>(self)->time(s);
  };
  def.engine = [](const void* self) {
    if constexpr (requires(const T t) { t.engine_of(); })
      return static_cast<const T*>(self)->engine_of();
    else
      return (void)self, T::info.engine;
  };
  def.accumulates = [](const void* self) {
    if constexpr (requires(const T t) { t.accumulates(); })
      return static_cast<const T*>(self)->accumulates();
    else
      return (void)self, false;
  };
  if constexpr (requires(const SampleShape s) { T::sample(s); })
    def.sample = [](void* self, const SampleShape& s) { *static_cast<T*>(self) = T::sample(s); };
  return def;
}

/// All instructions, in the order of insn_list.inc.
[[nodiscard]] std::span<const InsnDef* const> instructions();
/// By name. @throws UserError with the nearest names
[[nodiscard]] const InsnDef& find_instruction(std::string_view name);
/// The registry's entry for T.
template <Instruction T>
const InsnDef& def_of() {
  static const InsnDef& def = find_instruction(T::info.name);
  return def;
}

/// Calls fn(field, tile) for every tile of an instruction that is present, operands included.
template <class Fn>
void for_each_tile(const InsnDef& def, void* self, Fn fn) {
  for (const FieldInfo& field : def.fields) {
    if (field.role == Role::kAttr) continue;
    Tile& tile = *reinterpret_cast<Tile*>(static_cast<char*>(self) + field.offset);
    if (tile.present()) fn(field, tile);
  }
}
template <class Fn>
void for_each_tile(const InsnDef& def, const void* self, Fn fn) {
  for (const FieldInfo& field : def.fields) {
    if (field.role == Role::kAttr) continue;
    const Tile& tile =
        *reinterpret_cast<const Tile*>(static_cast<const char*>(self) + field.offset);
    if (tile.present()) fn(field, tile);
  }
}

/// The rules of one instruction: those of its tiles, then its own.
[[nodiscard]] std::vector<Violation> check(const InsnDef& def, const void* self,
                                           const MachineSpec& machine);

}  // namespace krait::isa
