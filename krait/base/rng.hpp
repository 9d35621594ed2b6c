#pragma once

// Counter-based random numbers: value i of stream s is a pure function of (seed, s, i), so results
// do not depend on the order of evaluation, on threads or on the platform.

#include <cstdint>
#include <span>

namespace krait {

class CounterRng {
 public:
  explicit constexpr CounterRng(std::uint64_t seed, std::uint64_t stream = 0)
      : key_(mix(seed + 0x9E3779B97F4A7C15ULL * (stream + 1))) {}

  /// 64 random bits at a position: two rounds of the SplitMix64 finaliser over key and counter.
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t counter) const {
    return mix(mix(counter ^ key_) + key_);
  }
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] constexpr double uniform(std::uint64_t counter) const {
    return static_cast<double>(bits(counter) >> 11) * 0x1.0p-53;
  }
  /// Standard normal by Box-Muller from two positions, 2*counter and 2*counter+1.
  [[nodiscard]] double normal(std::uint64_t counter) const;

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint64_t key_;
};

/// Fills with normals scaled by `scale` and shifted by `shift`.
void fill_normal(std::span<float> out, std::uint64_t seed, std::uint64_t stream, float scale = 1,
                 float shift = 0);
/// Fills with uniforms in [low, high).
void fill_uniform(std::span<float> out, std::uint64_t seed, std::uint64_t stream, float low,
                  float high);

}  // namespace krait
