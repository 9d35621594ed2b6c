#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// Reduces the `axes` innermost free dimensions of data with op, left to right in f32; negate flips
/// the sign of the result. bitwise_and, _or and _xor work on the bits of integers of one dtype. dst
/// holds one element for each position of the remaining dimensions.
/// Source: ISA32.
struct TensorReduce {
  Tile dst, data;  // dst [P, F / reduced], data [P, F]
  AluOp op = AluOp::kAdd;
  std::int32_t axes = 1;  // dims of data's pattern, counted from the innermost
  bool negate = false;

  static constexpr InsnInfo info{
      .name = "tensor_reduce",
      .engine = Engine::kVector,
      .summary = "reduction along trailing free dimensions",
      .formula = "dst[p,j] = op over i of data[p,j,i]",
      .cost_source = {Evidence::kDocumented,
                      "ISA26: N/2 if in and out bf16 and add or max, else N"}};

  static constexpr auto fields() {
    using T = TensorReduce;
    return std::tuple{out("dst", &T::dst), in("data", &T::data), attr("op", &T::op),
                      attr("axes", &T::axes), attr("negate", &T::negate)};
  }

  static TensorReduce sample(const SampleShape& s) { return {.dst = s.out(1), .data = s.in()}; }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_partitions("dst", dst, "data", data);
    c.require(axes >= 1 && axes <= data.rank, "reduce-axes",
              "axes must name 1 .. rank trailing dimensions", attr_text(axes),
              "the partition axis cannot be reduced here (use a TensorE product)");
    c.require(reduces(op), "reduce-op", "this operator is not a reduction", attr_text(op),
              "use add, subtract, multiply, max, min, a logical or a bitwise operator");
    if (is_bitwise(op)) {
      c.integers("dst", dst, "data", data);
      c.require(!negate, "reduce-op", "bits have no sign to flip", attr_text(op),
                "leave negate out");
    }
    if (data.present() && axes >= 1 && axes <= data.rank)
      c.require(dst.free_size() == data.free_size() / inner(), "reduce-shape",
                "dst must have one element for each position of the dimensions kept",
                describe(dst) + ", " + describe(data), "give dst the leading dimensions of data");
  }

  void execute(Memory& m) const {
    if (is_bitwise(op)) return execute_bits(m);
    const auto length = static_cast<std::size_t>(inner());
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      const auto row = m.scratch(static_cast<std::size_t>(dst.free_size()));
      for (std::size_t j = 0; j < row.size(); ++j) {
        const float r = reduce_row(op, x.subspan(j * length, length), identity(op));
        row[j] = negate ? -r : r;
      }
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const bool narrow = data.dtype == DType::kBf16 && dst.dtype == DType::kBf16 &&
                        (op == AluOp::kAdd || op == AluOp::kMax);
    const double rate = narrow ? s.vector_rates.reduce_bf16 : s.vector_rates.base;
    return vector_time(s, data.free_size(), rate, {&dst, &data});
  }

 private:
  void execute_bits(Memory& m) const {
    const auto length = static_cast<std::size_t>(inner());
    const int width = static_cast<int>(8 * dst.element_bytes());
    std::vector<std::uint32_t> x(static_cast<std::size_t>(data.free_size())), out;
    for (int p = 0; p < dst.partitions; ++p) {
      m.load_words(data, p, x);
      out.assign(x.size() / length, op == AluOp::kBitwiseAnd ? 0xFFFFFFFFU : 0U);
      for (std::size_t i = 0; i < x.size(); ++i)
        out[i / length] = apply_bits(op, out[i / length], x[i], width);
      m.store_words(dst, p, out);
    }
  }
  [[nodiscard]] std::int64_t inner() const {
    std::int64_t n = 1;
    for (std::int32_t d = 0; d < axes; ++d)
      n *= data.dims[static_cast<std::size_t>(data.rank - 1 - d)].count;
    return n;
  }
};

}  // namespace krait::isa
