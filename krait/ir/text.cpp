#include "krait/ir/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::ir {
namespace {

using isa::FieldInfo;
using isa::Operand;
using isa::Role;
using isa::Tile;

constexpr std::array<std::string_view, 3> kKinds{"input", "output", "internal"};

// --- printing ---

std::string tile_text(const Program& program, const Tile& tile) {
  if (!tile.present()) return "none";
  if (tile.expr == 0) return isa::to_string(tile);
  return isa::to_string(tile, "(" + to_string(program.exprs[tile.expr]) + ")");
}

std::string field_text(const Program& program, const FieldInfo& field, const void* self) {
  const auto* member = static_cast<const char*>(self) + field.offset;
  switch (field.role) {
    case Role::kOut:
    case Role::kIn: return tile_text(program, *reinterpret_cast<const Tile*>(member));
    case Role::kOperand: {
      const auto& operand = *reinterpret_cast<const Operand*>(member);
      return operand.is_tile() ? tile_text(program, operand.tile) : isa::attr_text(operand.value);
    }
    case Role::kAttr: return field.text(member);
  }
  KRAIT_ASSERT(false);
}

void print_block(const Program& program, const Block& block, const std::string& indent, std::string& out) {
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
    expect(words_.size() == 4 && words_[2] == "=", "param NAME = VALUE");
    program_.params[words_[1]] = words_[3];
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
    const auto dtype = parse_dtype(words_[5]);
    expect(dtype.has_value() && words_[6].size() >= 2 && words_[6].front() == '[', kForm);
    b.dtype = *dtype;
    for (const std::string& dim : split(std::string_view(words_[6]).substr(1, words_[6].size() - 2), ',')) {
      const auto begin = dim.find_first_not_of(' ');
      const auto value = begin == std::string::npos ? std::nullopt : parse_int(std::string_view(dim).substr(begin));
      expect(value.has_value(), kForm);
      b.shape.push_back(*value);
    }
    const auto size = static_cast<std::int64_t>(size_of(b.dtype));
    if (b.space == isa::Space::kHbm) {
      b.bytes = element_count(b.shape) * size;
    } else {
      expect(words_.size() == 9 && b.shape.size() == 2 && words_[7][0] == '@' && words_[8][0] == 'x', kForm);
      const auto address = parse_int(std::string_view(words_[7]).substr(1));
      const auto rotations = parse_int(std::string_view(words_[8]).substr(1));
      expect(address && rotations && *address >= 0 && *rotations >= 1, kForm);
      b.address = *address, b.rotations = *rotations;
      b.bytes = on_chip_bytes(b.space, b.shape[1] * size);
    }
    program_.buffers.push_back(std::move(b));
  }

  void open_loop() {
    constexpr const char* kForm = "loop iN COUNT {";
    expect(words_.size() == 4 && words_[1].size() > 1 && words_[1][0] == 'i' && words_[3] == "{", kForm);
    const auto id = parse_int(std::string_view(words_[1]).substr(1));
    const auto count = parse_int(words_[2]);
    expect(id && count && *id >= 0 && *id < 0xFFFF && *count >= 1, kForm);
    if (program_.extents.size() <= static_cast<std::size_t>(*id))
      program_.extents.resize(static_cast<std::size_t>(*id) + 1, 1);
    program_.extents[static_cast<std::size_t>(*id)] = *count;
    stack_.back()->push_back(Node{Loop{static_cast<std::uint16_t>(*id), {}}});
    stack_.push_back(&std::get<Loop>(stack_.back()->back().value).body);
  }

  void instruction() {
    Insn insn;
    insn.def = &isa::find_instruction(words_[0]);
    insn.object.resize(insn.def->size);
    insn.def->init(insn.self());
    for (std::size_t w = 1; w < words_.size(); ++w) {
      const auto equals = words_[w].find('=');
      expect(equals != std::string::npos, "NAME field=value ...");
      field(insn, words_[w].substr(0, equals), words_[w].substr(equals + 1));
    }
    stack_.back()->push_back(Node{std::move(insn)});
  }

  void field(Insn& insn, const std::string& name, const std::string& value) {
    std::vector<std::string> names;
    for (const FieldInfo& f : insn.def->fields) {
      names.emplace_back(f.name);
      if (f.name != name) continue;
      void* member = static_cast<char*>(insn.self()) + f.offset;
      if (!set(f, member, value)) fail(cat("cannot read ", name, "=", value), "see the printed form");
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
    return true;
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::string line_;
  std::vector<std::string> words_;
  Program program_;
  std::vector<Block*> stack_;
};

}  // namespace

std::string print(const Program& program) {
  std::string out = cat("program ", program.name, " machine ", program.machine, "\n");
  for (const auto& [key, value] : program.params) out += cat("  param ", key, " = ", value, "\n");
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    out += cat("  buffer ", i, " ", isa::name(b.space), " ", kKinds[static_cast<std::size_t>(b.kind)], " ",
               b.name, " ", name(b.dtype), " ", to_string(b.shape));
    if (b.space != isa::Space::kHbm) out += cat(" @", b.address, " x", b.rotations);
    out += "\n";
  }
  print_block(program, program.body, "  ", out);
  return out + "end\n";
}

Program parse(std::string_view text) { return Parser(text).run(); }

}  // namespace krait::ir
