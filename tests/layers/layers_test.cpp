// Does every include point down the layers? Test sources (*_test.cpp) may include anything.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "krait/base/file.hpp"
#include "tests/layers/include_rules.hpp"

namespace krait {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::allowed_layers;
using testing_support::include_violations;
using testing_support::layer_of;
using testing_support::layer_table;

bool is_judged(const fs::path& path) {
  const std::string extension = path.extension().string(), stem = path.stem().string();
  const bool code = extension == ".hpp" || extension == ".cpp" || extension == ".inc";
  return code && !stem.ends_with("_test");
}

/// Judged files below krait/ and apps/, relative to `root`, sorted.
std::vector<std::string> judged_files(const fs::path& root) {
  std::vector<std::string> out;
  for (const char* top : {"krait", "apps"}) {
    if (!fs::is_directory(root / top)) continue;
    for (const auto& item : fs::recursive_directory_iterator(root / top))
      if (item.is_regular_file() && is_judged(item.path()))
        out.push_back(fs::relative(item.path(), root).generic_string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> violations_in_tree(const fs::path& root) {
  std::vector<std::string> out;
  for (const std::string& path : judged_files(root))
    for (std::string& message : include_violations(path, read_file(root / path)))
      out.push_back(std::move(message));
  return out;
}

TEST(Layers, AllIncludesPointDown) {
  const fs::path root = KRAIT_SOURCE_DIR;
  EXPECT_GE(judged_files(root).size(), 20u) << "the walk found too little of the tree";
  for (const std::string& message : violations_in_tree(root)) ADD_FAILURE() << message;
}

TEST(Layers, EveryFolderOfTheTreeIsInTheTable) {
  for (const std::string& path : judged_files(KRAIT_SOURCE_DIR))
    EXPECT_TRUE(layer_table().contains(layer_of(path))) << path;
}

TEST(Layers, TableNamesKnownLayersAndHasNoCycle) {
  for (const auto& [layer, names] : layer_table()) {
    for (const std::string& name : names) {
      ASSERT_TRUE(layer_table().contains(name)) << layer << " names " << name;
      EXPECT_FALSE(allowed_layers(name).contains(layer)) << layer << " and " << name;
    }
  }
  EXPECT_THAT(allowed_layers("linalg"), ElementsAre("base", "linalg", "numerics", "tensor"));
  EXPECT_THAT(allowed_layers("machine"), ElementsAre("base", "machine"));
}

// The checks of the check: planted violations are found, and nothing else is.

TEST(Layers, FindsAnIncludeThatPointsUp) {
  EXPECT_THAT(
      include_violations("krait/base/x.hpp",
                         "#pragma once\n#include \"krait/tensor/tensor.hpp\"\n"),
      ElementsAre(AllOf(HasSubstr("krait/base/x.hpp:2"), HasSubstr("\"krait/tensor/tensor.hpp\""),
                        HasSubstr("base may include: base"))));
  EXPECT_THAT(include_violations("krait/cpu/ref/x.cpp", "#include \"krait/sim/run.hpp\""),
              ElementsAre(HasSubstr("cpu may include: base, cpu, linalg, numerics, tensor")));
}

TEST(Layers, FindsIncludesHoweverTheyAreWritten) {
  for (const char* line :
       {"#include\"krait/isa/a.hpp\"", "  #  include \t\"krait/isa/a.hpp\" // why",
        "#include \"../isa/a.hpp\"", "#include \"insn/../../isa/a.hpp\"",
        "#include \"krait/nowhere/a.hpp\"", "#include \"apps/krait/a.hpp\"",
        "#include \"tests/layers/include_rules.hpp\""})
    EXPECT_EQ(include_violations("krait/numerics/x.cpp", line).size(), 1u) << line;
}

TEST(Layers, LeavesAllowedIncludesAlone) {
  EXPECT_THAT(
      include_violations("krait/isa/insn/x.hpp",
                         "#include <vector>\n#include \"hwy/highway.h\"\n"
                         "#include \"krait/isa/tile.hpp\"\n#include \"krait/base/error.hpp\"\n"
                         "#include \"krait/tensor/affine.hpp\"\n// #include \"krait/sim/a.hpp\"\n"),
      IsEmpty());
}

TEST(Layers, FindsFilesOfFoldersOutsideTheTable) {
  EXPECT_THAT(include_violations("krait/misc/x.hpp", ""), ElementsAre(HasSubstr("layer table")));
  EXPECT_THAT(include_violations("krait/loose.hpp", ""), ElementsAre(HasSubstr("layer table")));
}

TEST(Layers, WalkFindsAViolationPlantedInATree) {
  const fs::path root = fs::path(KRAIT_BINARY_DIR) / "layers_test_planted";
  fs::remove_all(root);
  fs::create_directories(root / "krait" / "isa" / "insn");
  write_file_atomically(root / "krait/isa/insn/bad.inc", "\n#include \"krait/sim/values.hpp\"\n");
  write_file_atomically(root / "krait/isa/insn/bad_test.cpp",
                        "#include \"krait/sim/values.hpp\"\n");
  EXPECT_THAT(violations_in_tree(root), ElementsAre(HasSubstr("krait/isa/insn/bad.inc:2")));
  fs::remove_all(root);
}

}  // namespace
}  // namespace krait
