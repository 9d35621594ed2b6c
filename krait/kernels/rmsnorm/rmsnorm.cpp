#include "krait/kernels/rmsnorm/rmsnorm.hpp"

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::kernels {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& fix) {
  throw UserError(Report{what, "device kernels rmsnorm_*", got, fix});
}

}  // namespace

RmsnormIo declare_rmsnorm(KernelBuilder& kb, const Problem& problem) {
  RmsnormIo io;
  const TensorType& x = problem.input("x");
  const TensorType& weight = problem.input("weight");
  if (problem.has("z"))
    refuse("the device kernels have no gate", "input z",
           "use backend cpu or ref for gated RMSNorm");
  if (x.shape.empty() || (x.dtype != DType::kF32 && x.dtype != DType::kBf16))
    refuse("x must be f32 or bf16 with at least one dimension",
           cat(name(x.dtype), " ", to_string(x.shape)), "convert x");
  io.width = x.shape.back();
  io.rows = element_count(x.shape) / std::max<std::int64_t>(io.width, 1);
  io.eps = attr_real(problem.attrs, "eps", 1e-5);
  io.dtype = x.dtype;
  const std::int64_t group = attr_int(problem.attrs, "group_size", io.width);
  if (group != io.width)
    refuse("the device kernels normalise whole rows",
           cat("group_size ", group, ", width ", io.width), "use backend cpu or ref for groups");
  if (weight.shape != Shape{io.width})
    refuse("weight must be [width]", to_string(weight.shape), cat("give ", io.width, " weights"));
  io.x = kb.input("x", x.dtype, x.shape);
  io.weight = kb.input("weight", weight.dtype, weight.shape);
  io.out = kb.output("out", x.dtype, x.shape);
  return io;
}

Ref one_tile(KernelBuilder& kb) {
  Ref one = kb.sbuf("one", DType::kF32, 1, {1});
  kb.emit(isa::Memset{.dst = one, .value = 1});
  return one;
}

Ref weight_tile(KernelBuilder& kb, const RmsnormIo& io, const Ref& one, const Affine& from,
                std::int64_t n) {
  Ref weight = kb.sbuf("weight", DType::kF32, 128, {n});
  kb.scope([&] {
    const Ref row = kb.sbuf("weight_row", DType::kF32, 1, {n});
    load(kb, row, io.weight.view(from, 0, 1, {{1, n}}));
    kb.tiles(n, kBankColumns, [&](const Affine&, const Affine& column, std::int64_t size) {
      const Ref bank = kb.psum("weight_psum", DType::kF32, 128, {size}, 2);
      broadcast_row(kb, bank, one, row.cols(column, size), 0);
      kb.emit(isa::TensorCopy{.dst = weight.cols(column, size), .src = bank});
    });
  });
  return weight;
}

Ref eps_tile(KernelBuilder& kb, const RmsnormIo& io) {
  Ref eps = kb.sbuf("eps", DType::kF32, 128, {1});
  kb.emit(isa::Memset{.dst = eps, .value = static_cast<float>(io.eps)});
  return eps;
}

void emit_rstd(KernelBuilder& kb, const RmsnormIo& io, const Ref& rstd, const Ref& sum,
               const Ref& eps) {
  kb.emit(isa::Activation{.dst = rstd,
                          .data = sum,
                          .scale = static_cast<float>(1.0 / static_cast<double>(io.width)),
                          .bias = eps.partitions(0, sum.partitions()),
                          .fn = UnaryFn::kRsqrt});
}

}  // namespace krait::kernels
