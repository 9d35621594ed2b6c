#include "krait/study/report/roofs.hpp"

#include "krait/machine/registry.hpp"

namespace krait::study::report {

Roofs machine_roofs(std::string_view machine) {
  for (const MachineSpec* spec : machines()) {
    if (spec->name() != machine) continue;
    const double hbm = spec->chip.hbm_stack_bytes_per_ns / spec->chip.cores_per_stack;
    const double dma = spec->dma.engines * spec->dma.practical_bytes_per_ns;
    Roofs roofs{.bytes_per_ns = hbm < dma ? hbm : dma,
                .memory = hbm < dma ? "HBM, one core's share" : "DMA engines of a core",
                .peaks = {{"VectorE, f32", spec->peaks.vector_tflops * 1e3},
                          {"TensorE, f32", spec->peaks.f32_tflops * 1e3}}};
    return roofs;
  }
  return {};
}

}  // namespace krait::study::report
