#pragma once

// Addresses for on-chip buffers: first fit over one byte axis (all partitions alike), with reuse.

#include <cstdint>
#include <optional>
#include <vector>

namespace krait::dsl {

class Allocator {
 public:
  explicit Allocator(std::int64_t capacity) : free_{{0, capacity}}, capacity_(capacity) {}

  /// Takes `bytes` at the lowest address where they fit, aligned to `align`; nothing if none does.
  [[nodiscard]] std::optional<std::int64_t> take(std::int64_t bytes, std::int64_t align);
  /// Gives back what take returned.
  void give_back(std::int64_t address, std::int64_t bytes);

  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] std::int64_t available() const;
  [[nodiscard]] std::int64_t largest_gap() const;

 private:
  struct Gap {
    std::int64_t begin, end;
  };
  std::vector<Gap> free_;  // sorted, never adjacent
  std::int64_t capacity_;
};

}  // namespace krait::dsl
