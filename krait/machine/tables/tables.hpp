#pragma once

// The tables, one function a generation, and the words they are written with. Only registry.cpp
// and the tables include this.

#include "krait/machine/spec.hpp"

namespace krait::tables {

/// NeuronCore-v2: states every value.
[[nodiscard]] MachineSpec trn1();
/// NeuronCore-v3: what differs from trn1, in value or in evidence.
[[nodiscard]] MachineSpec trn2();
/// NeuronCore-v4: what differs from trn2, in value or in evidence.
[[nodiscard]] MachineSpec trn3();

// One word a mark. The text starts with keys of docs/sources.md: "A2 A3, where".
constexpr Source documented(const char* text) {
  return {Evidence::kDocumented, text};
}
constexpr Source derived(const char* text) {
  return {Evidence::kDerived, text};
}
constexpr Source measured(const char* text) {
  return {Evidence::kMeasured, text};
}
constexpr Source third_party(const char* text) {
  return {Evidence::kThirdParty, text};
}
constexpr Source assumed(const char* text) {
  return {Evidence::kAssumed, text};
}

/// Changes a copy of the generation before.
template <class Change>
[[nodiscard]] MachineSpec derive(MachineSpec spec, Change&& change) {
  change(spec);
  return spec;
}

/// Keeps the values, restates why they hold for this generation.
template <class... Vals>
void restate(Source source, Vals&... vals) {
  ((vals.source = source), ...);
}

}  // namespace krait::tables
