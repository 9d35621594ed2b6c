#pragma once

// A number about a machine never travels without the reason to believe it.

#include <cstdint>

namespace krait {

/// How far a value can be trusted. The letters are those of docs/sources.md and of every report.
enum class Evidence : std::uint8_t {
  kDocumented,  ///< D: printed by the maker
  kDerived,     ///< R: arithmetic on documented values, or v2's documented cost carried over
  kMeasured,    ///< M: read off a published profile, about +-5 %
  kThirdParty,  ///< T: published by somebody else
  kAssumed,     ///< U: nobody published it; docs/sources.md says what was assumed and why
};

/// 'D', 'R', 'M', 'T' or 'U'.
[[nodiscard]] constexpr char letter(Evidence evidence) {
  constexpr char kLetters[] = "DRMTU";
  return kLetters[static_cast<unsigned>(evidence)];
}

/// Evidence and place. `text` starts with a key of docs/sources.md ("A2, memory"); never null.
struct Source {
  Evidence evidence = Evidence::kAssumed;
  const char* text = "";
};

/// A value with its source. Reads as the value where T is expected; arithmetic on strong types
/// (Clock, Cycles) goes through `.value`.
template <class T>
struct Val {
  T value{};
  Source source;
  constexpr operator const T&() const { return value; }  // NOLINT(google-explicit-constructor)
};

}  // namespace krait
