#include "krait/kernels/scan/scan.hpp"

#include <algorithm>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::kernels {
namespace {

constexpr const char* kWhere = "device kernels scan_*";

Hbm declare(KernelBuilder& kb, const Problem& problem, const std::string& name,
            const Shape& shape) {
  const TensorType& type = problem.input(name);
  if (type.dtype != DType::kF32)
    throw UserError(Report{cat(name, " must be f32"), kWhere, std::string(krait::name(type.dtype)),
                           cat("convert ", name, " to f32")});
  if (type.shape != shape)
    throw UserError(Report{cat(name, " has another shape than the others ask for"), kWhere,
                           cat(to_string(type.shape), ", wanted ", to_string(shape)),
                           "check the dimensions"});
  return kb.input(name, type.dtype, shape);
}

Hbm declare_if(KernelBuilder& kb, const Problem& problem, const std::string& name,
               const Shape& shape) {
  return problem.has(name) ? declare(kb, problem, name, shape) : Hbm{};
}

// B and C: the rank tells the kind; a grouped one sets `groups`.
ScanMatrix declare_matrix(KernelBuilder& kb, const Problem& problem, const std::string& name,
                          ScanIo& io) {
  const Shape& given = problem.input(name).shape;
  if (given.size() == 2) return {declare(kb, problem, name, {io.d_inner, io.d_state}), true};
  if (given.size() != 4)
    return {declare(kb, problem, name, {io.batch, io.d_state, io.length}), false};
  const std::int64_t groups = given[1];
  const bool agree = groups == 1 || io.groups == 1 || groups == io.groups;
  if (groups < 1 || io.d_inner % groups != 0 || !agree)
    throw UserError(Report{cat("the groups of ", name, " do not fit"), kWhere,
                           cat(groups, " groups, d_inner ", io.d_inner),
                           "B and C need one number of groups that divides d_inner, or one group"});
  io.groups = std::max(io.groups, groups);
  return {declare(kb, problem, name, {io.batch, groups, io.d_state, io.length}), false};
}

}  // namespace

Ref ScanIo::states(const ScanMatrix& m, const Affine& batch_index, const Affine& group,
                   std::int64_t s, std::int64_t count, const Affine& t, std::int64_t n) const {
  const Shape& shape = m.tensor.shape();
  const bool shared = shape.size() == 4 && shape[1] == 1;  // one group for all that the other has
  const Affine start = shape.size() == 4
                           ? m.tensor.at({batch_index, shared ? Affine(0) : group, Affine(s), t})
                           : m.tensor.at({batch_index, Affine(s), t});
  return m.tensor.view(start, length, count, {{1, n}});
}

ScanIo declare_scan(KernelBuilder& kb, const Problem& problem) {
  ScanIo io;
  const Shape& u = problem.input("u").shape;
  const Shape& a = problem.input("A").shape;
  if (u.size() != 3 || a.size() != 2)
    throw UserError(Report{"u must be [batch, d_inner, length] and A [d_inner, d_state]", kWhere,
                           to_string(u) + ", " + to_string(a), "check the ranks"});
  io.batch = u[0], io.d_inner = u[1], io.length = u[2], io.d_state = a[1];
  if (element_count(u) < 1 || io.d_state < 1)
    throw UserError(Report{"every dimension must be at least 1", kWhere,
                           to_string(u) + ", " + to_string(a), "drop empty calls"});
  io.softplus = attr_flag(problem.attrs, "delta_softplus", false);
  io.u = declare(kb, problem, "u", u);
  io.delta = declare(kb, problem, "delta", u);
  io.a = declare(kb, problem, "A", {io.d_inner, io.d_state});
  io.b = declare_matrix(kb, problem, "B", io);
  io.c = declare_matrix(kb, problem, "C", io);
  io.d = declare_if(kb, problem, "D", {io.d_inner});
  io.z = declare_if(kb, problem, "z", u);
  io.delta_bias = declare_if(kb, problem, "delta_bias", {io.d_inner});
  io.initial_state = declare_if(kb, problem, "initial_state", {io.batch, io.d_inner, io.d_state});
  io.out = kb.output("out", DType::kF32, u);
  io.last_state = kb.output("last_state", DType::kF32, {io.batch, io.d_inner, io.d_state});
  return io;
}

void emit_dt(KernelBuilder& kb, const ScanIo& io, const Ref& dt, const Ref& delta,
             const Ref& bias) {
  isa::Activation act{
      .dst = dt, .data = delta, .fn = io.softplus ? UnaryFn::kSoftplus : UnaryFn::kCopy};
  if (bias.present()) act.bias = bias;
  kb.emit(act);
}

}  // namespace krait::kernels
