// Can a reader follow every number to where it comes from?

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/machine/values.hpp"

namespace krait {
namespace {

std::vector<std::string> document() {
  return split(read_file(std::string(KRAIT_SOURCE_DIR) + "/docs/sources.md"), '\n');
}

// The keys: first column of every table row of the form "| `KEY` | ...".
std::set<std::string> documented_keys() {
  std::set<std::string> keys;
  for (const std::string& line : document()) {
    if (!line.starts_with("| `")) continue;
    const std::size_t end = line.find('`', 3);
    keys.insert(line.substr(3, end - 3));
  }
  return keys;
}

// "A2 A3, memory: x" cites A2 and A3.
std::vector<std::string> cited_keys(const std::string& source) {
  return split(source.substr(0, source.find(',')), ' ');
}

TEST(Sources, EveryValueHasUnitHelpAndSource) {
  for (const MachineSpec* m : machines()) {
    for (const ValueRow& row : list_values(*m)) {
      SCOPED_TRACE(std::string(m->name()) + " " + row.name);
      EXPECT_FALSE(row.unit.empty());
      EXPECT_FALSE(row.help.empty());
      EXPECT_FALSE(row.text.empty());
      ASSERT_NE(row.source.text, nullptr);
      // A key alone names a book, not a page.
      EXPECT_NE(std::string(row.source.text).find(", "), std::string::npos) << row.source.text;
    }
  }
}

TEST(Sources, EveryCitedKeyIsExplained) {
  const std::set<std::string> known = documented_keys();
  ASSERT_GT(known.size(), 20u);
  for (const MachineSpec* m : machines()) {
    for (const ValueRow& row : list_values(*m)) {
      for (const std::string& key : cited_keys(row.source.text))
        EXPECT_TRUE(known.contains(key)) << m->name() << ' ' << row.name << ": " << key;
    }
  }
}

// "docs/sources.md says what was assumed and why": the line of a value also shows what each machine
// assumes, so that prose and table cannot drift apart.
TEST(Sources, EveryAssumptionIsExplainedWithItsValue) {
  const std::vector<std::string> lines = document();
  for (const MachineSpec* m : machines()) {
    for (const ValueRow& row : list_values(*m)) {
      if (row.source.evidence != Evidence::kAssumed) continue;
      const std::string name = "| `" + row.name + "` |";
      const std::string value = std::string(m->name()) + " " + row.text;
      bool found = false;
      for (const std::string& line : lines) {
        if (!line.starts_with(name)) continue;
        const std::vector<std::string> cells = split(line, '|');
        ASSERT_GE(cells.size(), 4u) << line;
        for (const std::string& part : split(cells[2], ','))
          found = found || part == " " + value || part == " " + value + " ";
      }
      EXPECT_TRUE(found) << row.name << ": no line says '" << value << "'";
    }
  }
}

// And nothing is called assumed there that the tables call better known.
TEST(Sources, NoLineExplainsWhatIsNotAssumed) {
  std::set<std::string> assumed;
  for (const MachineSpec* m : machines()) {
    for (const ValueRow& row : list_values(*m))
      if (row.source.evidence == Evidence::kAssumed) assumed.insert(row.name);
  }
  for (const std::string& key : documented_keys()) {
    if (key.find('.') != std::string::npos) {
      EXPECT_TRUE(assumed.contains(key)) << key;
    }
  }
}

// Nobody outside AWS has published a trn3 profile; a measured mark there would be a slip.
TEST(Sources, NothingOfTheNewestMachineIsCalledMeasured) {
  for (const ValueRow& row : list_values(find_machine("trn3"))) {
    EXPECT_NE(row.source.evidence, Evidence::kMeasured) << row.name;
  }
}

TEST(Evidence, HasOneLetterAMark) {
  EXPECT_EQ(letter(Evidence::kDocumented), 'D');
  EXPECT_EQ(letter(Evidence::kDerived), 'R');
  EXPECT_EQ(letter(Evidence::kMeasured), 'M');
  EXPECT_EQ(letter(Evidence::kThirdParty), 'T');
  EXPECT_EQ(letter(Evidence::kAssumed), 'U');
}

}  // namespace
}  // namespace krait
