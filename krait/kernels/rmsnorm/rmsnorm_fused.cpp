// RMSNorm in one pass on chip: x is loaded once, y stored once (two row transfers). Square and row
// sum run on ScalarE (activation with reduction), the scaling on VectorE, both behind the DMAs.
// Bound: 2 * rows * width * element bytes over the DMA rate; VectorE needs 2 cycles an element on
// v2. Rows too wide for SBUF are read twice (three transfers), for the sums and for the scaling.

#include <algorithm>

#include "krait/kernels/rmsnorm/rmsnorm.hpp"

namespace krait::kernels {
namespace {

struct Fused {
  KernelBuilder& kb;
  const RmsnormIo& io;
  std::int64_t chunk;
  Ref eps, one;

  // sums[:, piece] = sum of squares of x's columns.
  void square_sum(const Ref& x, const Ref& sum) {
    // The squares themselves are not used.
    const Ref square = kb.sbuf("square", DType::kBf16, x.partitions(), {x.free_size()});
    kb.emit(isa::Activation{.dst = square, .data = x, .reduce_res = sum, .fn = UnaryFn::kSquare});
  }

  void finish_rstd(const Ref& rstd, const Ref& sums) {
    if (sums.free_size() == 1) return emit_rstd(kb, io, rstd, sums, eps);
    const Ref total = kb.sbuf("total", DType::kF32, sums.partitions(), {1}, 2);
    kb.emit(isa::TensorReduce{.dst = total, .data = sums, .op = isa::AluOp::kAdd});
    emit_rstd(kb, io, rstd, total, eps);
  }

  void scale(const Ref& y, const Ref& x, const Ref& rstd, const Ref& weight) {
    kb.emit(isa::ScalarTensorTensor{.dst = y,
                                    .data = x,
                                    .other = weight,
                                    .operand0 = rstd,
                                    .op0 = isa::AluOp::kMultiply,
                                    .op1 = isa::AluOp::kMultiply});
  }

  // Whole rows stay in SBUF: two transfers.
  void resident() {
    const Ref weight = weight_tile(kb, io, one, 0, io.width);
    const std::int64_t pieces = (io.width + chunk - 1) / chunk;
    kb.tiles(io.rows, 128, [&](const Affine&, const Affine& row, std::int64_t p) {
      const Ref x = kb.sbuf("x", io.dtype, p, {io.width}, 2);
      const Ref sums = kb.sbuf("sums", DType::kF32, p, {pieces}, 2);
      const Ref rstd = kb.sbuf("rstd", DType::kF32, p, {1}, 2);
      load(kb, x, io.tile(io.x, row, p, 0, io.width));
      kb.tiles(io.width, chunk, [&](const Affine& piece, const Affine& from, std::int64_t n) {
        square_sum(x.cols(from, n), sums.col(piece));
      });
      finish_rstd(rstd, sums);
      kb.tiles(io.width, chunk, [&](const Affine&, const Affine& from, std::int64_t n) {
        const Ref y = kb.sbuf("y", io.dtype, p, {n}, 2);
        scale(y, x.cols(from, n), rstd, weight.partitions(0, p).cols(from, n));
        store(kb, io.tile(io.out, row, p, from, n), y);
      });
    });
  }

  // Rows do not fit: sums first, then the scaling with x loaded again. The second part has columns
  // outside, so that it loads each piece of the weight once, and all rows' factors in SBUF.
  void streamed() {
    const std::int64_t row_tiles = (io.rows + 127) / 128;
    const std::int64_t pieces = (io.width + chunk - 1) / chunk;
    const Ref rstd = kb.sbuf("rstd", DType::kF32, 128, {row_tiles});
    kb.tiles(io.rows, 128, [&](const Affine& tile, const Affine& row, std::int64_t p) {
      const Ref sums = kb.sbuf("sums", DType::kF32, p, {pieces}, 2);
      kb.tiles(io.width, chunk, [&](const Affine& piece, const Affine& from, std::int64_t n) {
        const Ref x = kb.sbuf("x", io.dtype, p, {n}, 3);
        load(kb, x, io.tile(io.x, row, p, from, n));
        square_sum(x, sums.col(piece));
      });
      finish_rstd(rstd.partitions(0, p).col(tile), sums);
    });
    kb.tiles(io.width, chunk, [&](const Affine&, const Affine& from, std::int64_t n) {
      const Ref weight = weight_tile(kb, io, one, from, n);
      kb.tiles(io.rows, 128, [&](const Affine& tile, const Affine& row, std::int64_t p) {
        const Ref x = kb.sbuf("x", io.dtype, p, {n}, 3);
        const Ref y = kb.sbuf("y", io.dtype, p, {n}, 2);
        load(kb, x, io.tile(io.x, row, p, from, n));
        scale(y, x, rstd.partitions(0, p).col(tile), weight.partitions(0, p));
        store(kb, io.tile(io.out, row, p, from, n), y);
      });
    });
  }
};

ir::Program build(const MachineSpec& machine, const Problem& problem, const Params& params) {
  KernelBuilder kb("rmsnorm_fused", machine);
  const RmsnormIo io = declare_rmsnorm(kb, problem);
  const std::int64_t chunk = std::min(io.width, params.integer("chunk"));
  kb.param("chunk", std::to_string(chunk));
  Fused fused{kb, io, chunk, eps_tile(kb, io), one_tile(kb)};
  // x twice, the weight with its row while it is spread, two y pieces, one scratch piece.
  const auto element = static_cast<std::int64_t>(size_of(io.dtype));
  const std::int64_t need =
      io.width * std::max<std::int64_t>(2 * element + 4, 8) + chunk * (2 * element + 2) + 4096;
  if (need <= kb.sbuf_available())
    fused.resident();
  else
    fused.streamed();
  return kb.finish();
}

}  // namespace

Kernel rmsnorm_fused() {
  return {"rmsnorm_fused",
          "rmsnorm",
          Form::kCustom,
          "one pass on chip: x loaded once, y stored once (two row transfers)",
          {{"chunk", ParamKind::kInt, "2048", 1, 8192, {}, "columns of one tile"}},
          build};
}

}  // namespace krait::kernels
