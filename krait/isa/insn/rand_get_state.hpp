#pragma once

#include "krait/isa/insn.hpp"
#include "krait/isa/rng_state.hpp"

namespace krait::isa {

/// dst[p,:] = the state of lane p's generators, from which rand_set_state resumes the sequence. The
/// words are ours, not the machine's (engine_state.hpp). Source: ISA32.
struct RandGetState {
  Tile dst;  // [P, 6] u32 on GpSimdE, [P, 24] on VectorE
  Engine engine = Engine::kGpSimd;

  static constexpr InsnInfo info{
      .name = "rand_get_state",
      .engine = Engine::kGpSimd,
      .summary = "store the random-number state of each lane (our generator, not the machine's)",
      .formula = "dst[p,:] = state of lane p",
      .cost_source = {Evidence::kAssumed, "ISA26: never printed; a cycle a word"}};

  static constexpr auto fields() {
    using T = RandGetState;
    return std::tuple{out("dst", &T::dst), attr("engine", &T::engine)};
  }
  static RandGetState sample(const SampleShape& s) { return {.dst = s.other(6, DType::kU32)}; }

  void check(Checker& c) const { check_rng_state(c, "dst", dst, engine); }
  [[nodiscard]] Engine engine_of() const { return engine; }

  void execute(Memory& m) const {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(dst.free_size()));
    for (int p = 0; p < dst.partitions; ++p) {
      m.rng(engine).get_state(dst.partition + p, words);
      m.store_words(dst, p, words);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const { return rng_state_time(s, dst, engine); }
};

}  // namespace krait::isa
