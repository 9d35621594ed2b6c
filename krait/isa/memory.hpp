#pragma once

// The memories that instructions compute on, and row access for their execute functions.
//
// Every byte has a state (never written, written by an engine or DMA, written by TensorE): reads of
// bytes never written are reported, once an instruction. With rounding off, 16- and 8-bit floats
// keep their unrounded f32 value in a shadow, so that a run shows what a simulator that does not
// round sees. The bytes still hold the rounded value; a shadow counts only while it rounds to them,
// so that bytes written in another way (input tensors, another dtype) are never shown an old value.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "krait/isa/engine_state.hpp"
#include "krait/isa/tile.hpp"
#include "krait/numerics/convert.hpp"

namespace krait::isa {

enum class ByteState : std::uint8_t { kNever = 0, kWritten = 1, kTensorWritten = 2 };

/// What an instruction run found; kinds are stable names.
struct RunFinding {
  std::string kind;  // "uninitialised-read", "accumulator-unset", ...
  std::string what;
  bool operator==(const RunFinding&) const = default;
};

/// One flat region with per-byte state: a partition-major on-chip memory or an HBM tensor.
class Region {
 public:
  Region() = default;
  /// @param rows partitions (1 for HBM); every row has `row_bytes`
  Region(std::int64_t rows, std::int64_t row_bytes);
  [[nodiscard]] std::byte* at(std::int64_t row, std::int64_t offset) {
    return data_.get() + row * row_bytes_ + offset;
  }
  [[nodiscard]] ByteState* state(std::int64_t row, std::int64_t offset) {
    return state_.get() + row * row_bytes_ + offset;
  }
  /// Unrounded value of the element that starts at this byte; allocated at first use.
  [[nodiscard]] float* shadow(std::int64_t row, std::int64_t offset);
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t row_bytes() const { return row_bytes_; }

 private:
  struct Free {
    void operator()(void* p) const;
  };
  std::int64_t rows_ = 0, row_bytes_ = 0;
  std::unique_ptr<std::byte, Free> data_;
  std::unique_ptr<ByteState, Free> state_;
  std::unique_ptr<float, Free> shadow_;
};

class Memory {
 public:
  struct Options {
    bool rounding = true;  // false: keep unrounded shadows
    Rounding mode{};       // how stores round
    bool track_state = true;
    bool transpose_moves_bits = true;  // TensorE transposes do not multiply (v3 and later)
    /// PSUM written by another engine may be accumulated onto
    bool accumulate_onto_engine_writes = true;
  };

  /// @param sbuf_bytes, psum_bytes  bytes per partition in use
  /// @param hbm_bytes               one entry a buffer; 0 for on-chip buffers
  Memory(std::int64_t sbuf_bytes, std::int64_t psum_bytes, std::span<const std::int64_t> hbm_bytes,
         Options options);

  [[nodiscard]] const Options& options() const { return options_; }
  /// Copies an input tensor in / a result out, both whole and contiguous.
  void write_hbm(std::uint32_t buffer, std::span<const std::byte> bytes);
  void read_hbm(std::uint32_t buffer, std::span<std::byte> bytes);
  [[nodiscard]] Region& hbm(std::uint32_t buffer) { return hbm_[buffer]; }
  /// The region a tile lies in, the row of its partition p, and its byte offset there.
  struct Place {
    Region* region;
    std::int64_t row;
    std::int64_t offset;
  };
  [[nodiscard]] Place place(const Tile& t, int p);

  [[nodiscard]] const std::vector<RunFinding>& findings() const { return findings_; }
  void clear_findings() { findings_.clear(); }
  void report(std::string kind, std::string what);

  // --- rows: used by execute functions ---

  /// Partition p of a tile as f32: the memory itself if it is contiguous f32, else a copy in a
  /// scratch row that lives until the next begin_row(). Reports uninitialised bytes.
  [[nodiscard]] std::span<const float> load(const Tile& t, int p);
  /// The single element of partition p.
  [[nodiscard]] float load1(const Tile& t, int p);
  [[nodiscard]] float load(const Operand& operand, int p) {
    return operand.is_tile() ? load1(operand.tile, p) : operand.value;
  }
  /// Where to write partition p of dst; store(dst, p, row) must follow.
  [[nodiscard]] std::span<float> stage(const Tile& dst, int p);
  /// Rounds the row to dst's dtype and marks it written.
  void store(const Tile& dst, int p, std::span<const float> row,
             ByteState by = ByteState::kWritten);
  void store1(const Tile& dst, int p, float value) { store(dst, p, {&value, 1}); }
  /// A scratch row of n floats, valid until the next begin_row().
  [[nodiscard]] std::span<float> scratch(std::size_t n);
  /// A row of n integers, valid until the next call.
  [[nodiscard]] std::span<std::int32_t> scratch_ints(std::size_t n);
  /// Converts integers to dst's dtype: 32-bit types exactly (u32: negative values give 0), others
  /// through f32 like store.
  void store_ints(const Tile& dst, int p, std::span<const std::int32_t> row);
  /// Releases the scratch rows.
  void begin_row() { used_ = 0; }
  /// Copies partition rows bit for bit (equal dtypes), or through f32.
  void copy_row(const Tile& dst, int p, const Tile& src, int q);
  /// The same for equal dtypes, leaving scratch rows alone.
  void copy_bits(const Tile& dst, int p, const Tile& src, int q);
  /// A row as it lies in memory: element after element, and what unrounded values there are.
  struct Bits {
    std::vector<std::byte> bytes;
    std::vector<float> unrounded;  // empty if the dtype or the run has no shadows
  };
  void load_bits(const Tile& t, int p, Bits& row);
  void store_bits(const Tile& t, int p, const Bits& row, ByteState by = ByteState::kWritten);
  /// Reports an accumulation onto partition p of dst that no product has started.
  void check_accumulate(const Tile& dst, int p);
  /// State of the bytes of partition p: the weakest of all (kNever if any was never written).
  [[nodiscard]] ByteState weakest(const Tile& t, int p);
  /// Elements of partition p as bit patterns; narrower types stand in the low bits.
  void load_words(const Tile& t, int p, std::span<std::uint32_t> words);
  void store_words(const Tile& t, int p, std::span<const std::uint32_t> words);

  // --- what engines keep inside (engine_state.hpp) ---

  /// The accumulator register of a lane of ScalarE or VectorE. Reports one that is unset: NaN.
  [[nodiscard]] float accumulator(Engine engine, int lane);
  void set_accumulator(Engine engine, int lane, float value);
  /// Leaves it undefined.
  void unset_accumulator(Engine engine, int lane);
  /// The generators of VectorE or GpSimdE.
  [[nodiscard]] LaneRng& rng(Engine engine);

  /// Names the instruction in findings; set before each execute.
  void set_instruction(std::string_view name) { instruction_ = name; }

 private:
  void check_written(const Tile& t, int p);
  [[nodiscard]] Accumulator& accumulator_of(Engine engine, int lane);
  void load_unrounded(const Tile& t, const Place& at, std::int64_t begin, std::int64_t step,
                      std::span<float> line);
  void mark(Region& region, std::int64_t row, std::int64_t begin, std::int64_t count,
            std::int64_t step, std::int64_t bytes, ByteState by) const;

  Options options_;
  Region sbuf_, psum_;
  std::vector<Region> hbm_;
  std::vector<std::vector<float>> scratch_;
  std::size_t used_ = 0;
  std::vector<std::int32_t> ints_;
  Bits bits_;
  std::uint64_t rounding_counter_ = 0;
  std::array<std::array<Accumulator, kPartitions>, 2> accumulators_{};  // ScalarE, VectorE
  LaneRng vector_rng_{4}, gpsimd_rng_{1};
  std::string_view instruction_;
  std::vector<RunFinding> findings_;
};

}  // namespace krait::isa
