#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = the next 32 random bits of the lane, the low ones for narrower types. VectorE, or
/// GpSimdE within SBUF from v3 on, each with its own generators. The values are ours, not the
/// machine's, whose generators are not public (engine_state.hpp). Source: ISA32.
struct Rng {
  Tile dst;  // [P, F], integers
  Engine engine = Engine::kVector;

  static constexpr InsnInfo info{
      .name = "rng",
      .engine = Engine::kVector,
      .summary = "random bits (our generator, not the machine's)",
      .formula = "dst[p,i] = next random bits of lane p",
      .cost_source = {Evidence::kAssumed, "ISA26: never printed; N, on GpSimdE 150 + N"}};

  static constexpr auto fields() {
    return std::tuple{out("dst", &Rng::dst), attr("engine", &Rng::engine)};
  }
  static Rng sample(const SampleShape& s) { return {.dst = s.other(s.n, DType::kU32)}; }

  void check(Checker& c) const {
    c.present("dst", dst);
    c.on_chip("dst", dst);
    c.require(!dst.present() || !is_float(dst.dtype), "operand-dtype",
              "rng writes integers of 8, 16 or 32 bits", describe(dst),
              "write u32 and scale it (tensor_scalar), or use rand2 on v4");
    c.require(engine == Engine::kVector || engine == Engine::kGpSimd, "engine",
              "rng runs on VectorE or GpSimdE", attr_text(engine), "use VectorE");
    if (engine != Engine::kGpSimd) return;
    c.require(c.machine().isa.gpsimd_rng, "engine", "GpSimdE has no rng before v3",
              std::string(c.machine().name()), "use VectorE");
    c.in_sbuf("dst", dst);
  }

  [[nodiscard]] Engine engine_of() const { return engine; }

  void execute(Memory& m) const {
    std::vector<std::uint32_t> random(static_cast<std::size_t>(dst.free_size()));
    for (int p = 0; p < dst.partitions; ++p) {
      m.rng(engine).draw(dst.partition + p, random);
      m.store_words(dst, p, random);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    if (engine == Engine::kGpSimd) return gpsimd_time(s, dst.free_size(), s.gpsimd.rng_rate);
    return vector_time(s, dst.free_size(), s.vector_rates.rng, {&dst});
  }
};

}  // namespace krait::isa
