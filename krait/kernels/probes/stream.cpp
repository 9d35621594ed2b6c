// A long stream of one instruction: independent, its results going round a ring of destinations, or
// dependent, each reading what the one before wrote. Works on any instruction of the list: the
// sample says which tiles it has, fields() which of them are read and written.
//
// Sources are filled once, so that the program has a meaning too; what that costs is in the long
// run and in the short one and so not in the slope.

#include <algorithm>
#include <array>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/dsl/builder.hpp"
#include "krait/kernels/probes/operand_form.hpp"
#include "krait/kernels/probes/probe.hpp"

namespace krait::kernels {
namespace {

using dsl::KernelBuilder;
using isa::FieldInfo;
using isa::InsnDef;
using isa::Role;
using isa::Sample;
using isa::Tile;

constexpr const char* kDefaultInsn = "tensor_tensor";

// --- parameters ---

std::vector<ParamSpec> shape_params() {
  constexpr double kMostElements = 1 << 20;
  std::vector<ParamSpec> out{
      {"insn", ParamKind::kText, kDefaultInsn, 0, 0, {}, "the instruction (krait insn)"},
      {"p", ParamKind::kInt, "128", 1, isa::kPartitions, {}, "partitions"},
      {"n", ParamKind::kInt, "512", 1, kMostElements, {}, "elements a partition"},
      {"m", ParamKind::kInt, "128", 1, isa::kPartitions, {}, "stationary columns of a product"},
      {"dtype", ParamKind::kText, "f32", 0, 0, {}, "type of the operands: f32, bf16, .."},
      {"dst",
       ParamKind::kText,
       "",
       0,
       0,
       {},
       "outputs: sbuf, psum or hbm, a dtype, or both (psum:f32)"},
      {"src", ParamKind::kText, "", 0, 0, {}, "the first input, likewise"},
      {"ring", ParamKind::kInt, "4", 1, 64, {}, "destinations that take turns"},
      {"dependent", ParamKind::kFlag, "0", 0, 1, {}, "1: each reads what the one before wrote"}};
  for (ParamSpec& spec : repeat_params("272", "16")) out.push_back(std::move(spec));
  return out;
}

bool set_by_shape(const FieldInfo& field) {
  return field.name == "dst" || field.name == "src";
}

/// The parameter that sets a field: its name, with "insn." in front where the probe has the name.
std::string field_key(const FieldInfo& field) {
  const std::vector<ParamSpec> own = shape_params();
  const bool taken =
      !set_by_shape(field) &&
      std::any_of(own.begin(), own.end(), [&](const auto& p) { return p.name == field.name; });
  return cat(taken ? "insn." : "", field.name);
}

ParamSpec field_param(const FieldInfo& field) {
  const char* help = field.role == Role::kAttr ? "attribute of the instruction"
                     : field.role == Role::kOperand
                         ? "a number, or tile: one element a partition"
                         : "form of this tile: sbuf:bf16, tile, none, ..";
  return {field_key(field), ParamKind::kText, "", 0, 0, {}, help};
}

const InsnDef& wanted_insn(std::span<const std::string> assignments) {
  constexpr std::string_view kKey = "insn=";
  for (const std::string& assignment : assignments)
    if (assignment.starts_with(kKey)) return isa::find_instruction(assignment.substr(kKey.size()));
  return isa::find_instruction(kDefaultInsn);
}

Params stream_params(std::span<const std::string> assignments) {
  std::vector<ParamSpec> specs = shape_params();
  for (const FieldInfo& field : wanted_insn(assignments).fields)
    specs.push_back(field_param(field));  // dst and src are there: the first spec stays
  Params out(std::move(specs));
  out.set_assignments(assignments);
  return out;
}

// --- the instruction ---

DType wanted_dtype(const std::string& text) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> names;
  for (const DTypeInfo& type : dtypes()) names.emplace_back(type.name);
  throw UserError(Report{cat("no dtype is called '", text, "'"), "--set", cat("dtype=", text),
                         suggest(text, names)});
}

isa::SampleShape shape_of(const Params& params) {
  isa::SampleShape out{.partitions = params.integer("p"),
                       .n = params.integer("n"),
                       .m = params.integer("m"),
                       .dtype = wanted_dtype(params.text("dtype"))};
  if (const std::string& text = params.text("dst"); !text.empty()) {
    const OperandForm form = parse_operand_form("dst", text);
    out.dst = form.space, out.dst_dtype = form.dtype;
  }
  if (const std::string& text = params.text("src"); !text.empty()) {
    const OperandForm form = parse_operand_form("src", text);
    out.src = form.space, out.src_dtype = form.dtype;
  }
  return out;
}

/// Texts that some attribute takes; those that this one takes are what may have been meant.
std::vector<std::string> accepted_texts(const FieldInfo& field, const InsnDef& def) {
  std::vector<std::string> all{"true", "false"};
  for (const isa::AluOp op : isa::alu_ops()) all.push_back(isa::attr_text(op));
  for (const UnaryFn fn : unary_fns()) all.push_back(isa::attr_text(fn));
  for (int e = 0; e < isa::kEngineCount; ++e)
    all.push_back(isa::attr_text(static_cast<isa::Engine>(e)));
  for (const auto ring : {isa::DmaRing::kSync, isa::DmaRing::kScalar, isa::DmaRing::kGpSimd,
                          isa::DmaRing::kVector, isa::DmaRing::kTensor})
    all.push_back(isa::attr_text(ring));
  for (const auto mode : {isa::DgeMode::kStatic, isa::DgeMode::kSoftware, isa::DgeMode::kHardware})
    all.push_back(isa::attr_text(mode));
  Sample scratch(def);
  std::erase_if(all,
                [&](const std::string& text) { return !field.parse(text, scratch.member(field)); });
  return all;
}

void set_attribute(Sample& sample, const FieldInfo& field, const std::string& text) {
  void* member = sample.member(field);
  if (field.parse(text, member)) return;
  if (text == "0" && field.parse("false", member)) return;
  if (text == "1" && field.parse("true", member)) return;
  const std::vector<std::string> accepted = accepted_texts(field, sample.def());
  throw UserError(Report{cat(sample.def().info.name, " does not take this value as ", field.name),
                         "--set", cat(field.name, "=", text),
                         accepted.empty() ? cat("e.g. ", field.name, "=", field.text(member))
                                          : suggest(text, accepted)});
}

void set_field(Sample& sample, const FieldInfo& field, const std::string& text,
               std::int64_t partitions) {
  if (field.role == Role::kAttr) return set_attribute(sample, field, text);
  if (const auto number = parse_double(text); number && field.role == Role::kOperand) {
    *static_cast<isa::Operand*>(sample.member(field)) = isa::Operand(static_cast<float>(*number));
    return;
  }
  apply_form(parse_operand_form(field.name, text), partitions, sample.tile(field));
}

Sample wanted_sample(const MachineSpec& machine, const Params& params) {
  const InsnDef& def = isa::find_instruction(params.text("insn"));
  Sample out = isa::make_sample(def, shape_of(params), machine);
  for (const FieldInfo& field : def.fields) {
    if (set_by_shape(field)) continue;
    const std::string& text = params.text(field_key(field));
    if (!text.empty()) set_field(out, field, text, params.integer("p"));
  }
  return out;
}

// --- the program ---

/// A buffer for a tile of this form, and the tile in it.
Tile place(KernelBuilder& kb, const std::string& name, const Tile& form, bool input) {
  const std::int64_t partitions = form.partition + form.partitions, elements = form.span_end();
  Tile at;
  if (form.in_hbm()) {
    const Shape shape{partitions, elements};
    const dsl::Hbm tensor =
        input ? kb.input(name, form.dtype, shape) : kb.internal(name, form.dtype, shape);
    at = tensor.view(0, elements, partitions, {{1, elements}});
  } else {
    at = form.in_psum() ? kb.psum(name, form.dtype, partitions, {elements})
                        : kb.sbuf(name, form.dtype, partitions, {elements});
  }
  Tile out = form;
  out.buffer = at.buffer, out.offset = at.offset, out.partition_step = at.partition_step;
  return out;
}

/// Writes ones, or zeros where they may be indices, if an engine can.
void fill(KernelBuilder& kb, const Tile& tile) {
  const isa::Memset set{.dst = tile, .value = is_float(tile.dtype) ? 1.0F : 0.0F};
  if (isa::check(isa::def_of<isa::Memset>(), &set, kb.machine()).empty()) kb.emit(set);
}

bool same_form(const Tile& a, const Tile& b) {
  return a.space == b.space && a.dtype == b.dtype && a.partition == b.partition &&
         a.partitions == b.partitions && a.rank == b.rank && a.dims == b.dims;
}

class Stream {
 public:
  Stream(KernelBuilder& kb, Sample sample, const Params& params)
      : kb_(kb),
        sample_(std::move(sample)),
        def_(sample_.def()),
        accumulates_(def_.accumulates(sample_.self())) {
    const bool dependent = params.flag("dependent");
    if (dependent && !accumulates_) link_ = find_link();
    // What accumulates reads its own destination, so a chain has one.
    const std::int64_t ring = dependent && accumulates_ ? 1 : params.integer("ring");
    slots_.assign(static_cast<std::size_t>(ring), sample_);
    place_inputs();
    place_outputs();
    if (link_ != nullptr) link_slots();
    start();
  }

  void run(std::int64_t repeat) {
    const auto ring = static_cast<std::int64_t>(slots_.size());
    kb_.loop(repeat / ring, [&](const Affine&) { emit(slots_.size()); });
    emit(static_cast<std::size_t>(repeat % ring));
  }

 private:
  void emit(std::size_t count) {
    for (std::size_t s = 0; s < count; ++s) kb_.emit(def_, slots_[s].self());
  }

  [[nodiscard]] const FieldInfo* output() const {
    for (const FieldInfo& field : def_.fields)
      if (field.role == Role::kOut) return &field;
    return nullptr;
  }

  /// The operand that can be the result of the instruction before.
  [[nodiscard]] const FieldInfo* find_link() {
    const FieldInfo* out = output();
    for (const FieldInfo& field : def_.fields)
      if (out != nullptr && (field.role == Role::kIn || field.role == Role::kOperand) &&
          sample_.tile(field).present() && same_form(sample_.tile(field), sample_.tile(*out)))
        return &field;
    throw UserError(Report{
        cat("a result of ", def_.info.name, " cannot be an operand of the next one"), "--set",
        cat("dependent=1", out == nullptr ? "" : cat(", ", out->name, " = "),
            out == nullptr ? "" : isa::describe(sample_.tile(*out))),
        "choose sizes, dst, src and dtype so that an operand has the form of the result, or "
        "dependent=0"});
  }

  void place_inputs() {
    for (const FieldInfo& field : def_.fields) {
      if (field.role != Role::kIn && field.role != Role::kOperand) continue;
      if (&field == link_ || !sample_.tile(field).present()) continue;
      const Tile tile = place(kb_, std::string(field.name), sample_.tile(field), true);
      fill(kb_, tile);
      for (Sample& slot : slots_) slot.tile(field) = tile;
    }
  }

  void place_outputs() {
    for (const FieldInfo& field : def_.fields) {
      if (field.role != Role::kOut || !sample_.tile(field).present()) continue;
      for (std::size_t s = 0; s < slots_.size(); ++s)
        slots_[s].tile(field) = place(kb_, cat(field.name, s), sample_.tile(field), false);
    }
  }

  void link_slots() {
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const std::size_t before = (s + slots_.size() - 1) % slots_.size();
      slots_[s].tile(*link_) = slots_[before].tile(*output());
    }
  }

  /// What the first round reads. TensorE's sums start with a product; memories must not.
  void start() {
    const FieldInfo* out = output();
    if (out == nullptr) return;
    const auto sums = std::find_if(def_.fields.begin(), def_.fields.end(),
                                   [](const FieldInfo& f) { return f.name == "accumulate"; });
    if (accumulates_ && sums != def_.fields.end()) {
      for (const Sample& slot : slots_) {
        Sample first = slot;
        set_attribute(first, *sums, "false");
        kb_.emit(def_, first.self());
      }
    } else if (accumulates_ || link_ != nullptr) {
      for (Sample& slot : slots_) fill(kb_, slot.tile(*out));
    }
  }

  KernelBuilder& kb_;
  Sample sample_;  // forms without a place
  const InsnDef& def_;
  bool accumulates_;
  const FieldInfo* link_ = nullptr;
  std::vector<Sample> slots_;
};

ir::Program build(const MachineSpec& machine, const Params& params, std::int64_t repeat) {
  KernelBuilder kb("stream", machine);
  for (const auto& [name, value] : params.values())
    if (!value.empty()) kb.param(name, value);
  Stream(kb, wanted_sample(machine, params), params).run(repeat);
  return kb.finish();
}

}  // namespace

Probe stream_probe() {
  return {"stream", "a long stream of one instruction: the time of each", "instruction",
          stream_params, build};
}

}  // namespace krait::kernels
