#include "krait/dsl/ref.hpp"

#include <algorithm>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/dsl/builder.hpp"

namespace krait::dsl {
namespace {

void require(bool ok, const std::string& what, const isa::Tile& tile) {
  if (!ok)
    throw UserError(Report{what, "a view in a kernel", describe(tile), "stay inside the tile"});
}

}  // namespace

Ref Ref::partitions(std::int64_t start, std::int64_t count) const {
  require(
      start >= 0 && count >= 1 && count <= tile_.partitions && start <= tile_.partitions - count,
      cat("partitions ", start, " .. ", start + count, " do not exist"), tile_);
  Ref out = *this;
  out.tile_.partitions = static_cast<std::uint16_t>(count);
  if (tile_.in_hbm())
    out.offset_.base =
        out.offset_.base + Affine(start * tile_.partition_step * tile_.element_bytes());
  else
    out.tile_.partition = static_cast<std::uint16_t>(tile_.partition + start);
  return out;
}

Ref Ref::slice(std::size_t dim, const Affine& start, std::int64_t count, std::int64_t step) const {
  require(dim < rank() && count >= 1, cat("cannot take ", count, " positions of dimension ", dim),
          tile_);
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // keeps the products below in range
  require(count <= kMost && -kMost <= step && step <= kMost, "a slice is larger than any tile",
          tile_);
  if (start.is_constant()) {
    require(-kMost <= start.constant && start.constant <= kMost, "a slice starts beyond any tile",
            tile_);
    const std::int64_t last = start.constant + (count - 1) * step;
    require(start.constant >= 0 && last >= 0 && std::max(start.constant, last) < extent(dim),
            cat("positions ", start.constant, " .. ", last, " of dimension ", dim, " do not exist"),
            tile_);
  }
  Ref out = *this;
  isa::Dim& d = out.tile_.dims[dim];
  out.offset_.base = out.offset_.base + start * (d.step * tile_.element_bytes());
  d = {d.step * step, count};
  return out;
}

Ref Ref::split(std::int64_t outer, std::int64_t inner) const {
  const isa::Dim last = tile_.dims[rank() - 1];
  require(rank() < isa::kMaxFreeDims && outer >= 1 && inner >= 1 && last.count % inner == 0 &&
              last.count / inner == outer,
          cat("cannot split the innermost dimension into ", outer, " x ", inner), tile_);
  Ref out = *this;
  out.tile_.dims[rank() - 1] = {last.step * inner, outer};
  out.tile_.dims[out.tile_.rank++] = {last.step, inner};
  return out;
}

Ref Ref::merge(std::size_t dim) const {
  require(dim + 1 < rank(), cat("dimension ", dim, " has no next one to join"), tile_);
  const isa::Dim outer = tile_.dims[dim], inner = tile_.dims[dim + 1];
  require(outer.count == 1 || inner.count == 1 || outer.step == inner.step * inner.count,
          cat("dimensions ", dim, " and ", dim + 1, " are not contiguous"), tile_);
  Ref out = *this;
  auto& dims = out.tile_.dims;
  dims[dim] = {inner.count == 1 ? outer.step : inner.step, outer.count * inner.count};
  std::move(dims.begin() + static_cast<std::ptrdiff_t>(dim) + 2, dims.end(),
            dims.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
  --out.tile_.rank;
  return out;
}

Ref Ref::broadcast(std::size_t dim, std::int64_t count) const {
  require(rank() < isa::kMaxFreeDims && dim <= rank() && count >= 1,
          cat("cannot broadcast ", count, " times at dimension ", dim), tile_);
  Ref out = *this;
  auto& dims = out.tile_.dims;
  std::move_backward(dims.begin() + static_cast<std::ptrdiff_t>(dim),
                     dims.begin() + static_cast<std::ptrdiff_t>(rank()),
                     dims.begin() + static_cast<std::ptrdiff_t>(rank()) + 1);
  dims[dim] = {0, count};
  ++out.tile_.rank;
  return out;
}

Ref Ref::rotating(const Affine& count) const {
  require(rank() > 1 && offset_.modulus == 1, "only the outermost of several dimensions can rotate",
          tile_);
  Ref out = *this;
  auto& dims = out.tile_.dims;
  if (dims[0].count > 1) {
    out.offset_.count = count;
    out.offset_.modulus = dims[0].count;
    out.offset_.stride = dims[0].step * tile_.element_bytes();
  }
  std::move(dims.begin() + 1, dims.end(), dims.begin());
  --out.tile_.rank;
  return out;
}

Ref Ref::swap(std::size_t a, std::size_t b) const {
  require(a < rank() && b < rank(), "cannot exchange dimensions that do not exist", tile_);
  Ref out = *this;
  std::swap(out.tile_.dims[a], out.tile_.dims[b]);
  return out;
}

Ref::operator isa::Tile() const {
  if (!present()) return isa::Tile{};
  return builder_->resolve(tile_, offset_);
}

Ref::operator isa::Operand() const {
  return isa::Operand(static_cast<isa::Tile>(*this));
}

std::int64_t Hbm::dim(std::size_t axis) const {
  if (axis >= shape_.size())
    throw UserError(Report{cat("a tensor has no axis ", axis), "a tensor in a kernel",
                           to_string(shape_), "count axes from 0"});
  return shape_[axis];
}

std::int64_t Hbm::stride(std::size_t axis) const {
  (void)dim(axis);
  std::int64_t step = 1;
  for (std::size_t a = axis + 1; a < shape_.size(); ++a) step *= shape_[a];
  return step;
}

Affine Hbm::at(std::initializer_list<Affine> index) const {
  if (index.size() != shape_.size())
    throw UserError(Report{"an index needs one entry for each axis", "a tensor in a kernel",
                           cat(index.size(), " entries for ", to_string(shape_)),
                           "index every axis"});
  Affine offset;
  std::size_t axis = 0;
  for (const Affine& i : index) offset = offset + i * stride(axis++);
  return offset;
}

Ref Hbm::view(const Affine& offset, std::int64_t partition_step, std::int64_t partitions,
              std::initializer_list<isa::Dim> dims) const {
  const auto need = [&](bool ok, const char* what, const char* fix) {
    if (!ok)
      throw UserError(Report{
          what, "a view of a tensor in a kernel",
          cat(partitions, " rows, ", dims.size(), " dimensions of ", to_string(shape_)), fix});
  };
  need(present(), "the tensor is not given", "make it with input(), output() or internal()");
  need(partitions >= 1 && partitions <= 0xFFFF, "a view has 1 to 65535 rows", "cut it into tiles");
  need(dims.size() >= 1 && dims.size() <= isa::kMaxFreeDims, "a view has 1 to 4 free dimensions",
       "merge dimensions that follow one another");
  isa::Tile tile;
  tile.space = isa::Space::kHbm;
  tile.dtype = dtype_;
  tile.buffer = buffer_;
  tile.partitions = static_cast<std::uint16_t>(partitions);
  tile.partition_step = partition_step;
  tile.rank = static_cast<std::uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), tile.dims.begin());
  return Ref(builder_, tile, Offset{.base = offset * tile.element_bytes()});
}

}  // namespace krait::dsl
