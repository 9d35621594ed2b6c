#include "krait/dsl/builder.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::dsl {
namespace {

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

KernelBuilder::KernelBuilder(std::string name, const MachineSpec& machine)
    : machine_(machine),
      sbuf_(static_cast<std::int64_t>(machine.sbuf_usable_bytes_per_partition())),
      psum_(static_cast<std::int64_t>(machine.geometry.psum_bytes_per_partition.value)),
      blocks_(1),
      scopes_(1) {
  program_.name = std::move(name);
  program_.machine = std::string(machine.name());
}

Hbm KernelBuilder::input(const std::string& name, DType dtype, Shape shape) {
  return hbm(name, ir::BufferKind::kInput, dtype, std::move(shape));
}
Hbm KernelBuilder::output(const std::string& name, DType dtype, Shape shape) {
  return hbm(name, ir::BufferKind::kOutput, dtype, std::move(shape));
}
Hbm KernelBuilder::internal(const std::string& name, DType dtype, Shape shape) {
  return hbm(name, ir::BufferKind::kInternal, dtype, std::move(shape));
}

Hbm KernelBuilder::hbm(const std::string& name, ir::BufferKind kind, DType dtype, Shape shape) {
  Hbm out;
  out.builder_ = this;
  out.buffer_ = static_cast<std::uint32_t>(program_.buffers.size());
  out.dtype_ = dtype;
  out.shape_ = shape;
  ir::Buffer buffer;
  buffer.name = name;
  buffer.kind = kind;
  buffer.dtype = dtype;
  buffer.bytes = element_count(shape) * static_cast<std::int64_t>(size_of(dtype));
  buffer.shape = std::move(shape);
  program_.buffers.push_back(std::move(buffer));
  return out;
}

Ref KernelBuilder::sbuf(const std::string& name, DType dtype, std::int64_t partitions,
                        std::initializer_list<std::int64_t> free, std::int64_t rotate) {
  return on_chip(isa::Space::kSbuf, name, dtype, partitions, free, rotate);
}
Ref KernelBuilder::psum(const std::string& name, DType dtype, std::int64_t partitions,
                        std::initializer_list<std::int64_t> free, std::int64_t rotate) {
  return on_chip(isa::Space::kPsum, name, dtype, partitions, free, rotate);
}

Affine KernelBuilder::iteration() const {
  Affine linear;
  for (const std::uint16_t loop : open_loops_)
    linear = linear * program_.extents[loop] + Affine::index(loop);
  return linear;
}

Ref KernelBuilder::on_chip(isa::Space space, const std::string& name, DType dtype,
                           std::int64_t partitions, std::initializer_list<std::int64_t> free,
                           std::int64_t rotate) {
  isa::Tile tile;
  tile.space = space;
  tile.dtype = dtype;
  tile.buffer = static_cast<std::uint32_t>(program_.buffers.size());
  tile.partitions = static_cast<std::uint16_t>(partitions);
  tile.rank = static_cast<std::uint8_t>(free.size());
  std::int64_t step = 1;
  std::size_t d = free.size();
  for (auto count = std::rbegin(free); count != std::rend(free); ++count) {
    tile.dims[--d] = {step, *count};
    step *= *count;
  }
  if (open_loops_.empty()) rotate = 1;
  const std::int64_t bytes = ir::on_chip_bytes(space, step * tile.element_bytes());
  Allocator& allocator = space == isa::Space::kSbuf ? sbuf_ : psum_;
  const auto address = allocator.take(bytes * rotate, space == isa::Space::kPsum ? isa::kPsumBankBytes : 64);
  if (!address) out_of_space(space, name, bytes * rotate);
  scopes_.back().push_back({space, *address, bytes * rotate});

  ir::Buffer buffer;
  buffer.name = name;
  buffer.space = space;
  buffer.dtype = dtype;
  buffer.shape = {partitions, step};
  buffer.address = *address;
  buffer.bytes = bytes;
  buffer.rotations = rotate;
  program_.buffers.push_back(std::move(buffer));

  Offset offset{.base = Affine(*address)};
  if (rotate > 1) {
    offset.count = iteration();
    offset.modulus = rotate;
    offset.stride = bytes;
  }
  return Ref(this, tile, std::move(offset));
}

void KernelBuilder::out_of_space(isa::Space space, const std::string& name, std::int64_t bytes) const {
  const Allocator& allocator = space == isa::Space::kSbuf ? sbuf_ : psum_;
  const char* label = space == isa::Space::kSbuf ? "SBUF" : "PSUM";
  throw UserError(Report{cat("capacity: ", label, " has no room for '", name, "'"),
                         cat("kernel ", program_.name, ", machine ", program_.machine),
                         cat(bytes, " bytes per partition wanted, largest gap ", allocator.largest_gap(),
                             ", free ", allocator.available(), " of ", allocator.capacity()),
                         "use smaller tiles, fewer pool buffers, or end scopes earlier"});
}

void KernelBuilder::scope(const std::function<void()>& body) {
  scopes_.emplace_back();
  body();
  for (const Held& held : scopes_.back())
    (held.space == isa::Space::kSbuf ? sbuf_ : psum_).give_back(held.address, held.bytes);
  scopes_.pop_back();
}

void KernelBuilder::loop(std::int64_t count, const std::function<void(const Affine&)>& body) {
  if (count <= 0) return;
  if (count == 1) {
    scope([&] { body(Affine(0)); });
    return;
  }
  const auto id = static_cast<std::uint16_t>(program_.extents.size());
  program_.extents.push_back(count);
  open_loops_.push_back(id);
  blocks_.emplace_back();
  scope([&] { body(Affine::index(id)); });
  ir::Loop loop{id, std::move(blocks_.back())};
  blocks_.pop_back();
  open_loops_.pop_back();
  blocks_.back().push_back(ir::Node{std::move(loop)});
}

void KernelBuilder::tiles(std::int64_t total, std::int64_t step,
                          const std::function<void(const Affine&, std::int64_t)>& body) {
  loop(total / step, [&](const Affine& i) { body(i * step, step); });
  const std::int64_t tail = total % step;
  if (tail != 0) scope([&] { body(Affine(total - tail), tail); });
}

isa::Tile KernelBuilder::resolve(isa::Tile tile, const Offset& offset) {
  // The offset at iteration 0 stands in until the tile is bound, so that rules which look at an
  // address (PSUM bank) see a possible one.
  tile.offset = offset.base.constant;
  if (!offset.is_constant()) tile.expr = ir::intern(program_, offset);
  return tile;
}

void KernelBuilder::append(const isa::InsnDef& def, const void* insn, const char* file, int line) {
  ir::Insn node;
  node.def = &def;
  node.object.resize(def.size);
  std::memcpy(node.self(), insn, def.size);
  node.where = cat(file_name(file), ":", line);
  auto violations = isa::check(def, node.self(), machine_);
  isa::for_each_tile(def, node.self(), [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    for (auto& v : ir::verify_tile(program_, field.name, tile, machine_)) violations.push_back(std::move(v));
  });
  if (!violations.empty()) {
    const isa::Violation& v = violations.front();
    throw UserError(Report{cat(v.rule, ": ", def.info.name, ": ", v.what),
                           cat("kernel ", program_.name, ", instruction ", emitted_, " (", node.where,
                               "), machine ", program_.machine),
                           v.got, v.fix});
  }
  ++emitted_;
  blocks_.back().push_back(ir::Node{std::move(node)});
}

ir::Program KernelBuilder::finish() {
  KRAIT_ASSERT(blocks_.size() == 1 && open_loops_.empty());
  program_.body = std::move(blocks_.back());
  blocks_.back().clear();
  return std::move(program_);
}

}  // namespace krait::dsl
