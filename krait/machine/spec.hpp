#pragma once

// What the tables say of one NeuronCore generation: one MachineSpec a generation, numbers only.
//
// Every group below is one list of X(type, name, unit, help) lines. The list declares the members
// and feeds for_each_value (values.hpp), hence `krait machines`, the docs, the tests and the table
// hash: a value cannot be added without appearing in all of them.
//
// Conventions. A rate counts elements of one partition (lane) per cycle of the engine's clock, so
// an instruction on N elements a partition takes N / rate cycles, however many partitions it
// covers. "16-bit" is bf16 and f16; types.f8_is_16bit_class says whether f8 counts too. A feature
// that a generation lacks has its flag false and its costs 0. Unit "flag" is yes or no, "1" is a
// pure ratio. Cycles belong to the clock of the group's engine.

#include <cstdint>
#include <string_view>

#include "krait/base/units.hpp"
#include "krait/machine/value.hpp"

namespace krait {

// clang-format off
#define KRAIT_GEOMETRY_VALUES(X)                                                                          \
  X(int, partitions, "count", "partitions of SBUF and of PSUM")                                           \
  X(int, quadrants, "count", "access quadrants; a tile of at most 32 partitions starts at one of them")   \
  X(std::uint64_t, sbuf_bytes_per_partition, "B", "SBUF bytes of one partition")                          \
  X(std::uint64_t, sbuf_reserved_bytes_per_partition, "B", "of these, kept by compiler and DGE")          \
  X(std::uint64_t, sbuf_min_align_bytes, "B", "alignment of a tile's byte offset in SBUF")                \
  X(std::uint64_t, psum_bytes_per_partition, "B", "PSUM bytes of one partition")                          \
  X(int, psum_banks, "count", "PSUM banks of one partition")                                              \
  X(std::uint64_t, psum_bank_bytes, "B", "bytes of one PSUM bank in one partition")                       \
  X(std::uint64_t, psum_min_align_bytes, "B", "alignment of a tile's byte offset in PSUM")                \
  X(int, registers_per_sequencer, "count", "scalar registers of each engine's sequencer")                 \
  X(int, register_bits, "bit", "width of a sequencer register")

#define KRAIT_CHIP_VALUES(X)                                                                              \
  X(int, cores, "count", "NeuronCores of a chip")                                                         \
  X(int, cores_per_stack, "count", "NeuronCores that share one HBM stack")                                \
  X(int, hbm_stacks, "count", "HBM stacks of a chip")                                                     \
  X(std::uint64_t, hbm_bytes, "B", "HBM capacity of a chip")                                              \
  X(std::uint64_t, hbm_bytes_per_core, "B", "HBM capacity divided by the cores")                          \
  X(double, hbm_bytes_per_ns, "B/ns", "HBM bandwidth of a chip, all stacks")                              \
  X(double, hbm_stack_bytes_per_ns, "B/ns", "HBM bandwidth of one stack, reads and writes together")      \
  X(int, max_logical_cores, "count", "most physical cores that act as one logical core (LNC)")

#define KRAIT_ACCESS_VALUES(X)                                                                            \
  X(int, stride_threshold_bytes, "B", "innermost strides above this are slow")                            \
  X(double, stride_factor, "1", "elements of a slow operand cost this many times more")                   \
  X(int, max_free_dims, "count", "free dimensions of an access pattern the hardware can walk")            \
  X(std::uint64_t, max_sbuf_elements, "count", "elements a partition of a Vector or Scalar SBUF operand") \
  X(std::uint64_t, max_psum_elements, "count", "elements a partition of a Vector or Scalar PSUM operand") \
  X(Cycles, start_cycles, "cycles", "start of one tensor access; pipelined, part of the latencies below")

// Occupancy of an instruction = max(min_ii, N / rate) + extra_occupancy: the next independent one
// may start then. Its result is visible `latency` later (latency_psum if a source is in PSUM).
#define KRAIT_ELEMENTWISE_VALUES(X)                                                                       \
  X(Clock, clock, "GHz", "engine clock")                                                                  \
  X(Cycles, min_ii, "cycles", "smallest initiation interval of an instruction")                           \
  X(Cycles, extra_occupancy, "cycles", "issue cost added to every instruction's interval")                \
  X(Cycles, latency, "cycles", "end of occupancy to result visible, sources in SBUF")                     \
  X(Cycles, latency_psum, "cycles", "end of occupancy to result visible, a source in PSUM")               \
  X(Cycles, dynamic_min_ii, "cycles", "smallest interval with a register-dynamic SBUF or PSUM address")   \
  X(Cycles, dynamic_index_read, "cycles", "reading one dynamic index")

#define KRAIT_VECTOR_RATE_VALUES(X)                                                                       \
  X(double, base, "elem/cycle", "anything no other line names")                                           \
  X(double, copy_16bit_contiguous, "elem/cycle", "tensor_copy, tensor_scalar: 16-bit, SBUF to SBUF, contiguous") \
  X(double, copy_16bit_strided, "elem/cycle", "the same, innermost dimension not contiguous")             \
  X(double, copy_16bit_one_psum, "elem/cycle", "the same, contiguous, exactly one side in PSUM")          \
  X(double, copy_32bit_sbuf, "elem/cycle", "tensor_copy, tensor_scalar: other types, SBUF to SBUF")       \
  X(double, tensor_tensor_one_psum, "elem/cycle", "tensor_tensor, one input in PSUM")                     \
  X(double, tensor_tensor_sbuf, "elem/cycle", "tensor_tensor, both inputs in SBUF, not the 16-bit case")  \
  X(double, tensor_tensor_sbuf_16bit, "elem/cycle", "tensor_tensor, both inputs in SBUF, all three 16-bit") \
  X(bool, tensor_tensor_16bit_needs_bf16_arith, "flag", "that case holds only for bf16, contiguous, add, subtract or multiply") \
  X(double, scalar_tensor_tensor, "elem/cycle", "scalar_tensor_tensor")                                   \
  X(double, scalar_tensor_tensor_16bit, "elem/cycle", "scalar_tensor_tensor, 16-bit in and out")          \
  X(bool, scalar_tensor_tensor_16bit_needs_sub_mul, "flag", "that case holds only for bf16 inputs, op0 subtract, op1 multiply, N even") \
  X(double, scan, "elem/cycle", "tensor_tensor_scan: a serial recurrence")                                \
  X(double, scalar_cumulative, "elem/cycle", "tensor_scalar_cumulative: a serial recurrence")             \
  X(double, reduce_bf16, "elem/cycle", "tensor_reduce, bf16 in and out, add or max")                      \
  X(double, copy_predicated_one_psum, "elem/cycle", "tensor_copy_predicated, one of src, predicate in PSUM") \
  X(double, copy_predicated_sbuf, "elem/cycle", "tensor_copy_predicated, both in SBUF")                   \
  X(double, select_reduce_one_psum, "elem/cycle", "select_reduce, one of predicate, on_true in PSUM")     \
  X(double, select_reduce_sbuf, "elem/cycle", "select_reduce, both in SBUF")                              \
  X(double, memset_16bit, "elem/cycle", "memset of a 16-bit type")                                        \
  X(double, memset_32bit, "elem/cycle", "memset of any other type")                                       \
  X(bool, memset_16bit_needs_zero, "flag", "the 16-bit memset rate holds only for value 0")               \
  X(double, reciprocal, "elem/cycle", "reciprocal")                                                       \
  X(double, bn_aggr, "elem/cycle", "bn_aggr, 13 cycles for each (count, mean, M2) triple")                \
  X(double, exponential, "elem/cycle", "exponential")                                                     \
  X(double, quantize_mx, "elem/cycle", "quantize_mx, source elements")                                    \
  X(double, rand2, "elem/cycle", "rand2, 32-bit values")                                                  \
  X(double, rng, "elem/cycle", "rng")                                                                     \
  X(double, rng_state, "elem/cycle", "set_rng_seed, rand_set_state, rand_get_state: words a lane")        \
  X(Cycles, accumulator_read, "cycles", "tensor_scalar_reduce: storing reduce_res")                       \
  X(Cycles, exponential_accumulator_read, "cycles", "exponential: storing reduce_res")

#define KRAIT_SCALAR_VALUES(X)                                                                            \
  X(double, base_rate, "elem/cycle", "anything no other line names")                                      \
  X(double, copy_16bit_rate, "elem/cycle", "tensor_copy, tensor_scalar on 16-bit types")                  \
  X(double, activation_16bit_rate, "elem/cycle", "activation on 16-bit types")                            \
  X(double, table_load_ns, "ns", "loading another activation function's table")                           \
  X(Cycles, accumulator_read, "cycles", "the second instruction, which stores reduce_res")

#define KRAIT_GPSIMD_VALUES(X)                                                                            \
  X(Clock, clock, "GHz", "engine clock")                                                                  \
  X(Cycles, start, "cycles", "fixed cost of every instruction")                                           \
  X(double, base_rate, "elem/cycle", "iota, affine_select and anything no formula names")                 \
  X(double, rsqrt_rate, "elem/cycle", "tensor_scalar with op0 = rsqrt")                                   \
  X(double, rng_rate, "elem/cycle", "rng")                                                                \
  X(int, processors, "count", "SIMD processors")                                                          \
  X(int, partitions_per_processor, "count", "partitions that one processor serves")                       \
  X(int, simd_bits, "bit", "vector width of one processor")                                               \
  X(std::uint64_t, local_bytes, "B", "local memory of one processor")                                     \
  X(double, own_dma_bytes_per_ns, "B/ns", "the processors' own DMA, both directions together")

// One MultiplyMoving (MM) on N moving columns occupies the engine for
//   max(min_columns, N * passes / instructions) + extra_cycles
// and one matmul issues `instructions` of them (f32: a LOW and a HIGH one, half the passes each).
#define KRAIT_TENSOR_VALUES(X)                                                                            \
  X(Clock, clock, "GHz", "engine clock")                                                                  \
  X(int, rows, "count", "rows of the PE array = largest contraction K of one matmul")                     \
  X(int, columns, "count", "columns of the PE array = largest stationary free size M")                    \
  X(int, max_moving_f32, "count", "largest moving free size N, f32 result")                               \
  X(int, max_moving_bf16, "count", "largest moving free size N, bf16 result")                             \
  X(int, max_result_banks, "count", "PSUM banks that one matmul may write")                               \
  X(Cycles, min_columns, "cycles", "smallest interval of an MM")                                          \
  X(Cycles, extra_cycles, "cycles", "added to the interval of every MM")                                  \
  X(double, passes, "1", "cycles a moving column, types other than f32")                                  \
  X(double, passes_f32, "1", "cycles a moving column, f32, all MMs of the matmul together")               \
  X(double, passes_f32_onezero, "1", "the same, when one operand is promised to hold only 0 and 1")       \
  X(double, passes_f32_transpose, "1", "the same, for a transpose")                                       \
  X(int, instructions_f32, "count", "MMs of one f32 matmul")                                              \
  X(double, load_cycles_per_column, "cycles", "LoadStationary, each stationary column")                   \
  X(bool, background_load, "flag", "the next LoadStationary overlaps the running MM (one shadow set)")    \
  X(Cycles, latency, "cycles", "end of an MM's interval to its result readable in PSUM")                  \
  X(double, first_matmul_ns, "ns", "start of LoadStationary to start of its MM on an idle engine")        \
  X(int, double_row_k_factor, "1", "contraction of an f8 double_row matmul in the time of one; 0: none")  \
  X(int, mx_k_factor, "1", "contraction of an MX matmul in the time of one; 0: none")                     \
  X(int, min_tile, "count", "smallest row or column size of a PE tile")                                   \
  X(bool, power_ramp, "flag", "the engine is throttled after an idle gap")                                \
  X(double, ramp_start_fraction, "1", "share of full speed at the start of the ramp")                     \
  X(double, ramp_ns, "ns", "work until full speed, linear")                                               \
  X(double, ramp_window_ns, "ns", "window over which utilisation is watched")                             \
  X(double, ramp_rearm_utilisation, "1", "utilisation of a window below which the ramp starts again")

#define KRAIT_PEAK_VALUES(X)                                                                              \
  X(double, bf16_tflops, "TFLOP/s", "TensorE, dense bf16, f16, tf32")                                     \
  X(double, f32_tflops, "TFLOP/s", "TensorE, dense f32")                                                  \
  X(double, f8_tflops, "TFLOP/s", "TensorE, dense f8 (double_row where there is one)")                    \
  X(double, mx_tflops, "TFLOP/s", "TensorE, MX types; 0: none")                                           \
  X(double, vector_tflops, "TFLOP/s", "VectorE, f32 arithmetic as the maker counts it")                   \
  X(double, scalar_tflops, "TFLOP/s", "ScalarE, f32 arithmetic as the maker counts it")

#define KRAIT_SYNC_VALUES(X)                                                                              \
  X(Clock, base_clock, "GHz", "the clock the profiler calls the core's")                                  \
  X(double, cross_engine_ns, "ns", "result of one compute engine to start of a waiting instruction on another") \
  X(double, sequencer_op_ns, "ns", "semaphore instruction already satisfied, branch, register operation") \
  X(double, instruction_fetch_ns, "ns", "fetching one instruction")                                       \
  X(double, kernel_preamble_ns, "ns", "what a profile shows before a kernel's first instruction; not in predictions") \
  X(double, kernel_postamble_ns, "ns", "what a profile shows after its last; not in predictions")

#define KRAIT_EXCLUSION_VALUES(X)                                                                         \
  X(bool, vector_gpsimd_share_sbuf_port, "flag", "VectorE and GpSimdE on SBUF take turns, whole instructions") \
  X(bool, vector_scalar_share_psum_port, "flag", "VectorE and ScalarE on PSUM take turns, whole instructions") \
  X(bool, vector_scalar_psum_bank_conflict, "flag", "VectorE and ScalarE on the same PSUM bank take turns") \
  X(bool, fast_vector_shares_gpsimd_bus, "flag", "a VectorE instruction above base rate borrows the GpSimdE bus") \
  X(double, shared_bus_fraction, "1", "speed of each while both use that bus")

// An engine serves a descriptor of b bytes in
//   descriptor_ns + max(b, min_descriptor_bytes) / bytes_per_ns.
#define KRAIT_DMA_VALUES(X)                                                                               \
  X(int, engines, "count", "DMA engines of one core")                                                     \
  X(int, queues_per_engine, "count", "queues (rings) of one engine; round-robin between descriptors")     \
  X(int, partitions_per_engine, "count", "SBUF partitions that one engine moves: ceil(P / this) engines work") \
  X(double, peak_bytes_per_ns, "B/ns", "theoretical bandwidth of one engine")                             \
  X(double, practical_bytes_per_ns, "B/ns", "bandwidth of one engine that large transfers reach")         \
  X(double, descriptor_ns, "ns", "fixed time of one descriptor on its engine")                            \
  X(double, bytes_per_ns, "B/ns", "slope of a descriptor's time")                                         \
  X(int, min_descriptor_bytes, "B", "smaller descriptors take as long as this one")                       \
  X(double, trigger_to_first_byte_ns, "ns", "trigger instruction to first activity of the engines")       \
  X(double, end_to_consumer_ns, "ns", "end of the transfer to start of a waiting instruction")            \
  X(double, semaphore_ns, "ns", "the maker's round figure for semaphore to start across engines; an upper check, not added") \
  X(double, issue_static_ns, "ns", "sequencer time of one trigger, prebuilt descriptors")                 \
  X(double, issue_swdge_ns, "ns", "GpSimdE time of one trigger, software descriptors")                    \
  X(double, issue_hwdge_ns, "ns", "SyncE or ScalarE time of one trigger, hardware descriptors; 0: none")  \
  X(int, hwdge_blocks, "count", "hardware descriptor generators of a core")                               \
  X(int, qos_classes, "count", "priority classes between queues; 1: plain round-robin")                   \
  X(double, transpose_hbm_fraction, "1", "dma_transpose HBM to SBUF, share of copy bandwidth; 0: no such mode") \
  X(double, transpose_sbuf_fraction, "1", "dma_transpose SBUF to SBUF, share of copy bandwidth; 0: no such mode") \
  X(double, arithmetic_fraction, "1", "dma_compute, share of copy bandwidth")                             \
  X(int, compute_max_sources, "count", "sources that one dma_compute may add")

// Types by their names in numerics; *_x4 are the packed MX types of nc_matmul_mx.
#define KRAIT_TYPE_VALUES(X)                                                                              \
  X(bool, matmul_f32, "flag", "nc_matmul takes f32 operands")                                             \
  X(bool, matmul_tf32, "flag", "nc_matmul takes tf32 operands")                                           \
  X(bool, matmul_bf16, "flag", "nc_matmul takes bf16 operands")                                           \
  X(bool, matmul_f16, "flag", "nc_matmul takes f16 operands")                                             \
  X(bool, matmul_f8e4m3, "flag", "nc_matmul takes f8e4m3 operands")                                       \
  X(bool, matmul_f8e5m2, "flag", "nc_matmul takes f8e5m2 operands")                                       \
  X(bool, matmul_f8e4m3fn, "flag", "nc_matmul takes f8e4m3fn operands, not mixed with f8e4m3")            \
  X(bool, matmul_f8e3m4, "flag", "nc_matmul takes f8e3m4 operands")                                       \
  X(bool, matmul_f32_mixes_only_32bit, "flag", "f32 and tf32 operands pair only with f32 and tf32")       \
  X(bool, matmul_bf16_result, "flag", "PSUM may hold bf16 results and accumulate into them")              \
  X(bool, mx_f8e5m2_x4, "flag", "nc_matmul_mx takes f8e5m2_x4")                                           \
  X(bool, mx_f8e4m3fn_x4, "flag", "nc_matmul_mx takes f8e4m3fn_x4")                                       \
  X(bool, mx_f4e2m1fn_x4, "flag", "nc_matmul_mx takes f4e2m1fn_x4")                                       \
  X(bool, f8_is_16bit_class, "flag", "f8 operands get the 16-bit rates of VectorE and ScalarE")

#define KRAIT_ISA_VALUES(X)                                                                               \
  X(bool, scalar_tensor_copy, "flag", "tensor_copy runs on ScalarE, bit-exact for equal types")           \
  X(bool, scalar_tensor_scalar, "flag", "tensor_scalar runs on ScalarE: (multiply, add), (multiply), (add)") \
  X(bool, activation_constant_bias, "flag", "the bias of activation may be a constant")                   \
  X(bool, activation_reciprocal_bias, "flag", "activation(reciprocal) takes a bias")                      \
  X(bool, activate2, "flag", "activate2 exists")                                                          \
  X(bool, alu_square_relu, "flag", "ALU operators square and relu exist")                                 \
  X(bool, alu_abs_max_min, "flag", "ALU operators abs_max and abs_min exist")                             \
  X(bool, range_select, "flag", "range_select exists")                                                    \
  X(bool, exponential, "flag", "exponential exists on VectorE")                                           \
  X(bool, quantize_mx, "flag", "quantize_mx exists")                                                      \
  X(bool, matmul_mx, "flag", "nc_matmul_mx exists")                                                       \
  X(bool, matmul_double_row, "flag", "nc_matmul has perf_mode double_row")                                \
  X(bool, transpose_mode, "flag", "TensorE transposes bit-exactly, result in the source's type")          \
  X(bool, background_transpose, "flag", "a TensorE transpose overlaps another matmul or transpose")       \
  X(bool, accumulate_onto_engine_writes, "flag", "a matmul may accumulate onto what another engine wrote to PSUM") \
  X(bool, tensor_indirection, "flag", "indirect free-axis views of SBUF and PSUM operands")               \
  X(bool, hwdge, "flag", "hardware descriptor generation for DMA")                                        \
  X(bool, dma_indirect, "flag", "indirect (gather, scatter) dma_copy by software descriptors")            \
  X(bool, dma_transpose, "flag", "dma_transpose exists")                                                  \
  X(bool, rand2, "flag", "rand2 and vector state by rand_set_state exist")                                \
  X(bool, gpsimd_rng, "flag", "rng and rand state on GpSimdE")                                            \
  X(bool, nonzero_with_count, "flag", "nonzero_with_count exists")                                        \
  X(bool, core_to_core, "flag", "sendrecv and core_barrier exist (two cores as one)")

// X(type, member, values): the groups, in the order they are listed and hashed.
#define KRAIT_MACHINE_GROUPS(X)                        \
  X(Geometry, geometry, KRAIT_GEOMETRY_VALUES)         \
  X(Chip, chip, KRAIT_CHIP_VALUES)                     \
  X(Access, access, KRAIT_ACCESS_VALUES)               \
  X(TensorEngine, tensor, KRAIT_TENSOR_VALUES)         \
  X(ElementwiseEngine, vector, KRAIT_ELEMENTWISE_VALUES) \
  X(VectorRates, vector_rates, KRAIT_VECTOR_RATE_VALUES) \
  X(ElementwiseEngine, scalar, KRAIT_ELEMENTWISE_VALUES) \
  X(ScalarRates, scalar_rates, KRAIT_SCALAR_VALUES)    \
  X(GpsimdEngine, gpsimd, KRAIT_GPSIMD_VALUES)         \
  X(Synchronisation, sync, KRAIT_SYNC_VALUES)          \
  X(Exclusions, exclusions, KRAIT_EXCLUSION_VALUES)    \
  X(Dma, dma, KRAIT_DMA_VALUES)                        \
  X(Types, types, KRAIT_TYPE_VALUES)                   \
  X(Isa, isa, KRAIT_ISA_VALUES)                        \
  X(Peaks, peaks, KRAIT_PEAK_VALUES)
// clang-format on

#define KRAIT_DECLARE_VALUE(type, name, unit, help) Val<type> name;
struct Geometry {
  KRAIT_GEOMETRY_VALUES(KRAIT_DECLARE_VALUE)
};
struct Chip {
  KRAIT_CHIP_VALUES(KRAIT_DECLARE_VALUE)
};
struct Access {
  KRAIT_ACCESS_VALUES(KRAIT_DECLARE_VALUE)
};
struct TensorEngine {
  KRAIT_TENSOR_VALUES(KRAIT_DECLARE_VALUE)
};
struct ElementwiseEngine {
  KRAIT_ELEMENTWISE_VALUES(KRAIT_DECLARE_VALUE)
};
struct VectorRates {
  KRAIT_VECTOR_RATE_VALUES(KRAIT_DECLARE_VALUE)
};
struct ScalarRates {
  KRAIT_SCALAR_VALUES(KRAIT_DECLARE_VALUE)
};
struct GpsimdEngine {
  KRAIT_GPSIMD_VALUES(KRAIT_DECLARE_VALUE)
};
struct Synchronisation {
  KRAIT_SYNC_VALUES(KRAIT_DECLARE_VALUE)
};
struct Exclusions {
  KRAIT_EXCLUSION_VALUES(KRAIT_DECLARE_VALUE)
};
struct Dma {
  KRAIT_DMA_VALUES(KRAIT_DECLARE_VALUE)
};
struct Types {
  KRAIT_TYPE_VALUES(KRAIT_DECLARE_VALUE)
};
struct Isa {
  KRAIT_ISA_VALUES(KRAIT_DECLARE_VALUE)
};
struct Peaks {
  KRAIT_PEAK_VALUES(KRAIT_DECLARE_VALUE)
};
#undef KRAIT_DECLARE_VALUE

/// Names of a generation. `nki_target` is the toolchain's platform name.
struct Identity {
  std::string_view name;        ///< "trn2": CLI, IR text, job rows
  std::string_view core;        ///< "NeuronCore-v3"
  std::string_view nki_target;  ///< "trn2"
  int version = 0;              ///< 2, 3, 4: the v of the core's name
};

/// One generation. Immutable once built (registry.hpp hands out const references).
struct MachineSpec {
  Identity identity;
#define KRAIT_DECLARE_GROUP(type, member, values) type member;
  KRAIT_MACHINE_GROUPS(KRAIT_DECLARE_GROUP)
#undef KRAIT_DECLARE_GROUP

  [[nodiscard]] std::string_view name() const {
    return identity.name;
  }
  /// SBUF bytes of one partition that a kernel may use.
  [[nodiscard]] std::uint64_t sbuf_usable_bytes_per_partition() const {
    return geometry.sbuf_bytes_per_partition - geometry.sbuf_reserved_bytes_per_partition;
  }
};

}  // namespace krait
