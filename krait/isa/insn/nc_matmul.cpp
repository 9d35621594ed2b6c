#include "krait/isa/insn/nc_matmul.hpp"

#include "krait/base/text.hpp"
#include "krait/linalg/fixed_order.hpp"

namespace krait::isa {
namespace {

bool matmul_dtype(DType dtype, const MachineSpec& s) {
  switch (dtype) {
    case DType::kF32:
      return s.types.matmul_f32;
    case DType::kTf32:
      return s.types.matmul_tf32;
    case DType::kBf16:
      return s.types.matmul_bf16;
    case DType::kF16:
      return s.types.matmul_f16;
    case DType::kF8E4M3:
      return s.types.matmul_f8e4m3;
    case DType::kF8E5M2:
      return s.types.matmul_f8e5m2;
    case DType::kF8E4M3Fn:
      return s.types.matmul_f8e4m3fn;
    case DType::kF8E3M4:
      return s.types.matmul_f8e3m4;
    default:
      return false;
  }
}

bool wide(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kTf32;
}

// A tile as one f32 matrix: the memory itself if every row is contiguous f32, else a packed copy.
struct Matrix {
  const float* data;
  std::size_t stride;
};

Matrix matrix(Memory& m, const Tile& t, std::vector<float>& packed) {
  const auto columns = static_cast<std::size_t>(t.free_size());
  m.begin_row();
  const auto first = m.load(t, 0);
  const auto place = m.place(t, 0);
  const auto* address = reinterpret_cast<const float*>(place.region->at(place.row, place.offset));
  if (first.data() == address && place.region->row_bytes() % 4 == 0) {
    for (int k = 1; k < t.partitions; ++k) m.begin_row(), (void)m.load(t, k);  // state checks
    return {address, static_cast<std::size_t>(place.region->row_bytes() / 4)};
  }
  packed.resize(columns * t.partitions);
  for (int k = 0; k < t.partitions; ++k) {
    m.begin_row();
    const auto row = m.load(t, k);
    std::copy(row.begin(), row.end(), packed.begin() + static_cast<std::ptrdiff_t>(columns) * k);
  }
  return {packed.data(), columns};
}

bool only_zero_and_one(const Matrix& m, std::size_t rows, std::size_t columns) {
  for (std::size_t k = 0; k < rows; ++k)
    for (std::size_t i = 0; i < columns; ++i)
      if (const float v = m.data[k * m.stride + i]; v != 0 && v != 1) return false;
  return true;
}

}  // namespace

void NcMatmul::check(Checker& c) const {
  c.present("dst", dst), c.present("stationary", stationary), c.present("moving", moving);
  c.in_psum("dst", dst);
  c.in_sbuf("stationary", stationary), c.in_sbuf("moving", moving);
  c.same_partitions("stationary", stationary, "moving", moving);
  const auto& t = c.machine().tensor;
  c.require(stationary.free_size() <= t.columns, "matmul-size",
            "stationary has more than 128 columns", describe(stationary),
            "cut M into pieces of 128");
  const int most = dst.dtype == DType::kBf16 ? t.max_moving_bf16 : t.max_moving_f32;
  c.require(moving.free_size() <= most, "matmul-size",
            "moving has too many columns for one product", describe(moving),
            cat("cut N into pieces of ", most));
  c.require(dst.partitions == stationary.free_size() && dst.free_size() == moving.free_size(),
            "matmul-shape", "dst must be [stationary columns, moving columns]",
            describe(dst) + ", " + describe(stationary) + ", " + describe(moving),
            "slice dst to [M, N]");
  c.require(dst.dtype == DType::kF32 ||
                (dst.dtype == DType::kBf16 && c.machine().types.matmul_bf16_result),
            "matmul-dtype", "the result in PSUM must be f32 on this generation", describe(dst),
            "use an f32 PSUM tile and convert when copying it out");
  for (const Tile* operand : {&stationary, &moving})
    c.require(matmul_dtype(operand->dtype, c.machine()), "matmul-dtype",
              "TensorE does not multiply this dtype on this generation", describe(*operand),
              "convert to bf16, f16, tf32 or f32 first");
  c.require(wide(stationary.dtype) == wide(moving.dtype), "matmul-dtype",
            "f32 and tf32 operands pair only with f32 and tf32",
            describe(stationary) + ", " + describe(moving), "convert one operand");
  const auto mixes = [](const Tile& a, const Tile& b) {
    return a.dtype == DType::kF8E4M3 && b.dtype == DType::kF8E4M3Fn;
  };
  c.require(!mixes(stationary, moving) && !mixes(moving, stationary), "matmul-dtype",
            "f8e4m3fn does not pair with f8e4m3", describe(stationary) + ", " + describe(moving),
            "convert one operand");
}

void NcMatmul::execute(Memory& m) const {
  std::vector<float> packed_a, packed_b, result;
  const Matrix a = matrix(m, stationary, packed_a);
  const Matrix b = matrix(m, moving, packed_b);
  const auto rows = static_cast<std::size_t>(dst.partitions);
  const auto columns = static_cast<std::size_t>(dst.free_size());
  const auto depth = static_cast<std::size_t>(stationary.partitions);
  if (onezero && stationary.dtype == DType::kF32 && !only_zero_and_one(a, depth, rows) &&
      !only_zero_and_one(b, depth, columns))
    m.report("onezero-broken", "onezero was promised, but neither operand holds only 0 and 1");
  result.assign(rows * columns, 0.0F);
  if (accumulate) {
    for (int r = 0; r < dst.partitions; ++r) {
      m.check_accumulate(dst, r);
      m.begin_row();
      const auto row = m.load(dst, r);
      std::copy(row.begin(), row.end(), result.begin() + static_cast<std::ptrdiff_t>(columns) * r);
    }
  }
  matmul_fixed_order(rows, columns, stationary.partitions, a.data, a.stride, b.data, b.stride,
                     result.data(), columns, accumulate);
  for (int r = 0; r < dst.partitions; ++r)
    m.store(dst, r, {result.data() + columns * static_cast<std::size_t>(r), columns},
            ByteState::kTensorWritten);
}

}  // namespace krait::isa
