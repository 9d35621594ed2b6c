#pragma once

// What rand_set_state and rand_get_state share: GpSimdE from v3 on, six words a lane, within SBUF;
// VectorE from v4 on, 24 words (ISA32).

#include "krait/base/text.hpp"
#include "krait/isa/checker.hpp"
#include "krait/isa/cost.hpp"
#include "krait/isa/engine_state.hpp"
#include "krait/isa/field.hpp"

namespace krait::isa {

inline int state_words(Engine engine) {
  return engine == Engine::kVector ? LaneRng::kMaxGenerators * LaneRng::kWords : LaneRng::kWords;
}

inline void check_rng_state(Checker& c, std::string_view name, const Tile& t, Engine engine) {
  const auto& isa = c.machine().isa;
  c.exists(isa.gpsimd_rng, "v3", "use set_rng_seed, which v2 has");
  c.present(name, t);
  c.on_chip(name, t);
  c.require(engine == Engine::kVector || engine == Engine::kGpSimd, "engine",
            "VectorE and GpSimdE have generators", attr_text(engine), "use GpSimdE");
  c.require(engine != Engine::kVector || isa.rand2, "engine",
            "the state of VectorE's generators is out of reach before v4",
            std::string(c.machine().name()), "use GpSimdE, or set_rng_seed");
  if (engine == Engine::kGpSimd) c.in_sbuf(name, t);
  c.require(!t.present() || t.dtype == DType::kU32, "operand-dtype", "state words are u32",
            describe(t), "keep them in u32");
  c.require(!t.present() || t.free_size() == state_words(engine), "rng-state",
            cat("a lane's state on ", isa::name(engine), " has ", state_words(engine), " words"),
            describe(t), "6 words a lane on GpSimdE, 24 on VectorE");
}

inline Timing rng_state_time(const MachineSpec& s, const Tile& t, Engine engine) {
  if (engine == Engine::kGpSimd) return gpsimd_time(s, t.free_size(), s.gpsimd.base_rate);
  return vector_time(s, t.free_size(), s.vector_rates.rng_state, {&t});
}

}  // namespace krait::isa
