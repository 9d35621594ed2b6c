#pragma once

#include <algorithm>

#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = src[p,i] between HBM and SBUF; equal dtypes bit for bit, else through f32.
/// `ring` is the sequencer that triggers it: DMAs of one ring start in order.
/// Source: ISA32, DMAO, DGE.
struct DmaCopy {
  Tile dst, src;  // [P, F]; HBM or SBUF
  DmaRing ring = DmaRing::kSync;
  DgeMode dge = DgeMode::kStatic;

  static constexpr InsnInfo info{
      .name = "dma_copy",
      .engine = Engine::kSync,
      .summary = "copy between HBM and SBUF, with cast",
      .formula = "dst[p,i] = src[p,i]",
      .cost_source = {Evidence::kDerived,
                      "DMAO AGENT KO: descriptor_ns + max(b, 512) / rate per descriptor"},
      .by_dma = true,
      .packed = true};

  static constexpr auto fields() {
    using T = DmaCopy;
    return std::tuple{out("dst", &T::dst), in("src", &T::src), attr("ring", &T::ring),
                      attr("dge", &T::dge)};
  }

  static DmaCopy sample(const SampleShape& s) {
    return {.dst = s.out(), .src = s.in(s.n, Space::kHbm)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("src", src);
    c.same_shape("dst", dst, "src", src);
    c.no_packed_cast("dst", dst, "src", src);
    c.require(!dst.in_psum() && !src.in_psum(), "dma-psum", "DMA does not reach PSUM",
              describe(dst.in_psum() ? dst : src), "copy through SBUF (tensor_copy)");
    if (dge == DgeMode::kHardware) {
      c.require(c.machine().isa.hwdge, "dge-mode",
                "this generation has no hardware descriptor generation",
                std::string(c.machine().name()), "use dge=static or dge=software");
      c.require(ring == DmaRing::kSync || ring == DmaRing::kScalar, "dge-engine",
                "hardware descriptors are triggered by SyncE or ScalarE only", attr_text(ring),
                "use ring=sync or ring=scalar");
      c.require(dst.dtype == src.dtype, "dge-cast", "hardware descriptors do not cast",
                describe(dst) + ", " + describe(src), "use dge=static or equal dtypes");
    }
    c.require(dge != DgeMode::kSoftware || ring == DmaRing::kGpSimd, "dge-engine",
              "software descriptors are made by GpSimdE", attr_text(ring), "use ring=gpsimd");
  }

  [[nodiscard]] Engine engine_of() const {
    constexpr Engine kEngines[] = {Engine::kSync, Engine::kScalar, Engine::kGpSimd, Engine::kVector,
                                   Engine::kTensor};
    return kEngines[static_cast<std::size_t>(ring)];
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) m.copy_row(dst, p, src, p);
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    Timing out;
    DmaWork& w = out.dma;
    // The SBUF side decides the split over engines; the finer-grained side the size of a piece.
    const Tile& split = dst.in_sbuf() ? dst : src;
    w.partitions = split.partitions;
    w.first_partition = split.in_sbuf() ? split.partition : 0;
    w.spread_evenly = !split.in_sbuf();
    const std::int64_t piece = std::min(dst.inner_run(), src.inner_run());
    w.runs = dst.free_size() / piece;
    w.run_bytes = piece * std::max(dst.element_bytes(), src.element_bytes());
    const std::int64_t elements = dst.partitions * dst.free_size();
    if (src.in_hbm()) w.hbm_read_bytes = elements * src.element_bytes();
    if (dst.in_hbm()) w.hbm_write_bytes = elements * dst.element_bytes();
    const double issue = dge == DgeMode::kSoftware   ? s.dma.issue_swdge_ns
                         : dge == DgeMode::kHardware ? s.dma.issue_hwdge_ns
                                                     : s.dma.issue_static_ns;
    out.issue = from_ns(issue);
    return out;
  }
};

}  // namespace krait::isa
