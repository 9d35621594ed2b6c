// Walks the instruction list: nothing on it may be without tests, documentation or a source of its
// cost.

#include <filesystem>
#include <set>

#include "krait/base/file.hpp"
#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

namespace fs = std::filesystem;

std::string pascal_case(std::string_view name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') out += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return out;
}

bool runs_suite(const std::string& suite) {
  const auto* unit = ::testing::UnitTest::GetInstance();
  for (int i = 0; i < unit->total_test_suite_count(); ++i)
    if (suite == unit->GetTestSuite(i)->name()) return true;
  return false;
}

TEST(Registry, EveryInstructionHasHeaderAndTests) {
  const fs::path folder = fs::path(KRAIT_SOURCE_DIR) / "krait/isa/insn";
  for (const InsnDef* def : instructions()) {
    const std::string name(def->info.name);
    EXPECT_TRUE(fs::exists(folder / (name + ".hpp"))) << name;
    EXPECT_TRUE(fs::exists(folder / (name + "_test.cpp"))) << name;
    EXPECT_TRUE(runs_suite(pascal_case(name))) << pascal_case(name) << " is not in this executable";
  }
}

TEST(Registry, EveryHeaderInTheFolderIsListed) {
  std::set<std::string> listed;
  for (const InsnDef* def : instructions()) listed.emplace(def->info.name);
  EXPECT_EQ(listed.size(), instructions().size()) << "a name occurs twice";
  for (const auto& entry : fs::directory_iterator(fs::path(KRAIT_SOURCE_DIR) / "krait/isa/insn"))
    EXPECT_TRUE(entry.path().extension() != ".hpp" || listed.contains(entry.path().stem().string()))
        << entry.path();
}

TEST(Registry, EveryInstructionSaysWhatItDoesAndWhereItsCostComesFrom) {
  const std::string sources = read_file(fs::path(KRAIT_SOURCE_DIR) / "docs/sources.md");
  for (const InsnDef* def : instructions()) {
    const InsnInfo& info = def->info;
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_FALSE(info.formula.empty()) << info.name;
    EXPECT_EQ(info.formula.find('\n'), std::string_view::npos) << info.name;
    const std::string source(info.cost_source.text);  // "KEY KEY: formula"
    ASSERT_NE(source.find(':'), std::string::npos) << info.name << ": keys, colon, formula";
    for (const std::string& key : split(source.substr(0, source.find(':')), ' '))
      EXPECT_TRUE(sources.find("\n| `" + key + "` |") != std::string::npos)
          << info.name << ": " << key;
  }
}

TEST(Registry, FieldsAreDistinctAndAttributesReadBack) {
  for (const InsnDef* def : instructions()) {
    std::set<std::string_view> names;
    std::vector<std::byte> object(def->size);
    def->init(object.data());
    int outputs = 0;
    for (const FieldInfo& field : def->fields) {
      EXPECT_TRUE(names.insert(field.name).second) << def->info.name << "." << field.name;
      outputs += field.role == Role::kOut;
      if (field.role != Role::kAttr) continue;
      void* member = object.data() + field.offset;
      const std::string text = field.text(member);
      EXPECT_TRUE(field.parse(text, member)) << def->info.name << "." << field.name << "=" << text;
      EXPECT_EQ(field.text(member), text);
      EXPECT_FALSE(field.parse("?", member)) << def->info.name << "." << field.name;
    }
    EXPECT_GE(outputs, 1) << def->info.name;
    def->init(object.data());
  }
}

// A default-constructed instruction misses its operands; checking it must say so and nothing worse.
TEST(Registry, EmptyInstructionsMissTheirOperands) {
  for (const InsnDef* def : instructions()) {
    std::vector<std::byte> object(def->size);
    def->init(object.data());
    for (const MachineSpec* m : machines()) {
      std::vector<std::string> found;
      for (const Violation& v : check(*def, object.data(), *m)) found.push_back(v.rule);
      EXPECT_THAT(found, Contains("operand-missing")) << def->info.name;
    }
    int tiles = 0;
    for_each_tile(*def, object.data(), [&](const FieldInfo&, const Tile&) { ++tiles; });
    EXPECT_EQ(tiles, 0) << def->info.name;
  }
}

}  // namespace
}  // namespace krait::isa::testing
