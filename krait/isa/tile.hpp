#pragma once

// Where data lies: engines, memories and tiles. A tile is what an instruction names as an operand:
// partitions x a free-axis access pattern, like the hardware's own operand descriptors.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "krait/numerics/dtype.hpp"

namespace krait::isa {

enum class Engine : std::uint8_t { kTensor, kVector, kScalar, kGpSimd, kSync };
inline constexpr int kEngineCount = 5;
[[nodiscard]] std::string_view name(Engine engine);  // "TensorE", ...
[[nodiscard]] std::optional<Engine> parse_engine(std::string_view name);

enum class Space : std::uint8_t { kHbm, kSbuf, kPsum };
[[nodiscard]] std::string_view name(Space space);  // "hbm", "sbuf", "psum"

/// One dimension of a free-axis pattern: `count` positions `step` elements apart (0 broadcasts).
struct Dim {
  std::int64_t step = 1;
  std::int64_t count = 1;
  bool operator==(const Dim&) const = default;
};

inline constexpr std::size_t kMaxFreeDims = 4;  // what the hardware's descriptors encode
inline constexpr std::int64_t kPsumBankBytes = 2048;
inline constexpr int kPartitions = 128;

/// An operand. On chip: partitions [partition, partition + partitions), every one with the same
/// free pattern that starts `offset` bytes into the partition. In HBM: the same picture laid over a
/// flat tensor, partition p starting at offset + p * partition_step elements.
struct Tile {
  Space space = Space::kSbuf;
  DType dtype = DType::kF32;
  std::uint8_t rank = 1;         // dims in use, outermost first
  std::uint16_t partition = 0;   // first partition (0 in HBM)
  std::uint16_t partitions = 0;  // 0: the operand is absent
  std::uint32_t buffer = 0;      // index of the program's buffer
  std::uint32_t expr = 0;        // index of a symbolic offset in the program; 0: `offset` is final
  std::int64_t offset = 0;       // bytes
  std::int64_t partition_step = 0;  // elements; HBM only
  std::array<Dim, kMaxFreeDims> dims{};

  [[nodiscard]] bool present() const { return partitions != 0; }
  [[nodiscard]] bool in_psum() const { return space == Space::kPsum; }
  [[nodiscard]] bool in_sbuf() const { return space == Space::kSbuf; }
  [[nodiscard]] bool in_hbm() const { return space == Space::kHbm; }
  [[nodiscard]] std::int64_t element_bytes() const {
    return static_cast<std::int64_t>(size_of(dtype));
  }
  /// Elements per partition.
  [[nodiscard]] std::int64_t free_size() const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < rank; ++d) n *= dims[d].count;
    return n;
  }
  /// Element offset, relative to the pattern's start, of the first and one past the last element.
  [[nodiscard]] std::int64_t span_begin() const;
  [[nodiscard]] std::int64_t span_end() const;
  /// True if the elements follow one another without gaps in memory.
  [[nodiscard]] bool contiguous() const;
  /// Elements of the longest run that is contiguous in memory at the inner end of the pattern.
  [[nodiscard]] std::int64_t inner_run() const;
  /// Step of the innermost dimension with more than one position (1 if there is none), elements.
  [[nodiscard]] std::int64_t inner_step() const;
  /// False if rank, sizes or distances are beyond any machine (2^48), so that the functions above
  /// would overflow. Borders that take tiles from outside ask this first.
  [[nodiscard]] bool in_range() const;
  bool operator==(const Tile&) const = default;
};

/// A per-partition operand vector [P, 1] or a constant.
struct Operand {
  Tile tile{};  // absent: `value` is used
  float value = 0;
  Operand() = default;
  Operand(float constant) : value(constant) {}   // NOLINT(google-explicit-constructor)
  Operand(const Tile& vector) : tile(vector) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool is_tile() const { return tile.present(); }
  bool operator==(const Operand&) const = default;
};

/// "sbuf.3[0+128]@4096:f32{512*1}", with a symbolic offset in place of the number if one is given;
/// HBM tiles add the partition step: "hbm.0[128/512]@0:f32{512*1}".
[[nodiscard]] std::string to_string(const Tile& tile, std::string_view symbolic_offset = {});
/// Reads to_string back; a symbolic offset is returned as text and leaves tile.offset 0.
struct ParsedTile {
  Tile tile;
  std::string offset_text;
};
[[nodiscard]] std::optional<ParsedTile> parse_tile(std::string_view text);

/// "SBUF[128 x 512 f32]": the short form of messages.
[[nodiscard]] std::string describe(const Tile& tile);
[[nodiscard]] std::string describe(const Operand& operand);

}  // namespace krait::isa
