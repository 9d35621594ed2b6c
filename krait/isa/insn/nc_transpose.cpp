#include "krait/isa/insn/nc_transpose.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace krait::isa {

void NcTranspose::check(Checker& c) const {
  c.present("dst", dst), c.present("src", src);
  c.on_chip("dst", dst), c.on_chip("src", src);
  c.same_dtype("dst", dst, "src", src);
  c.require(dst.partitions == src.free_size() && dst.free_size() == src.partitions,
            "transpose-shape", "dst must be [F, P] for a src of [P, F]",
            describe(dst) + ", " + describe(src), "swap the sizes of dst");
  c.require(engine == Engine::kTensor || engine == Engine::kVector, "engine",
            "nc_transpose runs on TensorE or VectorE", attr_text(engine), "use TensorE");
  const int limit = engine == Engine::kVector ? 32 : 128;
  c.require(src.partitions <= limit && src.free_size() <= limit, "transpose-size",
            "the tile is too large for one transpose", describe(src),
            limit == 32 ? "VectorE transposes up to 32 x 32; use TensorE"
                        : "cut it into 128 x 128 tiles");
  if (engine == Engine::kTensor) {
    c.in_sbuf("src", src), c.in_psum("dst", dst);
    c.require(src.dtype == DType::kF32 || c.machine().isa.transpose_mode, "transpose-dtype",
              "TensorE writes f32 to PSUM on this generation", describe(src), "transpose in f32");
  }
}

void NcTranspose::execute(Memory& m) const {
  const bool multiplies = engine == Engine::kTensor && !m.options().transpose_moves_bits;
  multiplies ? multiply(m) : move_bits(m);
}

void NcTranspose::move_bits(Memory& m) const {
  const auto rows = static_cast<std::size_t>(src.partitions);
  const auto columns = static_cast<std::size_t>(src.free_size());
  const auto size = static_cast<std::size_t>(src.element_bytes());
  std::vector<Memory::Bits> flipped(columns);
  Memory::Bits row;
  for (std::size_t p = 0; p < rows; ++p) {
    m.load_bits(src, static_cast<int>(p), row);
    for (std::size_t f = 0; f < columns; ++f) {
      flipped[f].bytes.resize(rows * size);
      std::memcpy(flipped[f].bytes.data() + p * size, row.bytes.data() + f * size, size);
      if (!row.unrounded.empty()) flipped[f].unrounded.push_back(row.unrounded[f]);
    }
  }
  for (std::size_t f = 0; f < columns; ++f)
    m.store_bits(dst, static_cast<int>(f), flipped[f],
                 engine == Engine::kTensor ? ByteState::kTensorWritten : ByteState::kWritten);
}

// dst[f,p] = sum over k of src[k,f] * identity[k,p]: 0 * NaN and 0 * Inf are NaN, so one of them
// spreads to all positions of its row but its own, and two spread everywhere.
void NcTranspose::multiply(Memory& m) const {
  const auto rows = static_cast<std::size_t>(src.partitions);
  const auto columns = static_cast<std::size_t>(src.free_size());
  std::vector<float> flipped(rows * columns);
  for (int p = 0; p < src.partitions; ++p) {
    m.begin_row();
    const auto row = m.load(src, p);
    for (std::size_t f = 0; f < columns; ++f)
      flipped[f * rows + static_cast<std::size_t>(p)] = row[f];
  }
  for (std::size_t f = 0; f < columns; ++f) {
    float* row = flipped.data() + f * rows;
    std::size_t bad = 0, last = 0;
    for (std::size_t p = 0; p < rows; ++p) {
      if (!std::isfinite(row[p])) ++bad, last = p;
      row[p] += 0.0F;  // the chain starts at +0: -0 becomes +0
    }
    for (std::size_t p = 0; bad > 0 && p < rows; ++p)
      if (bad > 1 || p != last) row[p] = std::numeric_limits<float>::quiet_NaN();
    m.store(dst, static_cast<int>(f), {row, rows}, ByteState::kTensorWritten);
  }
}

}  // namespace krait::isa
