// Trainium2: NeuronCore-v3, what differs from trn1. AWS printed instruction costs for v2 only, so
// costs kept from there are restated as derived.

#include "krait/machine/tables/tables.hpp"

namespace krait::tables {
namespace {

void memories(MachineSpec& m) {
  m.geometry.sbuf_bytes_per_partition = {224_KiB, documented("A3, introduction")};
  m.geometry.sbuf_reserved_bytes_per_partition = {
      16_KiB + 8, documented("LIB, kernels subtract 16384 + 8; A3 names the use")};

  m.chip.cores = {8, documented("A3, introduction")};
  m.chip.cores_per_stack = {2, documented("LNC, two cores share a stack")};
  m.chip.hbm_stacks = {4, documented("A3, introduction")};
  m.chip.hbm_bytes = {96_GiB, documented("A3, introduction")};
  m.chip.hbm_bytes_per_core = {12_GiB, derived("A3, capacity over cores")};
  m.chip.hbm_bytes_per_ns = {3000, documented("A3, introduction; H says 2.9 TB/s")};
  m.chip.hbm_stack_bytes_per_ns = {
      716,
      measured("KO, two profiles' bandwidth over utilisation: 272.5 at 38.06 %, 314.2 at 43.87 %")};
  m.chip.max_logical_cores = {2, documented("LNC, 1 or 2")};

  restate(assumed("A2, v2's rule; not restated for v3"), m.access.stride_threshold_bytes,
          m.access.stride_factor);
  restate(derived("A2, v2's limit carried over"), m.access.max_sbuf_elements,
          m.access.max_psum_elements);
  restate(assumed("A2, v2's figure; none printed for v3"), m.access.start_cycles);
}

void tensor(MachineSpec& m) {
  TensorEngine& t = m.tensor;
  t.clock = {Clock{2.4}, documented("A3, engine table")};
  restate(derived("A2, MM_INIT carried over"), t.min_columns);
  t.extra_cycles = {Cycles{8}, measured("AGENT KO, 10 a bf16 and 7 an fp32 pass of 512 columns")};
  t.passes_f32_transpose = {2, derived("A3, transpose mode: 2x faster than without")};
  t.latency = {Cycles{385}, measured("PROF, a pass shows 590 ns and issues every 430 ns")};
  t.first_matmul_ns = {32, measured("KO, first matmul of a cold pair")};
  t.double_row_k_factor = {2, documented("A3, double fp8 rate")};
  t.min_tile = {32, documented("ISA32, nc_matmul tiling mode: 32 on v3 and newer")};
  t.power_ramp = {true, documented("EXP, throttling of v3 and v4")};
  t.ramp_start_fraction = {0.5, documented("EXP, about 50 % after an idle gap")};
  t.ramp_ns = {3000, documented("EXP, about the first 3 us of work")};
  t.ramp_window_ns = {3000, documented("EXP, any window of about 3 us")};
  t.ramp_rearm_utilisation = {0.5, documented("EXP, utilisation below 50 %")};
}

void vector(MachineSpec& m) {
  ElementwiseEngine& v = m.vector;
  v.clock = {Clock{0.96}, documented("A3, engine table")};
  restate(derived("ISA26, v2's cost carried over"), v.min_ii, v.dynamic_min_ii);
  restate(derived("ISA21, v2's cost carried over"), v.dynamic_index_read);
  restate(assumed("KO, v2's; back-to-back copies allow 0 to 73"), v.extra_occupancy);
  v.latency = {Cycles{120}, measured("KO, tensor_tensor N = 512 shows about 618 cycles")};
  v.latency_psum = {Cycles{150}, measured("KO, PSUM copy N = 512 shows 668 cycles")};

  VectorRates& r = m.vector_rates;
  r.copy_16bit_contiguous = {4, documented("A3, performance modes")};
  r.copy_16bit_strided = {2, documented("A3, performance modes")};
  r.copy_16bit_one_psum = {2, documented("A3, performance modes")};
  r.copy_32bit_sbuf = {2, derived("A3, engine table: 256 elements a cycle; KO copies agree")};
  restate(measured("KO, PSUM + SBUF tensor_tensor at one element a cycle"),
          r.tensor_tensor_one_psum);
  r.tensor_tensor_sbuf = {1,
                          derived("A3, two streams share 256 a cycle; KDA measured 1.06 cycles")};
  r.tensor_tensor_sbuf_16bit = {2, documented("A3, performance modes: 2x relative to v2")};
  r.tensor_tensor_16bit_needs_bf16_arith = {
      false, documented("A3, performance modes: any operator, fp16 too")};
  r.scalar_tensor_tensor = {1, derived("A3, two streams share 256 a cycle")};
  r.scalar_tensor_tensor_16bit = {2, assumed("A3, by analogy with tensor_tensor")};
  r.scalar_tensor_tensor_16bit_needs_sub_mul = {false,
                                                assumed("A3, by analogy with tensor_tensor")};
  r.copy_predicated_sbuf = {1, derived("A3, two streams share 256 a cycle")};
  r.memset_16bit = {4, assumed("A3, by analogy with tensor_copy")};
  r.memset_32bit = {2, assumed("A3, by analogy with tensor_copy")};
  r.memset_16bit_needs_zero = {false, assumed("A3, by analogy with tensor_copy")};
  restate(documented("A3, engine table; a mode speeds up only what it names"), r.base);
  restate(derived("ISA26, v2's cost carried over; A3 lists no speed-up"), r.scan, r.reduce_bf16,
          r.copy_predicated_one_psum, r.reciprocal, r.bn_aggr, r.accumulator_read);
}

void scalar_and_gpsimd(MachineSpec& m) {
  ElementwiseEngine& s = m.scalar;
  s.clock = {Clock{1.2}, documented("A3, engine table")};
  restate(derived("ISA26, v2's cost carried over"), s.min_ii, s.dynamic_min_ii);
  restate(derived("ISA21, v2's cost carried over"), s.dynamic_index_read);
  restate(assumed("KO, as VectorE's"), s.extra_occupancy);
  s.latency = {Cycles{120}, assumed("KO, as VectorE's; one DMAO activation shows more")};
  s.latency_psum = {Cycles{150}, assumed("KO, as VectorE's")};

  restate(documented("A3, engine table: 128 elements a cycle"), m.scalar_rates.copy_16bit_rate,
          m.scalar_rates.activation_16bit_rate);
  m.scalar_rates.table_load_ns = {1300, measured("DMAO, length of the table-load bar")};
  restate(derived("A2, v2's cost carried over"), m.scalar_rates.accumulator_read);

  GpsimdEngine& g = m.gpsimd;
  g.clock = {Clock{1.2}, documented("A3, engine table")};
  restate(derived("ISA26, v2's cost carried over"), g.start, g.base_rate);
  restate(derived("A2, carried over"), g.partitions_per_processor, g.simd_bits, g.local_bytes);
  restate(documented("A3, GpSimd Engine"), g.processors);
  g.own_dma_bytes_per_ns = {307, documented("A3, GpSimd Engine: 153 a direction")};
}

void sync_and_ports(MachineSpec& m) {
  m.sync.base_clock = {Clock{1.2}, documented("EXP, profile schema: base clock")};
  m.sync.cross_engine_ns = {130,
                            assumed("KDA, quotes 268 ns semaphore start and 161 ns write drain")};
  m.sync.sequencer_op_ns = {10, assumed("MAMBA, 9 ns on v2, at the slower clock")};
  m.sync.kernel_preamble_ns = {22000,
                               measured("DMAO, 22 to 33 us before the first DMA; the smaller")};
  restate(assumed("MAMBA, read on v2"), m.sync.kernel_postamble_ns);

  Exclusions& x = m.exclusions;
  x.vector_gpsimd_share_sbuf_port = {false,
                                     documented("A3, VectorE and GpSimdE access SBUF together")};
  x.vector_scalar_share_psum_port = {false,
                                     documented("A3, VectorE and ScalarE access PSUM together")};
  x.vector_scalar_psum_bank_conflict = {true,
                                        documented("A3, full rate unless they touch one bank")};
  x.fast_vector_shares_gpsimd_bus = {true,
                                     documented("A3, performance modes borrow the GpSimd bus")};
  x.shared_bus_fraction = {0.5,
                           assumed("A3, hardware arbitrates; half each is the neutral assumption")};
}

void dma(MachineSpec& m) {
  Dma& d = m.dma;
  d.practical_bytes_per_ns = {23, documented("DMAO DMAB, practical peak")};
  d.descriptor_ns = {23, derived("DMAO AGENT KO, fit of seven published transfers, -2 to +8 %")};
  d.bytes_per_ns = {24.8, derived("DMAO AGENT KO, fit of seven published transfers, -2 to +8 %")};
  restate(measured("DMAO, trigger to first activity: static 700 ns, software 739, store 610"),
          d.trigger_to_first_byte_ns);
  restate(measured("DMAO, end of load to start of exp"), d.end_to_consumer_ns);
  d.issue_static_ns = {50, assumed("PERF DMAO, a WRITE shows 49 ns on v2, a trigger 8 ns here")};
  restate(measured("KO, 604 ns a dma_copy sustained"), d.issue_swdge_ns);
  d.issue_hwdge_ns = {650, measured("AGENT KO, 686 ns a copy, 515 ns a bar; A3 says about 600")};
  d.hwdge_blocks = {2, documented("A3 DGE, two a core")};
  d.transpose_hbm_fraction = {0.9, documented("A3, DMA transpose: up to 90 %")};
  d.transpose_sbuf_fraction = {0.5, documented("A3, DMA transpose: up to 50 %")};
}

void instructions(MachineSpec& m) {
  Isa& i = m.isa;
  i.scalar_tensor_copy = {true, documented("A3 ISA32, tensor_copy")};
  i.scalar_tensor_scalar = {true, documented("A3 ISA32, tensor_scalar")};
  i.activation_constant_bias = {true, documented("ISA32, activation")};
  i.activation_reciprocal_bias = {true, documented("SH32, activation functions")};
  i.range_select = {true, documented("ISA26, range_select: max(MIN_II, N)")};
  i.matmul_double_row = {true, documented("A3 ISA32, nc_matmul")};
  i.transpose_mode = {true, documented("A3, Tensor Engine")};
  i.hwdge = {true, documented("DGE A3, descriptor generation")};
  i.dma_indirect = {true, documented("DGE ISA32, dma_copy")};
  i.dma_transpose = {true, documented("A3 ISA32, dma_transpose")};
  i.gpsimd_rng = {true, documented("ISA32, rng")};
  i.nonzero_with_count = {true, documented("ISA32, nonzero_with_count")};
  i.core_to_core = {true, documented("ISA32 LNC, sendrecv, core_barrier")};
}

void peaks(MachineSpec& m) {
  m.peaks.bf16_tflops = {79, documented("A3, Tensor Engine")};
  m.peaks.f32_tflops = {20, documented("A3, Tensor Engine")};
  m.peaks.f8_tflops = {158, documented("A3, Tensor Engine")};
  m.peaks.vector_tflops = {1.0, documented("A3, Vector Engine")};
  m.peaks.scalar_tflops = {1.2, documented("A3, Scalar Engine")};
}

}  // namespace

MachineSpec trn2() {
  return derive(trn1(), [](MachineSpec& m) {
    m.identity = {.name = "trn2", .core = "NeuronCore-v3", .nki_target = "trn2", .version = 3};
    memories(m);
    tensor(m);
    vector(m);
    scalar_and_gpsimd(m);
    sync_and_ports(m);
    dma(m);
    instructions(m);
    peaks(m);
  });
}

}  // namespace krait::tables
