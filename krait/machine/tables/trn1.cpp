// Trainium1 and Inferentia2: NeuronCore-v2, the base of the other tables. Values that hold for all
// generations name all their sources here, so that the others need not repeat them.

#include "krait/machine/tables/tables.hpp"

namespace krait::tables {
namespace {

constexpr Geometry kGeometry{
    .partitions = {128, documented("A2 A3 A4, memory")},
    .quadrants = {4, documented("A2 A3 A4, memory: 4 x 32 partitions")},
    .sbuf_bytes_per_partition = {192_KiB, documented("A2, memory")},
    .sbuf_reserved_bytes_per_partition = {16_KiB,
                                          documented(
                                              "DALLOC, legal byte addresses end at 176 KiB")},
    .sbuf_min_align_bytes = {4, assumed("ISA32, tile_size.sbuf_min_align has no printed value")},
    .psum_bytes_per_partition = {16_KiB, documented("A2 A3 A4, memory")},
    .psum_banks = {8, documented("A2 A3 A4, memory; ISA32 psum_num_banks")},
    .psum_bank_bytes = {2_KiB, documented("A2 A3 A4, memory; ISA32 psum_bank_fmax_bytes")},
    .psum_min_align_bytes = {4, assumed("ISA32, tile_size.psum_min_align has no printed value")},
    .registers_per_sequencer = {64, documented("ISA32, register_alloc")},
    .register_bits = {32, documented("ISA32, register_alloc")},
};

constexpr Chip kChip{
    .cores = {2, documented("A2, introduction")},
    .cores_per_stack = {1, derived("A2, 2 cores and 2 stacks")},
    .hbm_stacks = {2, documented("A2, introduction")},
    .hbm_bytes = {32_GiB, documented("A2, introduction")},
    .hbm_bytes_per_core = {16_GiB, derived("A2, capacity over cores")},
    .hbm_bytes_per_ns = {820, documented("A2, introduction")},
    .hbm_stack_bytes_per_ns = {410, derived("A2, bandwidth over stacks")},
    .max_logical_cores = {1, documented("LNC, always 1 before v3")},
};

constexpr Access kAccess{
    .stride_threshold_bytes =
        {16, documented("A2, access patterns; exactly 16 B is ambiguous, taken as full rate")},
    .stride_factor = {2, documented("A2, access patterns: half the bandwidth")},
    .max_free_dims = {4, documented("A2 AP, access patterns")},
    .max_sbuf_elements = {65536, documented("A2, engine operands: 64K")},
    .max_psum_elements = {4096, documented("A2, engine operands: 4K")},
    .start_cycles = {Cycles{60}, documented("A2, static overhead: about 60 cycles a request")},
};

constexpr TensorEngine kTensor{
    .clock = {Clock{2.8}, documented("A2, engine table")},
    .rows = {128, documented("A2 A3 A4, Tensor Engine")},
    .columns = {128, documented("A2 A3 A4, Tensor Engine; SH32 gemm_stationary_fmax")},
    .max_moving_f32 = {512, documented("A2 ISA32, nc_matmul; SH32 gemm_moving_fmax")},
    .max_moving_bf16 = {512, documented("ISA32, nc_matmul: the moving limit whatever the result")},
    .max_result_banks = {1, documented("A2 ISA32, nc_matmul: within one bank")},
    .min_columns = {Cycles{64}, documented("A2, MM_INIT")},
    .extra_cycles = {Cycles{0}, documented("A2, max(N, 64), nothing added")},
    .passes = {1, documented("A2 A3 A4, Tensor Engine data types")},
    .passes_f32 = {4, documented("A2 SH32, fp32 costs 4x")},
    .passes_f32_onezero = {2,
                           assumed(
                               "ISA32, is_stationary_onezero: up to 2x for fp32; all of it taken")},
    .passes_f32_transpose = {4, derived("A2, no transpose mode: a multiplication by the identity")},
    .instructions_f32 = {2,
                         documented("EXP, fp32_mode LOW_HIGH; KO counts two for each nc_matmul")},
    .load_cycles_per_column = {0.25,
                               derived("A2, up to 4x faster than a matmul of the same free size")},
    .background_load = {true, documented(
                                  "A2, Tensor Engine: fast weight load behind the running matmul")},
    .latency = {Cycles{130},
                assumed("ASSUMED, about the array's depth; v3's 385 was not seen on v2")},
    .first_matmul_ns = {32, assumed("KO, read on v3")},
    .double_row_k_factor = {0, documented("ISA32, nc_matmul: no performance mode on v2")},
    .mx_k_factor = {0, documented("ISA32, nc_matmul_mx: v4 and newer")},
    .min_tile = {64, documented("ISA32, nc_matmul tiling mode: 64 on v2")},
    .power_ramp = {false, derived("EXP, throttling is documented for v3 and v4 only")},
    .ramp_start_fraction = {1, derived("EXP, no ramp")},
    .ramp_ns = {0, derived("EXP, no ramp")},
    .ramp_window_ns = {0, derived("EXP, no ramp")},
    .ramp_rearm_utilisation = {0, derived("EXP, no ramp")},
};

constexpr ElementwiseEngine kVector{
    .clock = {Clock{1.12}, documented("A2, engine table")},
    .min_ii = {Cycles{64}, documented("ISA26, MIN_II: roughly 64 engine cycles")},
    .extra_occupancy = {Cycles{16}, assumed("MAMBA, whole kernels allow 0 to 112")},
    .latency = {Cycles{150},
                measured("MAMBA PERF, event durations against active time; dependent chains")},
    .latency_psum = {Cycles{170}, assumed("ASSUMED, as SBUF and 20 more")},
    .dynamic_min_ii = {Cycles{600}, documented("ISA26, MIN_II_DYNAMIC")},
    .dynamic_index_read = {Cycles{140}, documented("ISA21, tensor_copy_dynamic_src")},
};

constexpr ElementwiseEngine kScalar{
    .clock = {Clock{1.4}, documented("A2, engine table")},
    .min_ii = {Cycles{64}, documented("ISA26, MIN_II: roughly 64 engine cycles")},
    .extra_occupancy = {Cycles{16}, assumed("MAMBA PERF, as VectorE's")},
    .latency = {Cycles{150},
                measured("PERF, fig. 16: 264 cycles a dependent one-element activation")},
    .latency_psum = {Cycles{170}, assumed("ASSUMED, as SBUF and 20 more")},
    .dynamic_min_ii = {Cycles{600}, documented("ISA26, MIN_II_DYNAMIC")},
    .dynamic_index_read = {Cycles{140}, documented("ISA21, tensor_copy_dynamic_src")},
};

constexpr VectorRates kVectorRates{
    .base = {1, documented("A2, engine table: 128 elements a cycle")},
    .copy_16bit_contiguous = {1, documented("ISA26, tensor_copy, tensor_scalar: max(MIN_II, N)")},
    .copy_16bit_strided = {1, documented("ISA26, tensor_copy, tensor_scalar: max(MIN_II, N)")},
    .copy_16bit_one_psum = {1, documented("ISA26, tensor_copy, tensor_scalar: max(MIN_II, N)")},
    .copy_32bit_sbuf = {1, documented("ISA26, tensor_copy, tensor_scalar: max(MIN_II, N)")},
    .tensor_tensor_one_psum = {1, documented("ISA26, tensor_tensor: N if one input is in PSUM")},
    .tensor_tensor_sbuf = {0.5, documented("ISA26, tensor_tensor: otherwise 2N")},
    .tensor_tensor_sbuf_16bit = {1, documented("ISA26, tensor_tensor: N if all bf16")},
    .tensor_tensor_16bit_needs_bf16_arith = {true, documented("ISA26, tensor_tensor")},
    .scalar_tensor_tensor = {0.5, documented("ISA26, scalar_tensor_tensor: otherwise 2N")},
    .scalar_tensor_tensor_16bit = {1, documented("ISA26, scalar_tensor_tensor: N")},
    .scalar_tensor_tensor_16bit_needs_sub_mul = {true, documented("ISA26, scalar_tensor_tensor")},
    .scan = {0.5,
             documented("ISA26, tensor_tensor_scan: max(MIN_II, 2N); later editions give none")},
    .scalar_cumulative = {0.5, assumed("ISA26, by analogy with tensor_tensor_scan; N is possible")},
    .reduce_bf16 = {2, documented("ISA26, tensor_reduce: N/2")},
    .copy_predicated_one_psum = {1, documented("ISA26, tensor_copy_predicated: max(MIN_II, N)")},
    .copy_predicated_sbuf = {0.5, documented("ISA26, tensor_copy_predicated: max(MIN_II, 2N)")},
    .select_reduce_one_psum = {1, assumed("ISA26, by analogy with tensor_copy_predicated")},
    .select_reduce_sbuf = {0.5, assumed("ISA26, by analogy with tensor_copy_predicated")},
    .memset_16bit = {2, documented("ISA26, memset: max(MIN_II, N/2)")},
    .memset_32bit = {1, documented("ISA26, memset: max(MIN_II, N)")},
    .memset_16bit_needs_zero = {true, documented("ISA26, memset: value 0 and bf16 or fp16")},
    .reciprocal = {1.0 / 8, documented("ISA26, reciprocal: max(MIN_II, 8N)")},
    .bn_aggr = {3.0 / 13, documented("ISA26, bn_aggr: max(MIN_II, 13 (N/3))")},
    .exponential = {0, documented("ISA32, v4 and newer")},
    .quantize_mx = {0, documented("ISA32, v4 and newer")},
    .rand2 = {0, documented("ISA32, v4 and newer")},
    .rng = {1, assumed("ASSUMED, one element a cycle as any other result")},
    .rng_state = {1, assumed("ASSUMED, one word a cycle as any other operand")},
    .accumulator_read = {Cycles{64}, documented("ISA26, tensor_scalar_reduce: N + MIN_II")},
    .exponential_accumulator_read = {Cycles{0}, documented("ISA32, v4 and newer")},
};

constexpr ScalarRates kScalarRates{
    .base_rate = {1, documented("A2 A3 A4, engine table: 128 elements a cycle")},
    .copy_16bit_rate = {1, documented("A2, engine table")},
    .activation_16bit_rate = {1, documented("A2 ISA26, activation: max(MIN_II, N)")},
    .table_load_ns = {370, measured("PERF, ACT_TABLE_LOAD shown as 368 ns")},
    .accumulator_read = {Cycles{64}, documented("A2, ActReadAccumulator: about 64 cycles")},
};

constexpr GpsimdEngine kGpsimd{
    .clock = {Clock{1.4}, documented("A2, engine table")},
    .start = {Cycles{150}, documented("ISA26, GPSIMD_START")},
    .base_rate = {1, documented("ISA26, iota, affine_select: GPSIMD_START + N")},
    .rsqrt_rate = {0.25,
                   derived("ISA32, activation(rsqrt) on GpSimd: 4x lower throughput than Scalar")},
    .rng_rate = {1, assumed("ISA32, v3 and newer; the base rate")},
    .processors = {8, documented("A2, GpSimd Engine")},
    .partitions_per_processor = {16, documented("A2, GpSimd Engine")},
    .simd_bits = {512, documented("A2, GpSimd Engine")},
    .local_bytes = {64_KiB, documented("A2, GpSimd Engine: tightly coupled memory")},
    .own_dma_bytes_per_ns = {0, documented("A3, new in v3")},
};

constexpr Synchronisation kSync{
    .base_clock = {Clock{1.4}, documented("EXP, profile schema: base clock")},
    .cross_engine_ns = {100,
                        assumed(
                            "ASSUMED, 50 to 430 ns are possible; only the DMA figure is printed")},
    .sequencer_op_ns = {9, measured("MAMBA, EVENT_SEMAPHORE with its wait satisfied")},
    .instruction_fetch_ns = {0,
                             assumed("ASSUMED, free; size and prefetch depth are not published")},
    .kernel_preamble_ns = {15000, measured("MAMBA, about 15 us before the kernel's first work")},
    .kernel_postamble_ns = {5000, measured("MAMBA, about 5 us after its last")},
};

constexpr Exclusions kExclusions{
    .vector_gpsimd_share_sbuf_port = {true,
                                      documented(
                                          "A2, VectorE and GpSimdE may not access SBUF together")},
    .vector_scalar_share_psum_port = {true,
                                      documented(
                                          "A2, VectorE and ScalarE may not access PSUM together")},
    .vector_scalar_psum_bank_conflict = {false, documented("A2, they never run on PSUM together")},
    .fast_vector_shares_gpsimd_bus = {false, documented("A2, no performance modes")},
    .shared_bus_fraction = {1, documented("A2, no such sharing")},
};

constexpr Dma kDma{
    .engines = {16, documented("DMAO, engines of a core")},
    .queues_per_engine = {16, documented("DMAO, queues 0 to 15")},
    .partitions_per_engine = {8, documented("DMAO, engine e moves partitions 8e to 8e+7")},
    .peak_bytes_per_ns = {27.2, documented("DMAO, theoretical bandwidth")},
    .practical_bytes_per_ns = {17, documented("DMAO DMAB, practical peak")},
    .descriptor_ns = {31, derived("DMAO, v3's model scaled to the practical peak")},
    .bytes_per_ns = {18.3, derived("DMAO, v3's model scaled to the practical peak")},
    .min_descriptor_bytes = {512, documented("DMAB DMAO, below 512 B no faster")},
    .trigger_to_first_byte_ns = {700, assumed("DMAO, read on v3")},
    .end_to_consumer_ns = {320, assumed("DMAO, read on v3")},
    .semaphore_ns = {1300, documented("DMAB, DMA semaphore to start across engines")},
    .issue_static_ns = {100,
                        assumed("PERF, a WRITE shows 49 ns; between that and a software trigger")},
    .issue_swdge_ns = {600, assumed("KO, read on v3")},
    .issue_hwdge_ns = {0, documented("DGE, no hardware generation before v3")},
    .hwdge_blocks = {0, documented("DGE, no hardware generation before v3")},
    .qos_classes = {1, documented("DMAO, round-robin between queues")},
    .transpose_hbm_fraction = {0, documented("A3, the mode is new in v3")},
    .transpose_sbuf_fraction = {0, documented("A3, the mode is new in v3")},
    .arithmetic_fraction = {0.5, documented("A4, half the copy throughput before v4")},
    .compute_max_sources = {16, documented("ISA32, dma_compute")},
};

constexpr Types kTypes{
    .matmul_f32 = {true, documented("ISA32, nc_matmul")},
    .matmul_tf32 = {true, documented("ISA32, nc_matmul")},
    .matmul_bf16 = {true, documented("ISA32, nc_matmul")},
    .matmul_f16 = {true, documented("ISA32, nc_matmul")},
    .matmul_f8e4m3 = {true, documented("ISA32, nc_matmul")},
    .matmul_f8e5m2 = {true, documented("ISA32, nc_matmul")},
    .matmul_f8e4m3fn = {false, documented("ISA32, nc_matmul: v4 and newer")},
    .matmul_f8e3m4 = {false,
                      documented("SH32, a hardware type (A3) outside the list of NKI types")},
    .matmul_f32_mixes_only_32bit =
        {true, documented("ISA32, nc_matmul: fp32 and tf32 pair only with each other")},
    .matmul_bf16_result = {false, documented("A2 A3, PSUM accumulates fp32 only")},
    .mx_f8e5m2_x4 = {false, documented("ISA32, nc_matmul_mx: v4 and newer")},
    .mx_f8e4m3fn_x4 = {false, documented("ISA32, nc_matmul_mx: v4 and newer")},
    .mx_f4e2m1fn_x4 = {false, documented("ISA32, nc_matmul_mx: v4 and newer")},
    .f8_is_16bit_class = {false, documented("A2 A3, engine tables: bf16 and fp16 only")},
};

constexpr Isa kIsa{
    .scalar_tensor_copy = {false, documented("ISA32, tensor_copy: v3 and newer")},
    .scalar_tensor_scalar = {false, documented("ISA32, tensor_scalar: v3 and newer")},
    .activation_constant_bias = {false, documented("ISA32, activation: v3 and newer")},
    .activation_reciprocal_bias = {false, documented("SH32, activation functions: no bias on v2")},
    .activate2 = {false, documented("ISA32, v4 and newer")},
    .alu_square_relu = {false, documented("RN, 2.30: v4 only")},
    .alu_abs_max_min = {false, documented("SH32, v4 only")},
    .range_select = {false, documented("ISA26, v3 and newer")},
    .exponential = {false, documented("ISA32, v4 and newer")},
    .quantize_mx = {false, documented("ISA32, v4 and newer")},
    .matmul_mx = {false, documented("ISA32, v4 and newer")},
    .matmul_double_row = {false, documented("ISA32, nc_matmul: v3 and newer")},
    .transpose_mode = {false, documented("A3, new in v3")},
    .background_transpose = {false, documented("A4, new in v4")},
    .accumulate_onto_engine_writes = {false,
                                      documented("ISA32, nc_matmul: undefined on v2 and v3")},
    .tensor_indirection = {false, documented("A4 ISA32, v4 and newer")},
    .hwdge = {false, documented("DGE, v3 and newer")},
    .dma_indirect = {false, documented("DGE ISA32, v3 and newer")},
    .dma_transpose = {false, documented("A3 ISA32, v3 and newer")},
    .rand2 = {false, documented("ISA32, v4 and newer")},
    .gpsimd_rng = {false, documented("ISA32, v3 and newer")},
    .nonzero_with_count = {false, documented("ISA32, v3 and newer")},
    .core_to_core = {false, documented("ISA32, v3 and newer, two cores as one")},
};

constexpr Peaks kPeaks{
    .bf16_tflops = {92, documented("A2, Tensor Engine")},
    .f32_tflops = {23, documented("A2, Tensor Engine")},
    .f8_tflops = {92, documented("A2, Tensor Engine")},
    .mx_tflops = {0, documented("A4, new in v4")},
    .vector_tflops = {2.3, documented("A2, Vector Engine")},
    .scalar_tflops = {2.9, documented("A2, Scalar Engine")},
};

}  // namespace

MachineSpec trn1() {
  return {
      .identity = {.name = "trn1", .core = "NeuronCore-v2", .nki_target = "trn1", .version = 2},
      .geometry = kGeometry,
      .chip = kChip,
      .access = kAccess,
      .tensor = kTensor,
      .vector = kVector,
      .vector_rates = kVectorRates,
      .scalar = kScalar,
      .scalar_rates = kScalarRates,
      .gpsimd = kGpsimd,
      .sync = kSync,
      .exclusions = kExclusions,
      .dma = kDma,
      .types = kTypes,
      .isa = kIsa,
      .peaks = kPeaks,
  };
}

}  // namespace krait::tables
