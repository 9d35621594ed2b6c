#include "krait/isa/checker.hpp"

#include "krait/base/text.hpp"

namespace krait::isa {
namespace {

std::string pair(std::string_view a_name, const Tile& a, std::string_view b_name, const Tile& b) {
  return cat(a_name, " = ", describe(a), ", ", b_name, " = ", describe(b));
}

// Legal first partitions for a tile of P partitions (A2):
//   P > 64  0
//   P > 32  0, 64
//   else    0, 32, 64, 96
bool legal_start(const Tile& t) {
  const int grid = t.partitions > 64 ? 128 : t.partitions > 32 ? 64 : 32;
  return t.partition % grid == 0 && t.partition + t.partitions <= kPartitions;
}

bool has_pack(const MachineSpec& m, DType dtype) {
  const auto& types = m.types;
  return dtype == DType::kF8E5M2x4     ? types.mx_f8e5m2_x4
         : dtype == DType::kF8E4M3Fnx4 ? types.mx_f8e4m3fn_x4
                                       : types.mx_f4e2m1fn_x4;
}

}  // namespace

void Checker::require(bool condition, std::string_view rule, std::string_view what,
                      std::string_view got, std::string_view fix) {
  if (condition) return;
  violations_.push_back({std::string(rule), std::string(what), std::string(got), std::string(fix)});
}

void Checker::present(std::string_view name, const Tile& t) {
  if (t.present()) return;
  violations_.push_back(
      {"operand-missing", cat(name, " is not given"), "none", cat("pass a tile as ", name)});
}

void Checker::same_partitions(std::string_view a_name, const Tile& a, std::string_view b_name,
                              const Tile& b) {
  if (a.partitions == b.partitions) return;
  violations_.push_back({"same-partitions",
                         cat(a_name, " and ", b_name, " cover different numbers of partitions"),
                         pair(a_name, a, b_name, b), "slice both to the same partitions"});
}

void Checker::same_free_size(std::string_view a_name, const Tile& a, std::string_view b_name,
                             const Tile& b) {
  if (a.free_size() == b.free_size()) return;
  violations_.push_back(
      {"same-free-size",
       cat(a_name, " and ", b_name, " have different element counts per partition"),
       pair(a_name, a, b_name, b), "give both the same free size (a step of 0 broadcasts)"});
}

void Checker::same_shape(std::string_view a_name, const Tile& a, std::string_view b_name,
                         const Tile& b) {
  same_partitions(a_name, a, b_name, b);
  same_free_size(a_name, a, b_name, b);
}

void Checker::same_dtype(std::string_view a_name, const Tile& a, std::string_view b_name,
                         const Tile& b) {
  if (a.dtype == b.dtype) return;
  violations_.push_back({"same-dtype", cat(a_name, " and ", b_name, " must have one dtype"),
                         pair(a_name, a, b_name, b), "convert one of them first (tensor_copy)"});
}

void Checker::not_both_psum(std::string_view a_name, const Tile& a, std::string_view b_name,
                            const Tile& b) {
  if (!(a.present() && b.present() && a.in_psum() && b.in_psum())) return;
  violations_.push_back(
      {"psum-operands", cat(a_name, " and ", b_name, " are both in PSUM; at most one may be"),
       pair(a_name, a, b_name, b), "copy one of them to SBUF first (tensor_copy)"});
}

void Checker::on_chip(std::string_view name, const Tile& t) {
  if (!t.in_hbm()) return;
  violations_.push_back({"operand-space",
                         cat(name, " lies in HBM; compute engines reach SBUF and PSUM only"),
                         describe(t), "load it into SBUF first (dma_copy)"});
}

void Checker::in_sbuf(std::string_view name, const Tile& t) {
  if (t.in_sbuf()) return;
  violations_.push_back({"operand-space", cat(name, " must lie in SBUF"), describe(t),
                         "copy it to SBUF first (tensor_copy, or dma_copy from HBM)"});
}

void Checker::in_psum(std::string_view name, const Tile& t) {
  if (t.in_psum()) return;
  violations_.push_back({"operand-space", cat(name, " must lie in PSUM"), describe(t),
                         "allocate it in PSUM and copy the result out (tensor_copy)"});
}

void Checker::vector_operand(std::string_view name, const Operand& operand, const Tile& like) {
  if (!operand.is_tile()) return;
  const Tile& t = operand.tile;
  per_partition(name, t, like);
  require(t.dtype == DType::kF32, "operand-dtype", cat(name, " must be f32"), describe(t),
          "keep per-partition operands in f32");
}

void Checker::per_partition(std::string_view name, const Tile& t, const Tile& like) {
  on_chip(name, t);
  require(t.free_size() == 1 && t.partitions == like.partitions, "per-partition-operand",
          cat(name, " must be [", like.partitions, " x 1], one element a partition"), describe(t),
          "slice one column over the same partitions");
}

void Checker::exists(bool available, std::string_view since, std::string_view fix) {
  if (available) return;
  violations_.push_back({"generation", cat("needs ", since, " or later"),
                         std::string(machine_.name()), std::string(fix)});
}

void Checker::vector_op(std::string_view name, AluOp op, bool first) {
  require(op != AluOp::kRsqrt, "engine-op", "VectorE has no rsqrt", cat(name, " = ", isa::name(op)),
          "use activation rsqrt, or tensor_scalar on GpSimdE");
  require(!is_bitwise(op), "alu-op",
          "bit operators work in tensor_tensor, tensor_scalar and tensor_reduce only",
          cat(name, " = ", isa::name(op)), "use one of them");
  const bool one_operand = op == AluOp::kSquare || op == AluOp::kRelu;
  const bool magnitude = op == AluOp::kAbsMax || op == AluOp::kAbsMin;
  require((!one_operand || machine_.isa.alu_square_relu) &&
              (!magnitude || machine_.isa.alu_abs_max_min),
          "alu-generation", cat(isa::name(op), " is an operator of v4 and later only"),
          cat(name, " = ", isa::name(op)),
          one_operand ? "use activation square or relu" : "take abs of both, then max or min");
  require(!one_operand || first, "alu-op", cat(isa::name(op), " may only be the first operator"),
          cat(name, " = ", isa::name(op)), "put it first, or use activation");
}

void Checker::integers(std::string_view a_name, const Tile& a, std::string_view b_name,
                       const Tile& b) {
  if (!a.present() || !b.present()) return;
  if (a.dtype == b.dtype && !is_float(a.dtype)) return;
  violations_.push_back(
      {"bit-dtype", cat("bit operators need ", a_name, " and ", b_name, " of one integer dtype"),
       pair(a_name, a, b_name, b), "convert first (tensor_copy), or use an arithmetic operator"});
}

void Checker::no_packed_cast(std::string_view a_name, const Tile& a, std::string_view b_name,
                             const Tile& b) {
  if (a.dtype == b.dtype || (!is_packed(a.dtype) && !is_packed(b.dtype))) return;
  violations_.push_back({"packed-cast",
                         cat(a_name, " and ", b_name, " must have one dtype if one is packed"),
                         pair(a_name, a, b_name, b), "quantize_mx makes packs; none unpacks them"});
}

bool Checker::tile(std::string_view name, const Tile& t, bool by_dma, bool packed) {
  if (!t.present()) return true;
  const auto bad = [&](std::string_view rule, const std::string& what, std::string_view fix) {
    violations_.push_back({std::string(rule), cat(name, " ", what), describe(t), std::string(fix)});
  };
  if (t.rank < 1 || t.rank > kMaxFreeDims) {
    violations_.push_back({"access-pattern", cat(name, " has ", int{t.rank}, " free dimensions"),
                           cat(t.partitions, " partitions"), "use 1 to 4 free dimensions"});
    return false;
  }
  for (std::size_t d = 0; d < t.rank; ++d) {
    if (t.dims[d].count >= 1) continue;
    bad("empty-tile", "has a dimension without elements", "skip empty tiles");
    return false;
  }
  if (!t.in_range()) {
    bad("access-pattern", "is larger than any memory", "check the counts and steps");
    return false;
  }
  if (t.offset % t.element_bytes() != 0)
    bad("alignment", cat("starts at byte ", t.offset, ", inside an element"),
        cat("start at a multiple of ", t.element_bytes(), " bytes"));
  if (is_packed(t.dtype) && !packed)
    bad("dtype", "has a packed MX type, which this instruction does not take",
        "use it with quantize_mx, nc_matmul_mx, copies and memset 0 only");
  else if (is_packed(t.dtype) && !has_pack(machine_, t.dtype))
    bad("dtype", "has a packed MX type, which this generation does not have",
        "pack on v4; use bf16 or f8 before");
  if (t.in_hbm()) return true;
  if (t.dtype == DType::kF64 || t.dtype == DType::kI64)
    bad("dtype", "has a 64-bit type, which no engine reads", "use f32 or i32 on chip");
  if (by_dma) {
    if (t.partition + t.partitions > kPartitions)
      bad("partition-start", cat("reaches past partition 127: ", t.partition, " + ", t.partitions),
          "use fewer partitions");
    return true;
  }
  if (!legal_start(t))
    bad("partition-start",
        cat("starts at partition ", t.partition, " with ", t.partitions, " partitions"),
        "start at 0 (65..128 partitions), 0 or 64 (33..64), or 0, 32, 64, 96 (up to 32)");
  const auto limit = t.in_psum() ? machine_.access.max_psum_elements.value
                                 : machine_.access.max_sbuf_elements.value;
  if (static_cast<std::uint64_t>(t.free_size()) > limit)
    bad("free-size", cat("has more than ", limit, " elements per partition"), "cut the free axis");
  for (std::size_t d = 0; d < t.rank; ++d)
    if (t.dims[d].step > 32767 || t.dims[d].step < -32768 || t.dims[d].count > 65535)
      bad("access-pattern", "has a step beyond int16 or a count beyond uint16",
          "split the access or choose a denser layout");
  return true;
}

}  // namespace krait::isa
