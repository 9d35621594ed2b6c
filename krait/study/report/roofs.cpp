#include "krait/study/report/roofs.hpp"

#include "krait/machine/registry.hpp"

namespace krait::study::report {

Roofs machine_roofs(std::string_view machine) {
  for (const MachineSpec* spec : machines()) {
    if (spec->name() != machine) continue;
    // As in a prediction: the one core that runs has its stack to itself.
    const double hbm = spec->chip.hbm_stack_bytes_per_ns;
    const double dma = spec->dma.engines * spec->dma.practical_bytes_per_ns;
    Roofs roofs{.bytes_per_ns = hbm < dma ? hbm : dma,
                .memory = hbm < dma ? "HBM stack" : "DMA engines of a core",
                .peaks = {{"VectorE, f32", spec->peaks.vector_tflops * 1e3},
                          {"TensorE, f32", spec->peaks.f32_tflops * 1e3}}};
    return roofs;
  }
  return {};
}

}  // namespace krait::study::report
