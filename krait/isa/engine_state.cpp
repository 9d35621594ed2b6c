#include "krait/isa/engine_state.hpp"

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"

namespace krait::isa {
namespace {

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

}  // namespace

LaneRng::LaneRng(int generators) : generators_(generators) {
  KRAIT_ASSERT(generators >= 1 && generators <= kMaxGenerators);
  seed(0);
}

void LaneRng::seed(std::uint32_t seed) {
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i] = {seed, i, 0};
}

void LaneRng::set_state(int lane, std::span<const std::uint32_t> words) {
  KRAIT_ASSERT(static_cast<int>(words.size()) == this->words());
  for (int g = 0; g < generators_; ++g) {
    const auto w = words.subspan(static_cast<std::size_t>(g) * kWords, kWords);
    states_[slot(lane, g)] = {joined(w[0], w[1]), joined(w[2], w[3]), joined(w[4], w[5])};
  }
}

void LaneRng::get_state(int lane, std::span<std::uint32_t> words) const {
  KRAIT_ASSERT(static_cast<int>(words.size()) == this->words());
  std::size_t i = 0;
  for (int g = 0; g < generators_; ++g) {
    const State& state = states_[slot(lane, g)];
    for (const std::uint64_t v : {state.seed, state.stream, state.position}) {
      words[i++] = static_cast<std::uint32_t>(v);
      words[i++] = static_cast<std::uint32_t>(v >> 32);
    }
  }
}

void LaneRng::draw(int lane, std::span<std::uint32_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto turn = static_cast<int>(i % static_cast<std::size_t>(generators_));
    State& state = states_[slot(lane, turn)];
    const CounterRng rng(state.seed, state.stream);
    out[i] = static_cast<std::uint32_t>(rng.bits(state.position++) >> 32);
  }
}

}  // namespace krait::isa
