// The golden vectors are what their sidecars and the index say: bytes, names, shapes, dtypes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "krait/base/file.hpp"
#include "krait/base/sha256.hpp"
#include "krait/base/text.hpp"
#include "krait/tensor/safetensors.hpp"

namespace krait {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path& folder() {
  static const fs::path path = fs::path(KRAIT_SOURCE_DIR) / "tests" / "golden";
  return path;
}

json read_json(const fs::path& path) {
  return json::parse(read_file(path));
}

/// The rows of index.json.
const json& index() {
  static const json rows = read_json(folder() / "index.json").at("cases");
  return rows;
}

/// "group/case" of every file below the folder with this extension.
std::set<std::string> files_with(const std::string& extension) {
  std::set<std::string> out;
  for (const auto& item : fs::recursive_directory_iterator(folder())) {
    const fs::path path = fs::relative(item.path(), folder());
    if (path.extension() == extension && path.has_parent_path())
      out.insert(path.parent_path() / path.stem());
  }
  return out;
}

/// The sidecars of all cases.
const std::map<std::string, json>& sidecars() {
  static const std::map<std::string, json> all = [] {
    std::map<std::string, json> out;
    for (const std::string& name : files_with(".json"))
      out.emplace(name, read_json(folder() / (name + ".json")));
    return out;
  }();
  return all;
}

// The test vectors of FIPS 180-4's examples, and lengths around the padding's edge, whose sums
// coreutils' sha256sum gives.
TEST(Sha256, AgreesWithPublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Golden, IndexSidecarsAndDataFilesNameTheSameCases) {
  std::set<std::string> indexed;
  for (const json& row : index()) {
    const std::string group = row.at("group"), name = row.at("name");
    const std::string label = cat(group, '/', name);
    EXPECT_TRUE(indexed.insert(label).second) << label << " twice";
    EXPECT_EQ(row.at("file"), label + ".safetensors");
  }
  EXPECT_EQ(indexed.size(), 13u);
  EXPECT_EQ(indexed, files_with(".safetensors"));
  EXPECT_EQ(indexed, files_with(".json"));
}

TEST(Golden, DataHasTheSizeAndSumOfItsSidecarAndOfTheIndex) {
  for (const json& row : index()) {
    const std::string name = row.at("file");
    const json sidecar = read_json((folder() / name).replace_extension(".json"));
    const std::string bytes = read_file(folder() / name);
    EXPECT_EQ(row.at("bytes"), bytes.size()) << name;
    EXPECT_EQ(row.at("sha256"), sha256_hex(bytes)) << name;
    for (const char* field : {"name", "group", "file", "bytes", "sha256", "description"})
      EXPECT_EQ(sidecar.at(field), row.at(field)) << name << " " << field;
  }
}

TEST(Golden, TensorsHaveTheShapesAndDtypesOfTheSidecar) {
  for (const auto& [name, sidecar] : sidecars()) {
    json shapes = json::object(), dtypes = json::object();
    const SafetensorsFile file = read_safetensors(folder() / (name + ".safetensors"));
    for (const auto& [tensor, value] : file.tensors) {
      shapes[tensor] = value.shape();
      dtypes[tensor] = info(value.dtype()).safetensors;
    }
    EXPECT_EQ(shapes, sidecar.at("shapes")) << name;
    EXPECT_EQ(dtypes, sidecar.at("dtypes")) << name;
  }
}

TEST(Golden, NamesFollowThePrefixesAndTheirDtypes) {
  const std::map<std::string, DType> prefixes{
      {"in", DType::kF32}, {"out", DType::kF64}, {"gout", DType::kF32}, {"grad", DType::kF64}};
  for (const auto& [name, sidecar] : sidecars()) {
    const TensorMap tensors = read_safetensors(folder() / (name + ".safetensors")).tensors;
    for (const auto& [tensor, value] : tensors) {
      const std::size_t dot = tensor.find('.');
      const std::string prefix = tensor.substr(0, dot), rest = tensor.substr(dot + 1);
      ASSERT_TRUE(prefixes.contains(prefix)) << name << " " << tensor;
      EXPECT_EQ(value.dtype(), prefixes.at(prefix)) << name << " " << tensor;
      // A gradient has the shape of what it is the gradient of.
      const std::string of = prefix == "gout" ? "out." : prefix == "grad" ? "in." : prefix + ".";
      EXPECT_EQ(value.shape(), tensors.at(of + rest).shape()) << name << " " << tensor;
    }
  }
}

TEST(Golden, SidecarsSayWhoMadeThemAndHowToCompare) {
  for (const auto& [name, sidecar] : sidecars()) {
    for (const char* field : {"repo", "path", "function", "commit"})
      EXPECT_FALSE(sidecar.at("made_by").at(field).get<std::string>().empty()) << name;
    const json& tolerance = sidecar.at("tolerance");
    EXPECT_GT(tolerance.at("float64").at("rtol"), 0) << name;
    EXPECT_GT(tolerance.at("float32").at("rtol_out"), 0) << name;
    EXPECT_GT(tolerance.at("float32").at("rtol_grad"), 0) << name;
  }
}

/// The bytes behind the header.
std::string data_section(const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  return file.substr(sizeof length + length);
}

// An independent writer made these files; ours orders the data in the same way.
TEST(Golden, RewritingAFileKeepsItsData) {
  const fs::path copy =
      fs::temp_directory_path() / ("krait_golden_" + std::to_string(::getpid()) + ".safetensors");
  for (const auto& [name, sidecar] : sidecars()) {
    const fs::path path = folder() / (name + ".safetensors");
    const SafetensorsFile file = read_safetensors(path);
    write_safetensors(copy, file.tensors, file.metadata);
    EXPECT_EQ(data_section(read_file(copy)), data_section(read_file(path))) << name;
  }
  fs::remove(copy);
}

}  // namespace
}  // namespace krait
