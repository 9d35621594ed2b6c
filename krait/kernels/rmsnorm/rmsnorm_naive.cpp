// RMSNorm as three operators that each read and write HBM, the way a framework runs it operator by
// operator: square (x -> HBM), reduce (squares -> row factors in HBM), scale (x, factors -> HBM).
// Five row transfers: x, squares out, squares in, x again, y. Bound: those bytes over the DMA rate.

#include <algorithm>

#include "krait/kernels/rmsnorm/rmsnorm.hpp"

namespace krait::kernels {
namespace {

void square_pass(KernelBuilder& kb, const RmsnormIo& io, const Hbm& squares, std::int64_t chunk) {
  kb.tiles(io.rows, 128, [&](const Affine&, const Affine& row, std::int64_t p) {
    kb.tiles(io.width, chunk, [&](const Affine&, const Affine& from, std::int64_t n) {
      const Ref x = kb.sbuf("x", io.dtype, p, {n}, 3);
      const Ref sq = kb.sbuf("square", io.dtype, p, {n}, 2);
      load(kb, x, io.tile(io.x, row, p, from, n));
      kb.emit(isa::Activation{.dst = sq, .data = x, .fn = UnaryFn::kSquare});
      store(kb, io.tile(squares, row, p, from, n), sq);
    });
  });
}

void reduce_pass(KernelBuilder& kb, const RmsnormIo& io, const Hbm& squares, const Hbm& factors,
                 std::int64_t chunk) {
  const std::int64_t pieces = (io.width + chunk - 1) / chunk;
  const Ref eps = eps_tile(kb, io);
  kb.tiles(io.rows, 128, [&](const Affine&, const Affine& row, std::int64_t p) {
    const Ref sums = kb.sbuf("sums", DType::kF32, p, {pieces}, 2);
    kb.tiles(io.width, chunk, [&](const Affine& piece, const Affine& from, std::int64_t n) {
      const Ref sq = kb.sbuf("square", io.dtype, p, {n}, 3);
      load(kb, sq, io.tile(squares, row, p, from, n));
      kb.emit(isa::TensorReduce{.dst = sums.col(piece), .data = sq, .op = isa::AluOp::kAdd});
    });
    const Ref rstd = kb.sbuf("rstd", DType::kF32, p, {2}, 2);
    kb.emit(isa::TensorReduce{.dst = rstd.col(1), .data = sums, .op = isa::AluOp::kAdd});
    emit_rstd(kb, io, rstd.col(0), rstd.col(1), eps);
    store(kb, factors.view(row, 1, p, {{1, 1}}), rstd.col(0));
  });
}

// Columns outside, so that each piece of the weight is loaded once.
void scale_pass(KernelBuilder& kb, const RmsnormIo& io, const Hbm& factors, std::int64_t chunk) {
  const Ref one = one_tile(kb);
  kb.tiles(io.width, chunk, [&](const Affine&, const Affine& from, std::int64_t n) {
    const Ref weight = weight_tile(kb, io, one, from, n);
    kb.tiles(io.rows, 128, [&](const Affine&, const Affine& row, std::int64_t p) {
      const Ref x = kb.sbuf("x", io.dtype, p, {n}, 3);
      const Ref rstd = kb.sbuf("rstd", DType::kF32, p, {1}, 3);
      const Ref y = kb.sbuf("y", io.dtype, p, {n}, 2);
      load(kb, x, io.tile(io.x, row, p, from, n));
      load(kb, rstd, factors.view(row, 1, p, {{1, 1}}));
      kb.emit(isa::ScalarTensorTensor{.dst = y,
                                      .data = x,
                                      .other = weight.partitions(0, p),
                                      .operand0 = rstd,
                                      .op0 = isa::AluOp::kMultiply,
                                      .op1 = isa::AluOp::kMultiply});
      store(kb, io.tile(io.out, row, p, from, n), y);
    });
  });
}

ir::Program build(const MachineSpec& machine, const Problem& problem, const Params& params) {
  KernelBuilder kb("rmsnorm_naive", machine);
  const RmsnormIo io = declare_rmsnorm(kb, problem);
  const std::int64_t chunk = std::min(io.width, params.integer("chunk"));
  kb.param("chunk", std::to_string(chunk));
  const Hbm squares = kb.internal("squares", io.dtype, {io.rows, io.width});
  const Hbm factors = kb.internal("factors", DType::kF32, {io.rows});
  kb.scope([&] { square_pass(kb, io, squares, chunk); });
  kb.scope([&] { reduce_pass(kb, io, squares, factors, chunk); });
  kb.scope([&] { scale_pass(kb, io, factors, chunk); });
  return kb.finish();
}

}  // namespace

Kernel rmsnorm_naive() {
  return {"rmsnorm_naive",
          "rmsnorm",
          Form::kNaive,
          "square, reduce, scale; each reads and writes HBM (five row transfers)",
          {{"chunk", ParamKind::kInt, "4096", 1, 8192, {}, "columns of one tile"}},
          build};
}

}  // namespace krait::kernels
