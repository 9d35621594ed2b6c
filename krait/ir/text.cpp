#include "krait/ir/text.hpp"

#include <algorithm>
#include <array>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::ir {
namespace {

using isa::FieldInfo;
using isa::Operand;
using isa::Role;
using isa::Tile;

constexpr std::array<std::string_view, 3> kKinds{"input", "output", "internal"};

// Far beyond any machine, and small enough that sums and products of them never overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;
constexpr std::int64_t kMostOnChip = std::int64_t{1} << 28;

// --- printing ---

std::string tile_text(const Program& program, const Tile& tile) {
  if (!tile.present()) return "none";
  if (tile.expr == 0) return isa::to_string(tile);
  return isa::to_string(tile, cat("(", to_string(program.exprs[tile.expr]), ")"));
}

std::string field_text(const Program& program, const FieldInfo& field, const void* self) {
  const auto* member = static_cast<const char*>(self) + field.offset;
  switch (field.role) {
    case Role::kOut:
    case Role::kIn:
      return tile_text(program, *reinterpret_cast<const Tile*>(member));
    case Role::kOperand: {
      const auto& operand = *reinterpret_cast<const Operand*>(member);
      return operand.is_tile() ? tile_text(program, operand.tile) : isa::attr_text(operand.value);
    }
    case Role::kAttr:
      return field.text(member);
  }
  KRAIT_ASSERT(false);
}

void print_block(const Program& program, const Block& block, const std::string& indent,
                 std::string& out) {
  for (const Node& node : block) {
    if (const Insn* insn = node.insn()) {
      out += indent + std::string(insn->def->info.name);
      for (const FieldInfo& field : insn->def->fields)
        out += cat(" ", field.name, "=", field_text(program, field, insn->self()));
      out += "\n";
      continue;
    }
    const Loop& loop = *node.loop();
    out += cat(indent, "loop i", loop.id, " ", program.extents[loop.id], " {\n");
    print_block(program, loop.body, indent + "  ", out);
    out += indent + "}\n";
  }
}

// --- parsing ---

// Cuts a line at spaces that are not inside (), [] or {}.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  for (const char c : line) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && depth <= 0) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
      continue;
    }
    word += c;
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(split(text, '\n')) {}

  Program run() {
    header();
    while (true) {
      next();
      if (words_.empty()) continue;
      if (words_[0] == "end") break;
      statement();
    }
    if (stack_.size() != 1) fail("a loop is not closed", "write '}' before 'end'");
    while (at_ < lines_.size())
      if (!words_of(lines_[at_++]).empty()) fail("text follows 'end'", "remove it");
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& fix) const {
    throw UserError(Report{cat("program text: ", what), cat("line ", at_), line_, fix});
  }
  void expect(bool ok, const char* form) const {
    if (!ok) fail("the line has another form than expected", cat("write: ", form));
  }

  void expect_name(const std::string& text) const {
    if (!is_name(text))
      fail(cat("'", text, "' is not a name"), "use letters, digits and _.-+/:%#@");
  }

  void next() {
    if (at_ >= lines_.size()) fail("the text ends early", "close it with 'end'");
    line_ = lines_[at_++];
    words_ = words_of(line_);
  }

  void header() {
    do next();
    while (words_.empty());
    expect(words_.size() == 4 && words_[0] == "program" && words_[2] == "machine",
           "program NAME machine M");
    expect_name(words_[1]), expect_name(words_[3]);
    program_.name = words_[1];
    program_.machine = words_[3];
    stack_.push_back(&program_.body);
  }

  void statement() {
    if (words_[0] == "param") return param();
    if (words_[0] == "buffer") return buffer();
    if (words_[0] == "loop") return open_loop();
    if (words_[0] == "}") {
      expect(words_.size() == 1 && stack_.size() > 1, "} closing an open loop");
      stack_.pop_back();
      return;
    }
    instruction();
  }

  void param() {
    // The value is the rest of the line as it stands, spaces included.
    const auto equals = line_.find(" = ");
    expect(words_.size() >= 3 && words_[2] == "=" && equals != std::string::npos &&
               equals + 3 < line_.size(),
           "param NAME = VALUE");
    expect_name(words_[1]);
    const std::string value = line_.substr(equals + 3);
    if (!program_.params.emplace(words_[1], value).second)
      fail(cat("parameter '", words_[1], "' is given twice"), "remove one");
  }

  // buffer N SPACE KIND NAME DTYPE [SHAPE] [@ADDRESS xROTATIONS]
  void buffer() {
    constexpr const char* kForm = "buffer N SPACE KIND NAME DTYPE [SHAPE] (@ADDRESS xROTATIONS)";
    expect(words_.size() == 7 || words_.size() == 9, kForm);
    Buffer b;
    expect(parse_int(words_[1]) == static_cast<std::int64_t>(program_.buffers.size()), kForm);
    b.space = words_[2] == "hbm"    ? isa::Space::kHbm
              : words_[2] == "sbuf" ? isa::Space::kSbuf
                                    : isa::Space::kPsum;
    expect(isa::name(b.space) == words_[2], kForm);
    const auto kind = std::find(kKinds.begin(), kKinds.end(), words_[3]);
    expect(kind != kKinds.end(), kForm);
    b.kind = static_cast<BufferKind>(kind - kKinds.begin());
    b.name = words_[4];
    expect_name(b.name);
    const auto dtype = parse_dtype(words_[5]);
    expect(dtype.has_value(), kForm);
    b.dtype = *dtype;
    b.shape = shape(words_[6], kForm);
    const auto bytes = checked_bytes(b.dtype, b.shape);
    if (!bytes || *bytes > kMostBytes)
      fail("the buffer has an impossible size", "use a smaller shape");
    if (b.space == isa::Space::kHbm) {
      expect(words_.size() == 7, kForm);
      b.bytes = static_cast<std::int64_t>(*bytes);
    } else {
      expect(words_.size() == 9, kForm);
      place(b, kForm);
    }
    program_.buffers.push_back(std::move(b));
  }

  // "[2, 16]"
  Shape shape(std::string_view text, const char* form) const {
    expect(text.size() >= 2 && text.front() == '[' && text.back() == ']', form);
    text = text.substr(1, text.size() - 2);
    Shape out;
    if (text.empty()) return out;
    for (const std::string& dim : split(text, ',')) {
      const auto begin = std::min(dim.find_first_not_of(' '), dim.size());
      const auto value = parse_int(std::string_view(dim).substr(begin));
      expect(value.has_value(), form);
      out.push_back(*value);
    }
    return out;
  }

  // "@ADDRESS xROTATIONS" of an on-chip buffer
  void place(Buffer& b, const char* form) const {
    expect(words_[7][0] == '@' && words_[8][0] == 'x', form);
    const auto address = parse_int(std::string_view(words_[7]).substr(1));
    const auto rotations = parse_int(std::string_view(words_[8]).substr(1));
    expect(address && rotations && *address >= 0 && *rotations >= 1, form);
    if (b.shape.size() != 2 || b.shape[0] < 1 || b.shape[0] > isa::kPartitions || b.shape[1] < 1)
      fail("an on-chip buffer has another shape than [partitions, elements]",
           cat("use 1 to ", isa::kPartitions, " partitions and at least 1 element"));
    if (*address > kMostOnChip || *rotations > kMostOnChip || b.shape[1] > kMostOnChip)
      fail("the buffer lies outside any memory", "use a smaller address or shape");
    b.address = *address, b.rotations = *rotations;
    b.bytes = on_chip_bytes(b.space, b.shape[1] * static_cast<std::int64_t>(size_of(b.dtype)));
  }

  void open_loop() {
    constexpr const char* kForm = "loop iN COUNT {";
    expect(words_.size() == 4 && words_[1].size() > 1 && words_[1][0] == 'i' && words_[3] == "{",
           kForm);
    const auto id = parse_int(std::string_view(words_[1]).substr(1));
    const auto count = parse_int(words_[2]);
    expect(id && count && *id >= 0 && *id < 0xFFFF && *count >= 1, kForm);
    const auto index = static_cast<std::size_t>(*id);
    if (*count > kMaxTurns)
      fail("the loop runs too often", cat("use at most ", kMaxTurns, " iterations"));
    if (stack_.size() > kMaxLoopDepth)
      fail("loops are nested too deep", cat("use at most ", kMaxLoopDepth, " levels"));
    if (program_.extents.size() <= index)
      program_.extents.resize(index + 1, 1), used_.resize(index + 1);
    if (used_[index])
      fail(cat("loop i", index, " occurs twice"), "give every loop an index of its own");
    used_[index] = true;
    program_.extents[index] = *count;
    Loop& loop = stack_.back()->emplace_back().value.emplace<Loop>();
    loop.id = static_cast<std::uint16_t>(index);
    stack_.push_back(&loop.body);
  }

  void instruction() {
    Insn insn;
    insn.def = definition(words_[0]);
    insn.object.resize(insn.def->size);
    insn.def->init(insn.self());
    std::vector<std::string> given;
    for (std::size_t w = 1; w < words_.size(); ++w) {
      const auto equals = words_[w].find('=');
      expect(equals != std::string::npos, "NAME field=value ...");
      const std::string name = words_[w].substr(0, equals);
      if (std::find(given.begin(), given.end(), name) != given.end())
        fail(cat("field '", name, "' is given twice"), "remove one");
      given.push_back(name);
      field(insn, name, words_[w].substr(equals + 1));
    }
    stack_.back()->emplace_back().value = std::move(insn);
  }

  const isa::InsnDef* definition(const std::string& name) const {
    std::vector<std::string> names;
    for (const isa::InsnDef* def : isa::instructions()) {
      if (def->info.name == name) return def;
      names.emplace_back(def->info.name);
    }
    fail(cat("no instruction is called '", name, "'"), suggest(name, names));
  }

  void field(Insn& insn, const std::string& name, const std::string& value) {
    std::vector<std::string> names;
    for (const FieldInfo& f : insn.def->fields) {
      names.emplace_back(f.name);
      if (f.name != name) continue;
      void* member = static_cast<char*>(insn.self()) + f.offset;
      if (!set(f, member, value))
        fail(cat("cannot read ", name, "=", value), "see the printed form");
      return;
    }
    fail(cat(insn.def->info.name, " has no field '", name, "'"), suggest(name, names));
  }

  bool set(const FieldInfo& f, void* member, const std::string& value) {
    if (f.role == Role::kAttr) return f.parse(value, member);
    if (f.role == Role::kOperand) {
      auto& operand = *static_cast<Operand*>(member);
      if (isa::parse_attr(value, operand.value)) return true;
      operand.value = 0;
      return set_tile(operand.tile, value);
    }
    return set_tile(*static_cast<Tile*>(member), value);
  }

  bool set_tile(Tile& tile, const std::string& value) {
    if (value == "none") {
      tile = Tile{};
      return true;
    }
    auto parsed = isa::parse_tile(value);
    if (!parsed) return false;
    tile = parsed->tile;
    std::string& text = parsed->offset_text;
    if (text.empty()) return true;
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
    const auto offset = parse_offset(std::string_view(text).substr(1, text.size() - 2));
    if (!offset) return false;
    tile.expr = intern(program_, *offset);
    // As the builder does: a possible address until it is bound.
    tile.offset = offset->base.constant;
    return true;
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::string line_;
  std::vector<std::string> words_;
  Program program_;
  std::vector<Block*> stack_;  // the open blocks, innermost last; a parent does not grow meanwhile
  std::vector<bool> used_;     // by loop id
};

}  // namespace

std::string print(const Program& program) {
  std::string out = cat("program ", program.name, " machine ", program.machine, "\n");
  for (const auto& [key, value] : program.params) out += cat("  param ", key, " = ", value, "\n");
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    out +=
        cat("  buffer ", i, " ", isa::name(b.space), " ", kKinds[static_cast<std::size_t>(b.kind)],
            " ", b.name, " ", name(b.dtype), " ", to_string(b.shape));
    if (b.space != isa::Space::kHbm) out += cat(" @", b.address, " x", b.rotations);
    out += "\n";
  }
  print_block(program, program.body, "  ", out);
  return out + "end\n";
}

Program parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace krait::ir
