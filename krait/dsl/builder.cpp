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

constexpr const char* kNames = "use letters, digits and _.-+/:%#@";

}  // namespace

KernelBuilder::KernelBuilder(std::string name, const MachineSpec& machine)
    : machine_(machine),
      sbuf_(static_cast<std::int64_t>(machine.sbuf_usable_bytes_per_partition())),
      psum_(static_cast<std::int64_t>(machine.geometry.psum_bytes_per_partition.value)),
      blocks_(1),
      scopes_(1) {
  program_.name = std::move(name);
  program_.machine = std::string(machine.name());
  if (!ir::is_name(program_.name))
    throw UserError(Report{"a kernel cannot have this name", "kernel builder",
                           cat("'", program_.name, "'"), kNames});
}

void KernelBuilder::refuse(const std::string& what, const std::string& got,
                           const std::string& fix) const {
  throw UserError(
      Report{what, cat("kernel ", program_.name, ", machine ", program_.machine), got, fix});
}

void KernelBuilder::param(const std::string& name, const std::string& value) {
  const bool plain = value.find('\n') == std::string::npos && !value.empty();
  if (!ir::is_name(name) || !plain)
    refuse("a parameter needs a name and one line of text", cat(name, " = ", value), kNames);
  program_.params[name] = value;
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
  if (!ir::is_name(name)) refuse("a tensor cannot have this name", cat("'", name, "'"), kNames);
  for (const ir::Buffer& b : program_.buffers)
    if (b.space == isa::Space::kHbm && b.name == name)
      refuse(cat("two tensors are called '", name, "'"),
             cat(to_string(b.shape), ", ", to_string(shape)),
             "give every HBM tensor a name of its own");
  const auto bytes = checked_bytes(dtype, shape);
  if (!bytes || *bytes > std::uint64_t{1} << 48)
    refuse(cat("tensor '", name, "' has an impossible shape"), to_string(shape),
           "use dimensions of at least 0 and a smaller product");
  Hbm out;
  out.builder_ = this;
  out.buffer_ = static_cast<std::uint32_t>(program_.buffers.size());
  out.dtype_ = dtype;
  out.shape_ = shape;
  ir::Buffer buffer;
  buffer.name = name;
  buffer.kind = kind;
  buffer.dtype = dtype;
  buffer.bytes = static_cast<std::int64_t>(*bytes);
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
  check_shape(space, name, partitions, free, rotate);
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
  const auto address =
      allocator.take(bytes * rotate, space == isa::Space::kPsum ? isa::kPsumBankBytes : 64);
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

void KernelBuilder::check_shape(isa::Space space, const std::string& name, std::int64_t partitions,
                                std::initializer_list<std::int64_t> free,
                                std::int64_t rotate) const {
  if (!ir::is_name(name)) refuse("a buffer cannot have this name", cat("'", name, "'"), kNames);
  const std::string got = cat(name, " = ", to_string(Shape(free)), " in ", partitions,
                              " partitions, ", rotate, " in rotation");
  if (partitions < 1 || partitions > isa::kPartitions)
    refuse(cat("an on-chip buffer covers 1 to ", isa::kPartitions, " partitions"), got,
           "cut the partition axis into tiles of 128");
  if (free.size() < 1 || free.size() > isa::kMaxFreeDims)
    refuse("an on-chip buffer has 1 to 4 free dimensions", got, "merge dimensions");
  if (rotate < 1)
    refuse("a pool needs at least one buffer", got, "use rotate = 1 for a single buffer");
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // keeps the products below in range
  if (rotate > kMost) out_of_space(space, name, kMost);
  std::int64_t elements = rotate;
  for (const std::int64_t count : free) {
    if (count < 1)
      refuse("an on-chip buffer needs elements in every dimension", got, "leave empty tiles out");
    if (elements > kMost / count) out_of_space(space, name, kMost);
    elements *= count;
  }
}

void KernelBuilder::out_of_space(isa::Space space, const std::string& name,
                                 std::int64_t bytes) const {
  const Allocator& allocator = space == isa::Space::kSbuf ? sbuf_ : psum_;
  const char* label = space == isa::Space::kSbuf ? "SBUF" : "PSUM";
  throw UserError(
      Report{cat("capacity: ", label, " has no room for '", name, "'"),
             cat("kernel ", program_.name, ", machine ", program_.machine),
             cat(bytes, " bytes per partition wanted, largest gap ", allocator.largest_gap(),
                 ", free ", allocator.available(), " of ", allocator.capacity()),
             "use smaller tiles, fewer pool buffers, or end scopes earlier"});
}

void KernelBuilder::scope(const std::function<void()>& body) {
  scopes_.emplace_back();
  try {
    body();
  } catch (...) {
    end_scope();
    throw;
  }
  end_scope();
}

void KernelBuilder::end_scope() {
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
  if (program_.extents.size() >= 0xFFFE)
    refuse("the kernel has more loops than the program format can name (65534)",
           cat(program_.extents.size()), "turn unrolled code into an outer loop");
  if (open_loops_.size() == ir::kMaxLoopDepth)
    refuse(cat("loops are nested deeper than ", ir::kMaxLoopDepth), cat(open_loops_.size() + 1),
           "merge loops into one over the product of their counts");
  if (count > ir::kMaxTurns)
    refuse("the loop runs too often", cat(count),
           cat("use at most ", ir::kMaxTurns, " iterations"));
  const auto id = static_cast<std::uint16_t>(program_.extents.size());
  program_.extents.push_back(count);
  open_loops_.push_back(id);
  blocks_.emplace_back();
  try {
    scope([&] { body(Affine::index(id)); });
  } catch (...) {
    (void)close_loop();
    throw;
  }
  ir::Block inner = close_loop();
  ir::Loop& loop = blocks_.back().emplace_back().value.emplace<ir::Loop>();
  loop.id = id;
  loop.body = std::move(inner);
}

ir::Block KernelBuilder::close_loop() {
  ir::Block inner = std::move(blocks_.back());
  blocks_.pop_back();
  open_loops_.pop_back();
  return inner;
}

void KernelBuilder::tiles(
    std::int64_t total, std::int64_t step,
    const std::function<void(const Affine&, const Affine&, std::int64_t)>& body) {
  if (step < 1 || total < 0)
    refuse("tiles cuts a length of at least 0 into steps of at least 1",
           cat("total ", total, ", step ", step), "give a positive step");
  loop(total / step, [&](const Affine& i) { body(i, i * step, step); });
  const std::int64_t tail = total % step;
  if (tail != 0) scope([&] { body(Affine(total / step), Affine(total - tail), tail); });
}

isa::Tile KernelBuilder::resolve(isa::Tile tile, const Offset& offset) {
  // The offset at iteration 0 stands in until the tile is bound, so that rules which look at an
  // address (PSUM bank) see a possible one.
  tile.offset = offset.base.constant;
  if (!offset.is_constant()) tile.expr = ir::intern(program_, offset);
  return tile;
}

// An index may only be used inside its loop.
void KernelBuilder::check_scope(const isa::FieldInfo& field, const isa::Tile& tile,
                                std::vector<isa::Violation>& violations) const {
  if (tile.expr == 0 || tile.expr >= program_.exprs.size()) return;
  const Offset& offset = program_.exprs[tile.expr];
  for (const Affine* a : {&offset.base, &offset.count})
    for (const AffineTerm& term : a->terms)
      if (std::find(open_loops_.begin(), open_loops_.end(), term.loop) == open_loops_.end())
        violations.push_back({"loop-scope",
                              cat(field.name, " uses loop i", term.loop, " outside that loop"),
                              to_string(offset), "move the instruction into the loop"});
}

void KernelBuilder::append(const isa::InsnDef& def, const void* insn, const char* file, int line) {
  ir::Insn node;
  node.def = &def;
  node.object.resize(def.size);
  std::memcpy(node.self(), insn, def.size);
  node.where = cat(file_name(file), ":", line);
  auto violations = isa::check(def, node.self(), machine_);
  isa::for_each_tile(def, node.self(), [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    for (auto& v : ir::verify_tile(program_, field.name, tile)) violations.push_back(std::move(v));
    check_scope(field, tile, violations);
  });
  if (!violations.empty()) {
    const isa::Violation& v = violations.front();
    throw UserError(Report{cat(v.rule, ": ", def.info.name, ": ", v.what),
                           cat("kernel ", program_.name, ", instruction ", emitted_, " (",
                               node.where, "), machine ", program_.machine),
                           v.got, v.fix});
  }
  ++emitted_;
  blocks_.back().emplace_back().value = std::move(node);
}

ir::Program KernelBuilder::finish() {
  if (scopes_.size() != 1)
    refuse("finish() is called inside a loop or scope", cat(scopes_.size() - 1, " open"),
           "call it after the last one");
  KernelBuilder fresh(program_.name, machine_);
  program_.body = std::move(blocks_.back());
  ir::Program out = std::move(program_);
  program_ = std::move(fresh.program_);
  sbuf_ = std::move(fresh.sbuf_), psum_ = std::move(fresh.psum_);
  blocks_ = std::vector<ir::Block>(1);
  scopes_ = std::vector<std::vector<Held>>(1);
  emitted_ = 0;
  return out;
}

}  // namespace krait::dsl
