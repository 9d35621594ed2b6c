#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// r[p,-1] = init[p];  dst[p,i] = r[p,i] = op1(op0(a[p,i], r[p,i-1]), b[p,i]); reverse0 and
/// reverse1 swap the operands of their operator. f32 arithmetic; the running value stays f32 and is
/// not rounded to dst's dtype (KLR). Source: ISA32.
struct TensorTensorScan {
  Tile dst, a, b;  // [P, F]
  Operand init;    // [P, 1] f32 or constant
  AluOp op0 = AluOp::kMultiply;
  AluOp op1 = AluOp::kAdd;
  bool reverse0 = false;
  bool reverse1 = false;

  static constexpr InsnInfo info{
      .name = "tensor_tensor_scan",
      .engine = Engine::kVector,
      .summary = "first-order recurrence along the free axis",
      .formula = "dst[p,i] = op1(op0(a[p,i], dst[p,i-1]), b[p,i])",
      .cost_source = {Evidence::kDocumented,
                      "ISA26: max(MIN_II, 2N); later editions give none, so 2N is kept"}};

  static constexpr auto fields() {
    using T = TensorTensorScan;
    return std::tuple{out("dst", &T::dst),
                      in("a", &T::a),
                      in("b", &T::b),
                      operand("init", &T::init),
                      attr("op0", &T::op0),
                      attr("op1", &T::op1),
                      attr("reverse0", &T::reverse0),
                      attr("reverse1", &T::reverse1)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("a", a), c.present("b", b);
    c.on_chip("dst", dst), c.on_chip("a", a), c.on_chip("b", b);
    c.same_shape("dst", dst, "a", a);
    c.same_shape("a", a, "b", b);
    c.not_both_psum("a", a, "b", b);
    c.vector_operand("init", init, dst);
    c.vector_op("op0", op0), c.vector_op("op1", op1, false);
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(a, p), y = m.load(b, p);
      const float start = m.load(init, p);
      const auto row = m.stage(dst, p);
      run(x, y, start, row);
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), s.vector_rates.scan, {&dst, &a, &b});
  }

 private:
  void run(std::span<const float> x, std::span<const float> y, float state,
           std::span<float> row) const {
    if (op0 == AluOp::kMultiply && op1 == AluOp::kAdd) {
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = state = x[i] * state + y[i];
      return;
    }
    const auto step = [](AluOp op, float left, float right, bool reverse) {
      return reverse ? apply(op, right, left) : apply(op, left, right);
    };
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = state = step(op1, step(op0, x[i], state, reverse0), y[i], reverse1);
  }
};

}  // namespace krait::isa
