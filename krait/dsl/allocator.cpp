#include "krait/dsl/allocator.hpp"

#include <algorithm>

#include "krait/base/error.hpp"

namespace krait::dsl {

std::optional<std::int64_t> Allocator::take(std::int64_t bytes, std::int64_t align) {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const Gap gap = free_[i];
    const std::int64_t begin = (gap.begin + align - 1) / align * align;
    if (begin + bytes > gap.end) continue;
    std::vector<Gap> rest;
    if (begin > gap.begin) rest.push_back({gap.begin, begin});
    if (begin + bytes < gap.end) rest.push_back({begin + bytes, gap.end});
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(i), rest.begin(), rest.end());
    return begin;
  }
  return std::nullopt;
}

void Allocator::give_back(std::int64_t address, std::int64_t bytes) {
  const auto next = std::find_if(free_.begin(), free_.end(),
                                 [&](const Gap& gap) { return gap.begin >= address; });
  KRAIT_ASSERT(next == free_.end() || address + bytes <= next->begin);
  auto at = free_.insert(next, Gap{address, address + bytes});
  if (at + 1 != free_.end() && (at + 1)->begin == at->end) {
    at->end = (at + 1)->end;
    free_.erase(at + 1);
  }
  if (at != free_.begin() && (at - 1)->end == at->begin) {
    (at - 1)->end = at->end;
    free_.erase(at);
  }
}

std::int64_t Allocator::available() const {
  std::int64_t sum = 0;
  for (const Gap& gap : free_) sum += gap.end - gap.begin;
  return sum;
}

std::int64_t Allocator::largest_gap() const {
  std::int64_t largest = 0;
  for (const Gap& gap : free_) largest = std::max(largest, gap.end - gap.begin);
  return largest;
}

}  // namespace krait::dsl
