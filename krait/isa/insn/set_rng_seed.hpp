#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// Seeds VectorE's generators, all lanes from one 32-bit value: equal seeds give equal sequences,
/// lanes differ. Before any seed a run starts from seed 0. What follows from a seed is ours, not
/// the machine's, whose generator is not public (engine_state.hpp). Source: ISA32.
struct SetRngSeed {
  Tile src_seeds;  // [1, 1], a 32-bit type

  static constexpr InsnInfo info{
      .name = "set_rng_seed",
      .engine = Engine::kVector,
      .summary = "seed VectorE's random numbers (our generator, not the machine's)",
      .formula = "generators of all lanes = f(src_seeds[0,0])",
      .cost_source = {Evidence::kAssumed, "ISA26: never printed; the shortest instruction"},
      .engine_state = true};

  static constexpr auto fields() { return std::tuple{in("src_seeds", &SetRngSeed::src_seeds)}; }
  static SetRngSeed sample(const SampleShape&) {
    return {.src_seeds = sample_tile(Space::kSbuf, DType::kU32, 1, 1)};
  }

  void check(Checker& c) const {
    c.present("src_seeds", src_seeds);
    c.on_chip("src_seeds", src_seeds);
    c.require(!src_seeds.present() || (src_seeds.partitions == 1 && src_seeds.free_size() == 1),
              "rng-state", "set_rng_seed takes one value, [1, 1]", describe(src_seeds),
              "pass one element; rand_set_state seeds lane by lane");
    c.require(src_seeds.element_bytes() == 4, "operand-dtype", "the seed must have 32 bits",
              describe(src_seeds), "keep it in u32");
  }

  void execute(Memory& m) const {
    std::uint32_t seed = 0;
    m.load_words(src_seeds, 0, {&seed, 1});
    m.rng(Engine::kVector).seed(seed);
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, 1, s.vector_rates.rng_state, {&src_seeds});
  }
};

}  // namespace krait::isa
