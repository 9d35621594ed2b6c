#include "krait/base/rng.hpp"

#include <cmath>

namespace krait {

double CounterRng::normal(std::uint64_t counter) const {
  constexpr double kTwoPi = 6.283185307179586;
  const double u = 1.0 - uniform(2 * counter);  // (0, 1]
  const double v = uniform(2 * counter + 1);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(kTwoPi * v);
}

void fill_normal(std::span<float> out, std::uint64_t seed, std::uint64_t stream, float scale,
                 float shift) {
  const CounterRng rng(seed, stream);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(rng.normal(i)) * scale + shift;
}

void fill_uniform(std::span<float> out, std::uint64_t seed, std::uint64_t stream, float low,
                  float high) {
  const CounterRng rng(seed, stream);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = low + (high - low) * static_cast<float>(rng.uniform(i));
}

}  // namespace krait
