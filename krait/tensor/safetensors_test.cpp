#include "krait/tensor/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"

namespace krait {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A file image: length, header, data.
std::string image(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + header + data;
}

/// Parses a copy of the image on the heap, of exactly its size and `shift` bytes past an aligned
/// start, so that the address sanitizer sees every access outside.
SafetensorsFile parse(const std::string& file, std::size_t shift = 0) {
  const std::shared_ptr<std::byte> bytes(new std::byte[file.size() + shift],
                                         std::default_delete<std::byte[]>());
  std::memcpy(bytes.get() + shift, file.data(), file.size());
  return parse_safetensors({bytes, bytes.get() + shift}, file.size(), "model.st");
}

/// The message of the UserError; any other outcome gives a text that no expectation matches.
std::string error_of(const std::string& file) {
  try {
    (void)parse(file);
  } catch (const UserError& error) {
    return error.what();
  } catch (const InternalError& error) {
    return std::string("InternalError: ") + error.report().got;
  }
  return "accepted";
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()};
}

class SafetensorsFiles : public testing::Test {
 protected:
  fs::path folder_ =
      fs::temp_directory_path() / cat("krait_safetensors_test_", static_cast<long>(::getpid()));
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path write(const std::string& file) const {
    fs::path path = folder_ / "in.safetensors";
    std::ofstream(path, std::ios::binary) << file;
    return path;
  }
};

// --- what is accepted ---

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"a":)" +
                             entry("I32", "[2]", "[0,8]") + R"(,"b":)" +
                             entry("U8", "[3]", "[8,11]") + "}  ";
  const SafetensorsFile file = parse(image(header, std::string("\1\0\0\0\2\0\0\0abc", 11)));
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors.at("a").dtype(), DType::kI32);
  EXPECT_EQ(bytes_of(file.tensors.at("b")), "abc");
}

TEST(Safetensors, AcceptsEveryDtypeTheFormatNames) {
  for (const DTypeInfo& row : dtypes()) {
    if (row.safetensors.empty()) continue;
    const std::string size = std::to_string(2 * row.size);
    const std::string header =
        R"({"t":)" + entry(std::string(row.safetensors), "[2]", "[0," + size + "]") + "}";
    const SafetensorsFile file = parse(image(header, std::string(std::size_t{2} * row.size, 'x')));
    EXPECT_EQ(file.tensors.at("t").dtype(), row.dtype) << row.name;
  }
}

TEST(Safetensors, AcceptsEmptyFilesScalarsAndEmptyTensors) {
  EXPECT_TRUE(parse(image("{}")).tensors.empty());
  const std::string header = R"({"none":)" + entry("F32", "[0,5]", "[4,4]") + R"(,"one":)" +
                             entry("F32", "[]", "[0,4]") + R"(,"zero":)" +
                             entry("F32", "[0]", "[0,0]") + "}";
  const SafetensorsFile file = parse(image(header, "abcd"));
  EXPECT_EQ(file.tensors.at("none").count(), 0);
  EXPECT_EQ(file.tensors.at("one").count(), 1);
  EXPECT_EQ(file.tensors.at("zero").count(), 0);
}

TEST(Safetensors, AcceptsAnyOrderOfEntriesAndFields) {
  const std::string header = R"({"z":{"data_offsets":[1,2],"shape":[1],"dtype":"U8"},"a":)" +
                             entry("U8", "[1]", "[0,1]") + "}";
  const SafetensorsFile file = parse(image(header, "az"));
  EXPECT_EQ(bytes_of(file.tensors.at("a")), "a");
  EXPECT_EQ(bytes_of(file.tensors.at("z")), "z");
}

TEST(Safetensors, SharesAlignedBytesAndCopiesMisalignedOnes) {
  // The header's length is shifted over all residues, so that the data of an f64 starts at each.
  for (std::size_t pad = 0; pad < 8; ++pad) {
    const std::string header =
        R"({"t":)" + entry("F64", "[2]", "[0,16]") + "}" + std::string(pad, ' ');
    const std::string file = image(header, std::string(16, 'x'));
    const std::shared_ptr<std::byte> bytes(new std::byte[file.size()],
                                           std::default_delete<std::byte[]>());
    std::memcpy(bytes.get(), file.data(), file.size());
    Tensor t = parse_safetensors(bytes, file.size(), "f").tensors.at("t");
    const std::byte* in_file = bytes.get() + file.size() - 16;
    const bool aligned = reinterpret_cast<std::uintptr_t>(in_file) % 8 == 0;
    EXPECT_EQ(t.data() == in_file, aligned) << pad;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.values<double>().data()) % 8, 0u) << pad;
    EXPECT_EQ(bytes_of(t), std::string(16, 'x')) << pad;
  }
}

// --- what is refused ---

struct Refusal {
  const char* name;
  std::string file;
  std::vector<std::string> parts;  // of the message
};

/// One U8 tensor "t" of 4 bytes whose entry is given, with 4 bytes of data.
std::string with_entry(const std::string& text) {
  return image(R"({"t":)" + text + "}", "abcd");
}

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + rest;
}

/// "[1,1,...]" with this many dimensions.
std::string ones(int rank) {
  std::string out = "[1";
  for (int i = 1; i < rank; ++i) out += ",1";
  return out + "]";
}

// Tables laid out by hand: one refusal a line.
// clang-format off
std::vector<Refusal> refused_headers() {
  const std::string t = entry("U8", "[4]", "[0,4]");
  return {
      {"empty file", "", {"8 bytes", "a file of 0 bytes"}},
      {"short length", "1234567", {"a file of 7 bytes"}},
      {"length past the end", with_length(3, "{}"), {"past the end", "header of 3", "of 10 bytes"}},
      {"length over 100 MB", with_length(100'000'001, "{}"), {"at most 100000000", "100000001"}},
      {"length of 2^64 - 1", with_length(~0ULL, "{}"), {"18446744073709551615 bytes"}},
      {"length that wraps", with_length(~0ULL - 7, "{}"), {"18446744073709551608 bytes"}},
      {"no header", image(""), {"does not start with '{'", "an empty header"}},
      {"leading space", image(" {}"), {"does not start with '{'", "' {}'"}},
      {"an array", image("[]"), {"does not start with '{'"}},
      {"open object", image("{"), {"not valid JSON", "byte 2"}},
      {"two values", image("{}{}"), {"not valid JSON"}},
      {"zero byte after the object", image(std::string("{}\0[", 4)), {"not valid JSON", "zero byte at byte 3"}},
      {"comment", image("{/**/}"), {"not valid JSON"}},
      {"bad UTF-8", image("{\"\xff\":" + t + "}", "abcd"), {"not valid JSON", "\\xff"}},
      {"bad UTF-8 in metadata", image("{\"__metadata__\":{\"a\":\"\xc3\x28\"}}"), {"not valid JSON"}},
      {"deep arrays", image(R"({"t":)" + std::string(100000, '[')), {"must be an object", "an array"}},
      {"deep objects", image("{\"t\":" + std::string(5, '{')), {"not valid JSON"}},
      {"deep nesting in a field", with_entry(R"({"shape":[[[[)"), {"shape's dimensions", "an array"}},
      {"duplicate name", image(R"({"t":)" + t + R"(,"t":)" + t + "}", "abcd"), {"occurs twice", "'t'"}},
      {"duplicate by escape", image(R"({"t":)" + t + R"(,"\u0074":)" + t + "}", "abcd"), {"twice", "'t'"}},
      {"duplicate metadata", image(R"({"__metadata__":{},"__metadata__":{}})"), {"twice", "'__metadata__'"}},
      {"duplicate metadata key", image(R"({"__metadata__":{"k":"1","k":"1"}})"), {"metadata key occurs twice", "'k'"}},
      {"metadata number", image(R"({"__metadata__":{"k":3}})"), {"metadata must be strings", "'k'", "got    3"}},
      {"metadata object", image(R"({"__metadata__":{"k":{}}})"), {"metadata must be strings", "an object"}},
      {"metadata null", image(R"({"__metadata__":null})"), {"must be an object", "null"}},
      {"metadata list", image(R"({"__metadata__":[]})"), {"must be an object", "an array"}},
      {"entry is a number", with_entry("7"), {"must be an object", "'t'", "7"}},
      {"entry is a string", with_entry(R"("x")"), {"must be an object", "the string 'x'"}},
  };
}

std::vector<Refusal> refused_entries() {
  return {
      {"no dtype", with_entry(R"({"shape":[4],"data_offsets":[0,4]})"), {"field is missing", "dtype"}},
      {"no shape", with_entry(R"({"dtype":"U8","data_offsets":[0,4]})"), {"field is missing", "shape"}},
      {"no offsets", with_entry(R"({"dtype":"U8","shape":[4]})"), {"field is missing", "data_offsets"}},
      {"field twice", with_entry(R"({"dtype":"U8","dtype":"U8"})"), {"field occurs twice", "'dtype'"}},
      {"unknown field", with_entry(R"({"strides":[1]})"), {"unknown field", "'strides'"}},
      {"dtype number", with_entry(R"({"dtype":8})"), {"dtype must be a string", "got    8"}},
      {"dtype array", with_entry(R"({"dtype":["U8"]})"), {"dtype must be a string", "an array"}},
      {"dtype null", with_entry(R"({"dtype":null})"), {"dtype must be a string", "null"}},
      {"unknown dtype", with_entry(entry("F33", "[1]", "[0,4]")), {"unknown dtype", "'F33'", "'F32'"}},
      {"dtype in our spelling", with_entry(entry("u8", "[4]", "[0,4]")), {"unknown dtype", "'u8'"}},
      {"empty dtype", with_entry(entry("", "[4]", "[0,4]")), {"unknown dtype", "''"}},
      {"shape string", with_entry(R"({"shape":"4"})"), {"shape must be an array", "'4'"}},
      {"shape object", with_entry(R"({"shape":{}})"), {"shape must be an array", "an object"}},
      {"negative dimension", with_entry(entry("U8", "[-4]", "[0,4]")), {"from 0 to 2^63 - 1", "-4"}},
      {"float dimension", with_entry(entry("U8", "[4.0]", "[0,4]")), {"from 0 to 2^63 - 1", "'4.0'"}},
      {"dimension of 2^63", with_entry(entry("U8", "[9223372036854775808]", "[0,4]")), {"from 0 to 2^63", "9223372036854775808"}},
      {"dimension of 2^64", with_entry(entry("U8", "[18446744073709551616]", "[0,4]")), {"18446744073709551616"}},
      {"count overflow", with_entry(entry("U8", "[4294967296,4294967296]", "[0,4]")), {"too large", "[4294967296, 4294967296]"}},
      {"byte overflow", with_entry(entry("F32", "[4611686018427387904]", "[0,4]")), {"too large", "F32 [4611686018427387904]"}},
      {"rank", with_entry(entry("U8", ones(65), "[0,1]")), {"too many dimensions", "more than 64"}},
      {"offsets string", with_entry(R"({"data_offsets":"0,4"})"), {"array of two integers", "'0,4'"}},
      {"no offset", with_entry(entry("U8", "[4]", "[]")), {"must be two numbers", "array of 0"}},
      {"one offset", with_entry(entry("U8", "[4]", "[4]")), {"must be two numbers", "array of 1"}},
      {"three offsets", with_entry(entry("U8", "[4]", "[0,4,4]")), {"must be two numbers", "third"}},
      {"negative offset", with_entry(entry("U8", "[4]", "[-1,3]")), {"from 0 to 2^64 - 1", "-1"}},
      {"float offset", with_entry(entry("U8", "[4]", "[0,4.5]")), {"from 0 to 2^64 - 1", "'4.5'"}},
      {"boolean offset", with_entry(entry("U8", "[4]", "[false,4]")), {"from 0 to 2^64 - 1", "false"}},
      {"infinite offset", with_entry(entry("U8", "[4]", "[0,1e999]")), {"not valid JSON"}},
      {"offsets reversed", with_entry(entry("U8", "[4]", "[4,0]")), {"ends before it begins", "[4, 0]"}},
      {"offset past the end", with_entry(entry("U8", "[5]", "[0,5]")), {"past the end", "[0, 5] in 4 bytes"}},
      {"offset of 2^64 - 1", with_entry(entry("U8", "[4]", "[18446744073709551611,18446744073709551615]")), {"past the end"}},
      {"shape over the bytes", with_entry(entry("F32", "[2]", "[0,4]")), {"does not fit its shape", "4 bytes", "F32 [2] needs 8"}},
      {"shape under the bytes", with_entry(entry("U8", "[3]", "[0,4]")), {"does not fit its shape", "needs 3"}},
      {"empty shape with bytes", with_entry(entry("U8", "[0]", "[0,4]")), {"does not fit its shape", "needs 0"}},
  };
}

std::string two(const std::string& a, const std::string& b) {
  return image(R"({"a":)" + a + R"(,"b":)" + b + "}", "abcdefgh");
}

std::vector<Refusal> refused_layouts() {
  return {
      {"same range", two(entry("U8", "[8]", "[0,8]"), entry("U8", "[8]", "[0,8]")), {"overlap", "tensor 'b'", "of 'a'"}},
      {"overlap by one", two(entry("U8", "[5]", "[0,5]"), entry("U8", "[4]", "[4,8]")), {"overlap", "[4, 8]", "[0, 5] of 'a'"}},
      {"nested", two(entry("U8", "[8]", "[0,8]"), entry("U8", "[2]", "[2,4]")), {"overlap", "'b'"}},
      {"empty inside another", two(entry("U8", "[8]", "[0,8]"), entry("U8", "[0]", "[2,2]")), {"overlap", "'b'"}},
      {"hole between", two(entry("U8", "[3]", "[0,3]"), entry("U8", "[4]", "[4,8]")), {"belong to no tensor", "bytes 3 to 4"}},
      {"hole at the start", two(entry("U8", "[3]", "[1,4]"), entry("U8", "[4]", "[4,8]")), {"belong to no tensor", "bytes 0 to 1", "'a'"}},
      {"bytes left over", two(entry("U8", "[3]", "[0,3]"), entry("U8", "[4]", "[3,7]")), {"end of a safetensors file", "byte 7 of 8"}},
      {"data without tensors", image("{}", "x"), {"end of a safetensors file", "byte 0 of 1"}},
  };
}

// clang-format on

void expect_refused(const std::vector<Refusal>& cases) {
  for (const Refusal& c : cases) {
    const std::string message = error_of(c.file);
    EXPECT_THAT(message, HasSubstr("model.st")) << c.name;
    for (const std::string& part : c.parts) EXPECT_THAT(message, HasSubstr(part)) << c.name;
  }
}

TEST(Safetensors, RefusesBrokenHeaders) {
  expect_refused(refused_headers());
}
TEST(Safetensors, RefusesBrokenEntries) {
  expect_refused(refused_entries());
}
TEST(Safetensors, RefusesRangesThatDoNotTileTheData) {
  expect_refused(refused_layouts());
}

TEST(Safetensors, RefusesEveryTruncationAndEveryExtension) {
  const std::string header = R"({"__metadata__":{"k":"v"},"a":)" + entry("F32", "[2]", "[0,8]") +
                             R"(,"b":)" + entry("BF16", "[3]", "[8,14]") + "}";
  const std::string file = image(header, std::string(14, 'x'));
  ASSERT_EQ(error_of(file), "accepted");
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_THAT(error_of(file.substr(0, size)), HasSubstr("model.st")) << size;
  EXPECT_THAT(error_of(file + "x"), HasSubstr("model.st"));
}

TEST(Safetensors, AnyChangedByteIsRefusedOrGivesConsistentTensors) {
  const std::string header =
      R"({"a":)" + entry("F32", "[2]", "[0,8]") + R"(,"b":)" + entry("U8", "[3]", "[8,11]") + "}";
  const std::string good = image(header, std::string(11, 'x'));
  int accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string bad = good;
      bad[at] = static_cast<char>(value);
      try {
        std::size_t bytes = 0;
        for (const auto& [name, tensor] : parse(bad).tensors) bytes += bytes_of(tensor).size();
        EXPECT_EQ(bytes, 11u);
        ++accepted;
      } catch (const UserError&) {
      }
    }
  }
  EXPECT_GT(accepted, 11 * 256);  // at least every change of the data
}

TEST(Safetensors, MessagesStayPrintableAndShortForHostileNames) {
  const std::string name = "\\u001b[31m" + std::string(100000, 'n') + "\\u0000";
  const std::string message =
      error_of(image("{\"" + name + "\":" + entry("U8", "[9]", "[0,9]") + "}", "abcd"));
  EXPECT_THAT(message, HasSubstr("'\\x1b[31mnnn"));
  EXPECT_THAT(message, HasSubstr("(100006 bytes)"));
  EXPECT_LT(message.size(), 500u);
  EXPECT_THAT(message, Not(HasSubstr("\x1b")));
}

// --- files ---

TEST_F(SafetensorsFiles, ErrorsNameTheFile) {
  const fs::path path = write(image("{}", "x"));
  try {
    (void)read_safetensors(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.report().where, path.string());
  }
}

TEST_F(SafetensorsFiles, RefusesWhatIsNotARegularFile) {
  EXPECT_THROW((void)read_safetensors(folder_ / "absent"), UserError);
  EXPECT_THROW((void)read_safetensors(folder_), UserError);
  EXPECT_THROW((void)read_safetensors(write("")), UserError);
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW((void)read_safetensors(pipe), UserError);  // and does not wait for a writer
}

TEST_F(SafetensorsFiles, TensorsOutliveTheFileAndWritesStayPrivate) {
  const fs::path path = write(image(R"({"t":)" + entry("U8", "[4]", "[0,4]") + "}", "abcd"));
  Tensor t = read_safetensors(path).tensors.at("t");
  t.values<std::uint8_t>()[0] = 'X';
  EXPECT_THAT(read_file(path), HasSubstr("abcd"));
  fs::remove(path);
  EXPECT_EQ(bytes_of(t), "Xbcd");
}

TensorMap sample_tensors() {
  TensorMap out;
  for (const DTypeInfo& row : dtypes()) {
    if (row.safetensors.empty()) continue;
    Tensor t(row.dtype, {3, 1});
    for (std::size_t i = 0; i < t.bytes(); ++i)
      t.data()[i] = static_cast<std::byte>(i * 71 + row.size);
    out.emplace("t." + std::string(row.name), t);
  }
  out.emplace("scalar", Tensor(DType::kF32, {}));
  out.emplace("empty", Tensor(DType::kF64, {0, 7}));
  out.emplace("quote\" and \xc3\xa9", Tensor(DType::kU8, {5}));
  return out;
}

TEST_F(SafetensorsFiles, WhatIsWrittenReadsBackEqual) {
  const fs::path path = folder_ / "out.safetensors";
  const TensorMap tensors = sample_tensors();
  const std::map<std::string, std::string> metadata{{"a", "1"}, {"b", "line\nbreak"}};
  write_safetensors(path, tensors, metadata);
  const SafetensorsFile file = read_safetensors(path);
  EXPECT_EQ(file.metadata, metadata);
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor& got = file.tensors.at(name);
    EXPECT_EQ(got.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(got.shape(), tensor.shape()) << name;
    EXPECT_EQ(bytes_of(got), bytes_of(tensor)) << name;
  }
}

TEST_F(SafetensorsFiles, WritesLargerTypesFirstThenByNameWithAPaddedHeader) {
  const fs::path path = folder_ / "out.safetensors";
  write_safetensors(path, {{"a", Tensor(DType::kU8, {1})},
                           {"b", Tensor(DType::kF64, {1})},
                           {"c", Tensor(DType::kF32, {1})},
                           {"aa", Tensor(DType::kF32, {1})}});
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  std::string header = file.substr(8, length);
  header.erase(header.find_last_not_of(' ') + 1);
  EXPECT_EQ(header, R"({"b":)" + entry("F64", "[1]", "[0,8]") + R"(,"aa":)" +
                        entry("F32", "[1]", "[8,12]") + R"(,"c":)" +
                        entry("F32", "[1]", "[12,16]") + R"(,"a":)" +
                        entry("U8", "[1]", "[16,17]") + "}");
}

TEST_F(SafetensorsFiles, EqualInputsGiveEqualBytes) {
  write_safetensors(folder_ / "1", sample_tensors(), {{"k", "v"}});
  write_safetensors(folder_ / "2", sample_tensors(), {{"k", "v"}});
  EXPECT_EQ(read_file(folder_ / "1"), read_file(folder_ / "2"));
}

TEST_F(SafetensorsFiles, AFileMayBeReplacedWhileItsTensorsLive) {
  const fs::path path = folder_ / "out.safetensors";
  write_safetensors(path, {{"t", Tensor::f32({2}, std::vector<float>{1, 2})}});
  const Tensor old = read_safetensors(path).tensors.at("t");
  write_safetensors(path, {{"t", Tensor::f32({1}, std::vector<float>{9})}});
  EXPECT_THAT(old.to_f64(), ElementsAre(1, 2));
  EXPECT_THAT(read_safetensors(path).tensors.at("t").to_f64(), ElementsAre(9));
}

std::string write_error(const fs::path& path, const TensorMap& tensors,
                        const std::map<std::string, std::string>& metadata = {}) {
  try {
    write_safetensors(path, tensors, metadata);
  } catch (const UserError& error) {
    return error.what();
  }
  return "written";
}

TEST_F(SafetensorsFiles, RefusesToWriteWhatCannotBeReadBack) {
  const fs::path path = folder_ / "out";
  const Tensor one(DType::kF32, {1});
  EXPECT_THAT(write_error(path, {{"t", Tensor(DType::kTf32, {1})}}),
              AllOf(HasSubstr("no such dtype"), HasSubstr("tf32"), HasSubstr("tensor 't'")));
  EXPECT_THAT(write_error(path, {{"__metadata__", one}}), HasSubstr("cannot be named"));
  EXPECT_THAT(write_error(path, {{"t", Tensor()}}), HasSubstr("without shape"));
  EXPECT_THAT(write_error(path, {{"\xff", one}}), AllOf(HasSubstr("UTF-8"), HasSubstr("\\xff")));
  EXPECT_THAT(write_error(path, {{"t", one}}, {{"k", "\xff"}}), HasSubstr("UTF-8"));
  EXPECT_THAT(write_error(folder_ / "absent" / "out", {{"t", one}}), HasSubstr("cannot write"));
  EXPECT_TRUE(fs::is_empty(folder_)) << "a failed write left a file";
}

}  // namespace
}  // namespace krait
