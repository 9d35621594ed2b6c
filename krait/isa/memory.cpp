#include "krait/isa/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::isa {
namespace {

constexpr std::size_t kMaxFindings = 64;  // a kernel that reads garbage everywhere needs no more

template <class T>
T* zeroed(std::int64_t count) {
  // calloc: pages that a run never touches cost nothing.
  constexpr std::int64_t kMost = std::int64_t{1} << 39;  // twice the HBM of any chip
  void* p = count > kMost ? nullptr
                          : std::calloc(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)),
                                        sizeof(T));
  if (p == nullptr)
    throw UserError(Report{"out of memory for the simulated memories",
                           {},
                           human_bytes(static_cast<std::uint64_t>(count) * sizeof(T)),
                           "use a smaller shape, or --no-data for time alone"});
  return static_cast<T*>(p);
}

// Calls fn(element offset, count, step) for every innermost line of a tile's free pattern.
template <class Fn>
void for_each_line(const Tile& t, Fn fn) {
  const Dim inner = t.dims[t.rank - 1U];
  if (t.rank == 1) return fn(std::int64_t{0}, inner.count, inner.step);
  std::array<std::int64_t, kMaxFreeDims> at{};
  const std::size_t outer = t.rank - 1U;
  std::int64_t offset = 0;
  while (true) {
    fn(offset, inner.count, inner.step);
    std::size_t d = outer;
    while (d-- > 0) {
      offset += t.dims[d].step;
      if (++at[d] < t.dims[d].count) break;
      offset -= t.dims[d].step * t.dims[d].count;
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

void gather(std::byte* out, const std::byte* in, std::int64_t count, std::int64_t step,
            std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  if (step == 1) {
    std::memcpy(out, in, size * static_cast<std::size_t>(count));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(out + i * bytes, in + i * step * bytes, size);
}

void scatter(const std::byte* in, std::byte* out, std::int64_t count, std::int64_t step,
             std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  if (step == 1) {
    std::memcpy(out, in, size * static_cast<std::size_t>(count));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(out + i * step * bytes, in + i * bytes, size);
}

bool is_direct(const Tile& t, const std::byte* address) {
  return t.dtype == DType::kF32 && t.contiguous() &&
         reinterpret_cast<std::uintptr_t>(address) % alignof(float) == 0;
}

bool has_shadow(const Memory::Options& options, DType dtype) {
  return !options.rounding && is_float(dtype) && size_of(dtype) < 4;
}

}  // namespace

void Region::Free::operator()(void* p) const {
  std::free(p);
}

Region::Region(std::int64_t rows, std::int64_t row_bytes)
    : rows_(rows),
      row_bytes_(row_bytes),
      data_(zeroed<std::byte>(rows * row_bytes)),
      state_(zeroed<ByteState>(rows * row_bytes)) {}

float* Region::shadow(std::int64_t row, std::int64_t offset) {
  if (!shadow_) shadow_.reset(zeroed<float>(rows_ * row_bytes_));
  return shadow_.get() + row * row_bytes_ + offset;
}

Memory::Memory(std::int64_t sbuf_bytes, std::int64_t psum_bytes,
               std::span<const std::int64_t> hbm_bytes, Options options)
    : options_(options), sbuf_(kPartitions, sbuf_bytes), psum_(kPartitions, psum_bytes) {
  hbm_.reserve(hbm_bytes.size());
  for (const std::int64_t bytes : hbm_bytes) hbm_.emplace_back(1, bytes);
}

void Memory::write_hbm(std::uint32_t buffer, std::span<const std::byte> bytes) {
  Region& region = hbm_[buffer];
  KRAIT_ASSERT(static_cast<std::int64_t>(bytes.size()) == region.row_bytes());
  if (bytes.empty()) return;
  std::memcpy(region.at(0, 0), bytes.data(), bytes.size());
  std::memset(region.state(0, 0), static_cast<int>(ByteState::kWritten), bytes.size());
}

void Memory::read_hbm(std::uint32_t buffer, std::span<std::byte> bytes) {
  Region& region = hbm_[buffer];
  KRAIT_ASSERT(static_cast<std::int64_t>(bytes.size()) == region.row_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), region.at(0, 0), bytes.size());
}

Memory::Place Memory::place(const Tile& t, int p) {
  if (t.in_hbm()) return {&hbm_[t.buffer], 0, t.offset + p * t.partition_step * t.element_bytes()};
  return {t.in_psum() ? &psum_ : &sbuf_, t.partition + p, t.offset};
}

void Memory::report(std::string kind, std::string what) {
  RunFinding finding{std::move(kind),
                     instruction_.empty() ? std::move(what) : cat(instruction_, ": ", what)};
  if (findings_.size() < kMaxFindings &&
      std::find(findings_.begin(), findings_.end(), finding) == findings_.end())
    findings_.push_back(std::move(finding));
}

ByteState Memory::weakest(const Tile& t, int p) {
  const Place at = place(t, p);
  const std::int64_t bytes = t.element_bytes();
  ByteState low = ByteState::kTensorWritten;
  // Large runs ask this for every row they accumulate onto: lines without gaps are scanned whole.
  const auto scan = [&](std::int64_t begin, std::int64_t length) {
    const ByteState* state = at.region->state(at.row, begin);
    const auto n = static_cast<std::size_t>(length);
    const auto holds = [&](ByteState s) { return std::memchr(state, static_cast<int>(s), n); };
    if (low == ByteState::kTensorWritten && holds(ByteState::kWritten)) low = ByteState::kWritten;
    if (low != ByteState::kNever && holds(ByteState::kNever)) low = ByteState::kNever;
  };
  for_each_line(t, [&](std::int64_t offset, std::int64_t count, std::int64_t step) {
    const std::int64_t begin = at.offset + offset * bytes;
    if (step == 1) return scan(begin, count * bytes);
    for (std::int64_t i = 0; i < (step == 0 ? 1 : count); ++i)
      scan(begin + i * step * bytes, bytes);
  });
  return low;
}

void Memory::check_accumulate(const Tile& dst, int p) {
  if (!options_.track_state) return;
  const ByteState state = weakest(dst, p);
  if (state == ByteState::kNever)
    report("accumulate-uninitialised",
           cat("accumulates onto ", describe(dst), " that nothing has written"));
  else if (state == ByteState::kWritten && !options_.accumulate_onto_engine_writes)
    report("accumulate-engine-write",
           cat("accumulates onto ", describe(dst),
               " that another engine wrote: undefined on this generation"));
}

// Bytes never written read as all ones: NaN in every float format, so that a mistake shows.
void Memory::check_written(const Tile& t, int p) {
  if (!options_.track_state) return;
  const Place at = place(t, p);
  const std::int64_t bytes = t.element_bytes();
  bool bad = false;
  const auto check = [&](std::int64_t begin, std::int64_t length) {
    const ByteState* state = at.region->state(at.row, begin);
    const auto n = static_cast<std::size_t>(length);
    if (std::memchr(state, 0, n) == nullptr) return;
    bad = true;
    for (std::size_t i = 0; i < n; ++i)
      if (state[i] == ByteState::kNever) *(at.region->at(at.row, begin) + i) = std::byte{0xFF};
  };
  for_each_line(t, [&](std::int64_t offset, std::int64_t count, std::int64_t step) {
    const std::int64_t begin = at.offset + offset * bytes;
    if (step == 1) return check(begin, count * bytes);
    for (std::int64_t i = 0; i < (step == 0 ? 1 : count); ++i)
      check(begin + i * step * bytes, bytes);
  });
  if (bad)
    report("uninitialised-read", cat("reads bytes of ", describe(t), " that nothing has written"));
}

std::span<float> Memory::scratch(std::size_t n) {
  if (used_ == scratch_.size()) scratch_.emplace_back();
  std::vector<float>& row = scratch_[used_++];
  if (row.size() < n) row.resize(n);
  return {row.data(), n};
}

std::span<const float> Memory::load(const Tile& t, int p) {
  check_written(t, p);
  const Place at = place(t, p);
  const std::byte* address = at.region->at(at.row, at.offset);
  const auto n = static_cast<std::size_t>(t.free_size());
  if (is_direct(t, address)) return {reinterpret_cast<const float*>(address), n};
  const std::span<float> out = scratch(n);
  std::size_t filled = 0;
  const bool shadow = has_shadow(options_, t.dtype);
  const std::int64_t bytes = t.element_bytes();
  for_each_line(t, [&](std::int64_t offset, std::int64_t count, std::int64_t step) {
    const auto line = out.subspan(filled, static_cast<std::size_t>(count));
    filled += line.size();
    load_row(t.dtype, address + offset * bytes, step, line);
    if (shadow) load_unrounded(t, at, at.offset + offset * bytes, step, line);
  });
  return out;
}

// Replaces the values of `line` by their shadows where these round to the same value: then nothing
// has written the bytes since. NaN and the sign of 0 need no shadow.
void Memory::load_unrounded(const Tile& t, const Place& at, std::int64_t begin, std::int64_t step,
                            std::span<float> line) {
  const std::int64_t bytes = t.element_bytes();
  std::int64_t offset = begin;
  for (float& value : line) {
    const float unrounded = *at.region->shadow(at.row, offset);
    const float rounded = round_to(t.dtype, unrounded);
    if (unrounded != 0 && (rounded == value || (std::isnan(rounded) && std::isnan(value))))
      value = unrounded;
    offset += step * bytes;
  }
}

std::span<std::int32_t> Memory::scratch_ints(std::size_t n) {
  ints_.resize(n);
  return ints_;
}

void Memory::store_ints(const Tile& dst, int p, std::span<const std::int32_t> row) {
  if (dst.dtype != DType::kI32 && dst.dtype != DType::kU32) {
    const std::span<float> values = scratch(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) values[i] = static_cast<float>(row[i]);
    return store(dst, p, values);
  }
  bits_.bytes.resize(row.size() * sizeof(std::int32_t));
  bits_.unrounded.clear();
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::int32_t value = dst.dtype == DType::kU32 ? std::max(row[i], 0) : row[i];
    std::memcpy(bits_.bytes.data() + i * sizeof value, &value, sizeof value);
  }
  store_bits(dst, p, bits_);
}

float Memory::load1(const Tile& t, int p) {
  return load(t, p)[0];
}

std::span<float> Memory::stage(const Tile& dst, int p) {
  const Place at = place(dst, p);
  std::byte* address = at.region->at(at.row, at.offset);
  const auto n = static_cast<std::size_t>(dst.free_size());
  if (is_direct(dst, address)) return {reinterpret_cast<float*>(address), n};
  return scratch(n);
}

void Memory::store(const Tile& dst, int p, std::span<const float> row, ByteState by) {
  const Place at = place(dst, p);
  std::byte* address = at.region->at(at.row, at.offset);
  const std::int64_t bytes = dst.element_bytes();
  const bool in_place =
      reinterpret_cast<const std::byte*>(row.data()) == address && is_direct(dst, address);
  const bool shadow = has_shadow(options_, dst.dtype);
  std::size_t done = 0;
  for_each_line(dst, [&](std::int64_t offset, std::int64_t count, std::int64_t step) {
    const auto line = row.subspan(done, static_cast<std::size_t>(count));
    done += line.size();
    const std::int64_t begin = at.offset + offset * bytes;
    if (!in_place) {
      // A shadow must round to the bytes beside it (load_unrounded): nearest even.
      Rounding rounding = shadow ? Rounding{} : options_.mode;
      rounding.counter = rounding_counter_;
      if (rounding.mode == RoundingMode::kStochastic) rounding_counter_ += line.size();
      store_row(dst.dtype, line, at.region->at(at.row, begin), step, rounding);
    }
    if (shadow)
      for (std::int64_t i = 0; i < count; ++i)
        *at.region->shadow(at.row, begin + i * step * bytes) = line[static_cast<std::size_t>(i)];
    mark(*at.region, at.row, begin, count, step, bytes, by);
  });
}

void Memory::mark(Region& region, std::int64_t row, std::int64_t begin, std::int64_t count,
                  std::int64_t step, std::int64_t bytes, ByteState by) const {
  if (!options_.track_state) return;
  const std::int64_t pieces = step == 1 ? 1 : count;
  const std::int64_t length = step == 1 ? count * bytes : bytes;
  for (std::int64_t i = 0; i < pieces; ++i)
    std::memset(region.state(row, begin + i * step * bytes), static_cast<int>(by),
                static_cast<std::size_t>(length));
}

void Memory::copy_row(const Tile& dst, int p, const Tile& src, int q) {
  begin_row();
  if (dst.dtype == src.dtype)
    copy_bits(dst, p, src, q);
  else
    store(dst, p, load(src, q));
}

// Equal dtypes: bytes move unchanged, whatever they encode. Gather to a row, then scatter, so that
// any two patterns of equal size fit each other.
void Memory::copy_bits(const Tile& dst, int p, const Tile& src, int q) {
  load_bits(src, q, bits_);
  store_bits(dst, p, bits_);
}

void Memory::load_bits(const Tile& t, int p, Bits& row) {
  check_written(t, p);
  const Place at = place(t, p);
  const std::int64_t bytes = t.element_bytes();
  const auto n = static_cast<std::size_t>(t.free_size());
  const bool shadow = has_shadow(options_, t.dtype);
  row.bytes.resize(n * static_cast<std::size_t>(bytes));
  row.unrounded.resize(shadow ? n : 0);
  std::int64_t done = 0;
  for_each_line(t, [&](std::int64_t offset, std::int64_t count, std::int64_t step) {
    const std::int64_t begin = at.offset + offset * bytes;
    gather(row.bytes.data() + done * bytes, at.region->at(at.row, begin), count, step, bytes);
    for (std::int64_t i = 0; shadow && i < count; ++i)
      row.unrounded[static_cast<std::size_t>(done + i)] =
          *at.region->shadow(at.row, begin + i * step * bytes);
    done += count;
  });
}

void Memory::store_bits(const Tile& t, int p, const Bits& row, ByteState by) {
  const Place at = place(t, p);
  const std::int64_t bytes = t.element_bytes();
  std::int64_t done = 0;
  for_each_line(t, [&](std::int64_t offset, std::int64_t count, std::int64_t step) {
    const std::int64_t begin = at.offset + offset * bytes;
    scatter(row.bytes.data() + done * bytes, at.region->at(at.row, begin), count, step, bytes);
    for (std::int64_t i = 0; !row.unrounded.empty() && i < count; ++i)
      *at.region->shadow(at.row, begin + i * step * bytes) =
          row.unrounded[static_cast<std::size_t>(done + i)];
    mark(*at.region, at.row, begin, count, step, bytes, by);
    done += count;
  });
}

void Memory::load_words(const Tile& t, int p, std::span<std::uint32_t> words) {
  const auto bytes = static_cast<std::size_t>(t.element_bytes());
  KRAIT_ASSERT(bytes <= sizeof(std::uint32_t));
  load_bits(t, p, bits_);
  KRAIT_ASSERT(bits_.bytes.size() == words.size() * bytes);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = 0;
    std::memcpy(&words[i], bits_.bytes.data() + i * bytes, bytes);  // little-endian
  }
}

void Memory::store_words(const Tile& t, int p, std::span<const std::uint32_t> words) {
  const auto bytes = static_cast<std::size_t>(t.element_bytes());
  KRAIT_ASSERT(bytes <= sizeof(std::uint32_t));
  bits_.unrounded.clear();
  bits_.bytes.resize(words.size() * bytes);
  for (std::size_t i = 0; i < words.size(); ++i)
    std::memcpy(bits_.bytes.data() + i * bytes, &words[i], bytes);
  store_bits(t, p, bits_);
}

Accumulator& Memory::accumulator_of(Engine engine, int lane) {
  KRAIT_ASSERT(engine == Engine::kScalar || engine == Engine::kVector);
  return accumulators_[engine == Engine::kVector ? 1 : 0].at(static_cast<std::size_t>(lane));
}

float Memory::accumulator(Engine engine, int lane) {
  const Accumulator& a = accumulator_of(engine, lane);
  if (a.set) return a.value;
  if (options_.track_state)
    report("accumulator-unset",
           cat("reads an accumulator register of ", isa::name(engine), " that holds no result"));
  return std::numeric_limits<float>::quiet_NaN();
}

void Memory::set_accumulator(Engine engine, int lane, float value) {
  accumulator_of(engine, lane) = {value, true};
}

void Memory::unset_accumulator(Engine engine, int lane) {
  accumulator_of(engine, lane).set = false;
}

LaneRng& Memory::rng(Engine engine) {
  KRAIT_ASSERT(engine == Engine::kVector || engine == Engine::kGpSimd);
  return engine == Engine::kVector ? vector_rng_ : gpsimd_rng_;
}

}  // namespace krait::isa
