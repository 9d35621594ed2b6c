#pragma once

#include "krait/isa/insn.hpp"
#include "krait/isa/rng_state.hpp"

namespace krait::isa {

/// The state of lane p's generators = src_seeds[p,:]. What follows from a state is ours, not the
/// machine's, whose constants are not public (engine_state.hpp). Source: ISA32.
struct RandSetState {
  Tile src_seeds;  // [P, 6] u32 on GpSimdE, [P, 24] on VectorE
  Engine engine = Engine::kGpSimd;

  static constexpr InsnInfo info{
      .name = "rand_set_state",
      .engine = Engine::kGpSimd,
      .summary = "seed the random numbers of each lane (our generator, not the machine's)",
      .formula = "state of lane p = src_seeds[p,:]",
      .cost_source = {Evidence::kAssumed, "ISA26: never printed; a cycle a word"},
      .engine_state = true};

  static constexpr auto fields() {
    using T = RandSetState;
    return std::tuple{in("src_seeds", &T::src_seeds), attr("engine", &T::engine)};
  }
  static RandSetState sample(const SampleShape& s) {
    return {.src_seeds = s.other(6, DType::kU32)};
  }

  void check(Checker& c) const { check_rng_state(c, "src_seeds", src_seeds, engine); }
  [[nodiscard]] Engine engine_of() const { return engine; }

  void execute(Memory& m) const {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(src_seeds.free_size()));
    for (int p = 0; p < src_seeds.partitions; ++p) {
      m.load_words(src_seeds, p, words);
      m.rng(engine).set_state(src_seeds.partition + p, words);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return rng_state_time(s, src_seeds, engine);
  }
};

}  // namespace krait::isa
