// Walks the instruction list: nothing on it may lack tests, documentation or a source of its cost.

#include <algorithm>
#include <filesystem>
#include <map>
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

// The blocks of a test file, keyed by the test's name: from its TEST( to the next one.
std::map<std::string, std::string> tests_of(const std::string& source, const std::string& suite) {
  std::map<std::string, std::string> out;
  const std::string head = "\nTEST(" + suite + ", ";
  for (std::size_t at = source.find(head); at != std::string::npos;) {
    const std::size_t next = source.find("\nTEST(", at + 1);
    const std::size_t name = at + head.size();
    out[source.substr(name, source.find(')', name) - name)] = source.substr(at, next - at);
    at = source.find(head, at + 1);
  }
  return out;
}

bool mentions(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return text.find(w) != std::string::npos; });
}

// docs/adding.md, "An instruction": the three kinds of tests, told by their names, and that each
// does what its name says. A kind that is missing, or there in name only, fails.
std::set<std::string> missing_kinds(const std::map<std::string, std::string>& tests) {
  std::set<std::string> missing{"meaning", "rules", "cost"};
  for (const auto& [name, body] : tests) {
    if (name.starts_with("Rule")) {
      if (mentions(body, {"expect_rule_everywhere(", "rules("})) missing.erase("rules");
    } else if (name.starts_with("Cost")) {
      if (mentions(body, {"cycles(", "cost(", ".time("}) &&
          mentions(body, {"EXPECT_EQ(", "ASSERT_"}))
        missing.erase("cost");
    } else if (mentions(body, {".run("}) &&
               mentions(body, {"expect_tile(", "EXPECT_", "ASSERT_"})) {
      missing.erase("meaning");
    }
  }
  return missing;
}

TEST(Registry, EveryInstructionHasTestsOfMeaningRulesAndCost) {
  const fs::path folder = fs::path(KRAIT_SOURCE_DIR) / "krait/isa/insn";
  for (const InsnDef* def : instructions()) {
    const std::string name(def->info.name);
    const std::string source = read_file(folder / (name + "_test.cpp"));
    EXPECT_EQ(missing_kinds(tests_of(source, pascal_case(name))), std::set<std::string>{}) << name;
  }
}

TEST(Registry, KindsOfTestsAreToldByNameAndContent) {
  const auto missing = [](const std::string& source) {
    return missing_kinds(tests_of(source, "Insn"));
  };
  const std::string meaning = "\nTEST(Insn, Adds) { m.run(i); expect_tile(m); }";
  const std::string rule = "\nTEST(Insn, RulesOfShape) { expect_rule_everywhere(i, x); }";
  const std::string cost = "\nTEST(Insn, Cost) { EXPECT_EQ(cycles(i, m), 1); }";
  using Kinds = std::set<std::string>;
  EXPECT_EQ(missing(meaning + rule + cost), Kinds{});
  EXPECT_EQ(missing(rule + cost), Kinds{"meaning"});
  EXPECT_EQ(missing(meaning + cost), Kinds{"rules"});
  EXPECT_EQ(missing(meaning + rule), Kinds{"cost"});
  EXPECT_EQ(missing("\nTEST(Insn, Rules) {}" + meaning + cost), Kinds{"rules"});
  EXPECT_EQ(missing("\nTEST(Insn, Cost) { EXPECT_EQ(1, 1); }" + meaning + rule), Kinds{"cost"});
  EXPECT_EQ(missing("\nTEST(Other, Adds) { m.run(i); EXPECT_EQ(1, 1); }" + rule + cost),
            Kinds{"meaning"});
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
    EXPECT_TRUE(outputs >= 1 || def->info.engine_state) << def->info.name;
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
