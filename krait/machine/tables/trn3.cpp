// Trainium3: NeuronCore-v4, what differs from trn2. No profile of it is public: what was measured
// on v3 is restated here as assumed.

#include "krait/machine/tables/tables.hpp"

namespace krait::tables {
namespace {

void memories(MachineSpec& m) {
  m.geometry.sbuf_bytes_per_partition = {256_KiB, documented("A4, introduction")};
  m.geometry.sbuf_reserved_bytes_per_partition = {16_KiB,
                                                  assumed("DALLOC, v2's; v4's is not published")};

  restate(documented("A4, introduction"), m.chip.cores, m.chip.hbm_stacks);
  m.chip.hbm_bytes = {144_GiB, documented("A4, introduction")};
  m.chip.hbm_bytes_per_core = {18_GiB, derived("A4, capacity over cores")};
  m.chip.hbm_bytes_per_ns = {4700, documented("A4, introduction; H says 4.9 TB/s")};
  m.chip.hbm_stack_bytes_per_ns = {1175, derived("A4, bandwidth over stacks; 1225 by H")};

  restate(assumed("A2, v2's rule; not restated for v4"), m.access.stride_threshold_bytes,
          m.access.stride_factor);
  restate(assumed("A2, v2's figure; none printed for v4"), m.access.start_cycles);
}

void tensor(MachineSpec& m) {
  TensorEngine& t = m.tensor;
  restate(documented("A4, engine table"), t.clock);
  t.max_moving_f32 = {4096, documented("ISA32, nc_matmul: all eight banks")};
  t.max_moving_bf16 = {8192, documented("ISA32, nc_matmul: all eight banks")};
  t.max_result_banks = {8, documented("ISA32, nc_matmul: up to eight banks")};
  restate(assumed("AGENT KO, read on v3"), t.extra_cycles);
  restate(assumed("PROF, read on v3"), t.latency);
  restate(assumed("KO, read on v3"), t.first_matmul_ns);
  restate(derived("A3, carried over"), t.passes_f32_transpose);
  t.mx_k_factor = {4, documented("A4 MX, four times bf16")};
}

void vector(MachineSpec& m) {
  m.vector.clock = {Clock{1.2}, documented("A4, engine table")};
  restate(assumed("KO, v3's"), m.vector.extra_occupancy, m.vector.latency, m.vector.latency_psum);

  VectorRates& r = m.vector_rates;
  restate(documented("A4, engine table; a mode speeds up only what it names"), r.base);
  restate(derived("A3, performance modes carried over; A4's engine table agrees"),
          r.copy_16bit_contiguous, r.copy_16bit_strided, r.copy_16bit_one_psum, r.copy_32bit_sbuf,
          r.tensor_tensor_one_psum, r.tensor_tensor_sbuf, r.tensor_tensor_sbuf_16bit,
          r.tensor_tensor_16bit_needs_bf16_arith);
  restate(assumed("ISA26, v2's cost; A4 names faster vector functions but not this one"),
          r.reciprocal);
  r.exponential = {
      4, documented("A4, 4x the rate of ScalarE's exp; its type condition is not printed")};
  r.quantize_mx = {4, documented("A4, 4 elements a lane and cycle")};
  r.rand2 = {4, documented("A4, 4 values of 32 bits a lane and cycle")};
  r.exponential_accumulator_read = {Cycles{64},
                                    assumed("ISA26, by analogy with tensor_scalar_reduce")};
}

void scalar_and_gpsimd(MachineSpec& m) {
  restate(documented("A4, engine table"), m.scalar.clock, m.gpsimd.clock);
  restate(assumed("KO, v3's"), m.scalar.extra_occupancy, m.scalar.latency, m.scalar.latency_psum);
  m.scalar_rates.copy_16bit_rate = {2,
                                    documented("A4, Scalar Engine: tensor_scalar and tensor_copy")};
  restate(assumed("A4, the width table says 2, the text names only tensor_scalar and tensor_copy"),
          m.scalar_rates.activation_16bit_rate);
  restate(assumed("DMAO, read on v3"), m.scalar_rates.table_load_ns);
  restate(derived("A2 A3, carried over"), m.gpsimd.processors);
  restate(assumed("A3, v3's figure"), m.gpsimd.own_dma_bytes_per_ns);
}

void sync_and_ports(MachineSpec& m) {
  restate(assumed("EXP, v3's; not listed for v4"), m.sync.base_clock);
  restate(assumed("ASSUMED, v3's assumption"), m.sync.cross_engine_ns, m.sync.sequencer_op_ns);
  restate(assumed("DMAO, read on v3"), m.sync.kernel_preamble_ns);
  Exclusions& x = m.exclusions;
  restate(derived("A3, carried over"), x.vector_gpsimd_share_sbuf_port,
          x.vector_scalar_share_psum_port, x.vector_scalar_psum_bank_conflict,
          x.fast_vector_shares_gpsimd_bus);
}

void dma(MachineSpec& m) {
  Dma& d = m.dma;
  d.peak_bytes_per_ns = {38.4, documented("DMAO, theoretical bandwidth")};
  d.practical_bytes_per_ns = {33, documented("DMAO DMAB, practical peak")};
  d.descriptor_ns = {16, derived("DMAO, v3's model scaled to the practical peak")};
  d.bytes_per_ns = {35.6, derived("DMAO, v3's model scaled to the practical peak")};
  d.trigger_to_first_byte_ns = {600, assumed("DMAO, 700 read on v3, the engines being faster")};
  d.end_to_consumer_ns = {300, assumed("DMAO, 320 read on v3, the engines being faster")};
  restate(assumed("PERF DMAO, v3's assumption"), d.issue_static_ns);
  restate(assumed("KO, read on v3"), d.issue_swdge_ns);
  restate(assumed("AGENT KO, read on v3"), d.issue_hwdge_ns);
  restate(derived("A3 DGE, carried over"), d.hwdge_blocks);
  d.qos_classes = {4, documented("ISA32 DMAO, classes 0 to 3")};
  restate(derived("A3, carried over"), d.transpose_hbm_fraction, d.transpose_sbuf_fraction);
  d.arithmetic_fraction = {
      1, documented("A4, SBUF read-add-write at full rate; no public call reaches it")};
}

void instructions(MachineSpec& m) {
  Types& t = m.types;
  t.matmul_f8e4m3fn = {true, documented("ISA32, nc_matmul")};
  t.matmul_bf16_result = {true, documented("A4, PSUM holds fp32 or bf16")};
  t.mx_f8e5m2_x4 = {true, documented("ISA32, nc_matmul_mx")};
  t.mx_f8e4m3fn_x4 = {true, documented("ISA32, nc_matmul_mx")};
  t.mx_f4e2m1fn_x4 = {true, documented("ISA32, nc_matmul_mx")};
  t.f8_is_16bit_class = {true, documented("A4, engine table: bf16, fp16 and fp8")};

  Isa& i = m.isa;
  i.activate2 = {true, documented("ISA32, activate2")};
  i.alu_square_relu = {true, documented("RN, 2.30")};
  i.alu_abs_max_min = {true, documented("SH32, ALU operators")};
  i.exponential = {true, documented("A4 ISA32, exponential")};
  i.quantize_mx = {true, documented("A4 ISA32, quantize_mx")};
  i.matmul_mx = {true, documented("A4 ISA32, nc_matmul_mx")};
  i.background_transpose = {true, documented("A4, Tensor Engine")};
  i.accumulate_onto_engine_writes = {
      true, derived("ISA32, nc_matmul: called undefined on v2 and v3 only")};
  i.tensor_indirection = {true, documented("A4 ISA32, indirect views")};
  i.rand2 = {true, documented("ISA32, rand2")};
}

void peaks(MachineSpec& m) {
  restate(documented("A4, Tensor Engine"), m.peaks.bf16_tflops, m.peaks.f32_tflops);
  restate(derived("A3 A4, double_row at the same clock"), m.peaks.f8_tflops);
  m.peaks.mx_tflops = {315, documented("A4, Tensor Engine")};
  m.peaks.vector_tflops = {1.2, documented("A4, Vector Engine")};
  restate(documented("A4, Scalar Engine"), m.peaks.scalar_tflops);
}

}  // namespace

MachineSpec trn3() {
  return derive(trn2(), [](MachineSpec& m) {
    m.identity = {.name = "trn3", .core = "NeuronCore-v4", .nki_target = "trn3", .version = 4};
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
