#pragma once

// What the engines keep inside between instructions: accumulator registers and random-number
// generators, one set a lane. Part of the simulated memory, so that a run starts from a known
// state.
//
// An accumulator is unset until an instruction resets or loads it; reading one that is unset, or
// that a VectorE instruction with `idle` has left undefined, is a finding and gives NaN.
//
// Random numbers: the machine's generators are not public (an LFSR on VectorE before v4; XORWOW on
// GpSimdE, and on VectorE of v4, with constants that no page prints), so values cannot be the
// machine's. Ours are those of a counter-based generator (base/rng.hpp), a pure function of seed,
// stream and position, with state words of the documented number: six a generator - seed, stream,
// position, each as two words, low first. Equal states give equal sequences, as the manual
// promises.

#include <array>
#include <cstdint>
#include <span>

#include "krait/isa/tile.hpp"

namespace krait::isa {

/// One f32 of a lane.
struct Accumulator {
  float value = 0;
  bool set = false;
};

/// The generators of one engine. VectorE has four a lane that take turns element by element (rand2
/// gives four values a cycle), GpSimdE one.
class LaneRng {
 public:
  static constexpr int kWords = 6;          // of one generator
  static constexpr int kMaxGenerators = 4;  // of one lane
  explicit LaneRng(int generators);

  [[nodiscard]] int words() const { return generators_ * kWords; }
  /// The same seed on all lanes; lanes and generators draw from different streams.
  void seed(std::uint32_t seed);
  void set_state(int lane, std::span<const std::uint32_t> words);
  void get_state(int lane, std::span<std::uint32_t> words) const;
  /// The next out.size() values of a lane; the first comes from generator 0.
  void draw(int lane, std::span<std::uint32_t> out);

 private:
  struct State {
    std::uint64_t seed = 0, stream = 0, position = 0;
  };
  static std::size_t slot(int lane, int generator) {
    return static_cast<std::size_t>(lane) * kMaxGenerators + static_cast<std::size_t>(generator);
  }
  int generators_;
  std::array<State, std::size_t{kPartitions} * kMaxGenerators> states_{};
};

/// A number in [0, 1) from 32 random bits: the upper 24, so that it is exact in f32.
[[nodiscard]] constexpr float unit_interval(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1.0p-24F;
}

}  // namespace krait::isa
