#include "krait/tensor/safetensors_header.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::detail {
namespace {

// numpy's limit; bounds what a hostile header can make us hold.
constexpr std::size_t kMaxRank = 64;
constexpr std::size_t kMaxShown = 80;
constexpr std::string_view kMetadataKey = "__metadata__";

// The header has a fixed shape, so a handler of parser events needs no tree: deep nesting stops at
// the first level that should not be there, and a repeated key is seen (a tree would keep one
// silently).
class HeaderHandler {
 public:
  explicit HeaderHandler(const std::string& source) : source_(source) {}

  [[nodiscard]] Header take() { return std::move(header_); }

  // The names and signatures below are the parser's.
  bool null() { wrong("null"); }
  bool boolean(bool value) { wrong(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { wrong(std::to_string(value)); }
  bool number_float(double, const std::string& text) { wrong(printable(text)); }
  bool binary(nlohmann::json::binary_t&) { wrong("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (state_ == State::kShape) return add_dimension(value);
    if (state_ == State::kOffsets) return add_offset(value);
    wrong(std::to_string(value));
  }

  bool string(std::string& value) {
    if (state_ == State::kMetadata) {
      header_.metadata[key_] = std::move(value);
    } else if (state_ == State::kTensor && key_ == "dtype") {
      entry().dtype = std::move(value);
    } else {
      wrong("the string " + printable(value));
    }
    return true;
  }

  bool start_object(std::size_t) {
    switch (state_) {
      case State::kStart:
        state_ = State::kTop;
        return true;
      case State::kTop:
        start_entry();
        return true;
      default:
        wrong("an object");
    }
  }

  bool key(std::string& text) {
    key_ = std::move(text);
    if (state_ == State::kTop && !names_.insert(key_).second)
      reject("a name occurs twice", place());
    if (state_ == State::kMetadata && header_.metadata.contains(key_))
      reject("a metadata key occurs twice", place());
    if (state_ == State::kTensor) check_field();
    return true;
  }

  bool end_object() {
    switch (state_) {
      case State::kTensor:
        finish_entry();
        break;
      case State::kMetadata:
        state_ = State::kTop;
        break;
      default:
        state_ = State::kEnd;
    }
    return true;
  }

  bool start_array(std::size_t) {
    if (state_ != State::kTensor || key_ == "dtype") wrong("an array");
    state_ = key_ == "shape" ? State::kShape : State::kOffsets;
    return true;
  }

  bool end_array() {
    if (state_ == State::kOffsets && offsets_seen_ != 2)
      wrong_offset_count(cat("an array of ", offsets_seen_));
    state_ = State::kTensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const std::exception&) {
    throw UserError(Report{"the safetensors header is not valid JSON", source_,
                           cat("byte ", position, " of the header, near ", printable(token)),
                           "the file is damaged or not a safetensors file; get it again"});
  }

 private:
  enum class State { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

  HeaderEntry& entry() { return header_.entries.back(); }

  void start_entry() {
    if (key_ == kMetadataKey) {
      state_ = State::kMetadata;
      return;
    }
    header_.entries.emplace_back().name = key_;
    fields_.clear();
    offsets_seen_ = 0;
    state_ = State::kTensor;
  }

  void check_field() {
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets")
      reject("a tensor has an unknown field", printable(key_));
    if (!fields_.insert(key_).second) reject("a tensor's field occurs twice", printable(key_));
  }

  void finish_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(field)) reject("a tensor's field is missing", field);
    state_ = State::kTop;
  }

  bool add_dimension(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      wrong(std::to_string(value));
    if (entry().shape.size() == kMaxRank)
      reject("a shape has too many dimensions", cat("more than ", kMaxRank));
    entry().shape.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool add_offset(std::uint64_t value) {
    if (offsets_seen_ == 2) wrong_offset_count("a third number");
    entry().offsets[offsets_seen_++] = value;
    return true;
  }

  [[noreturn]] void wrong_offset_count(const std::string& got) {
    reject("data_offsets must be two numbers, begin and end", got);
  }

  /// A value of the wrong type: the message says what belongs here.
  [[noreturn]] void wrong(const std::string& got) { reject(expectation(), got); }

  [[nodiscard]] std::string expectation() const {
    switch (state_) {
      case State::kTop:
        return "an entry of the safetensors header must be an object";
      case State::kMetadata:
        return cat("metadata must be strings; ", printable(key_), " is not");
      case State::kShape:
        return "a shape's dimensions must be integers from 0 to 2^63 - 1";
      case State::kOffsets:
        return "data_offsets must be integers from 0 to 2^64 - 1";
      case State::kTensor:
        if (key_ == "dtype") return "dtype must be a string";
        return key_ == "shape" ? "shape must be an array of integers"
                               : "data_offsets must be an array of two integers";
      default:
        return "the safetensors header must be an object";
    }
  }

  [[nodiscard]] bool inside_tensor() const {
    return state_ == State::kTensor || state_ == State::kShape || state_ == State::kOffsets;
  }

  [[nodiscard]] std::string place() const { return printable(key_); }

  [[noreturn]] void reject(const std::string& what, const std::string& got) {
    const std::string where = inside_tensor()         ? tensor_place(source_, entry().name)
                              : state_ == State::kTop ? cat(source_, ", header entry ", place())
                                                      : source_;
    throw UserError(
        Report{what, where, got, "write the file again with a correct safetensors writer"});
  }

  const std::string& source_;
  State state_ = State::kStart;
  std::string key_;
  std::unordered_set<std::string> names_;   // keys of the top level
  std::unordered_set<std::string> fields_;  // keys of the open entry
  std::size_t offsets_seen_ = 0;
  Header header_;
};

}  // namespace

Header parse_header(std::string_view json, const std::string& source) {
  if (json.empty() || json.front() != '{') {
    throw UserError(Report{"the safetensors header does not start with '{'", source,
                           json.empty() ? "an empty header" : printable(json.substr(0, 16)),
                           "check that this is a safetensors file"});
  }
  // The parser takes a zero byte for the end of its input and would ignore what follows.
  if (const std::size_t zero = json.find('\0'); zero != std::string_view::npos) {
    throw UserError(Report{"the safetensors header is not valid JSON", source,
                           cat("a zero byte at byte ", zero + 1, " of the header"),
                           "the file is damaged or not a safetensors file; get it again"});
  }
  HeaderHandler handler(source);
  nlohmann::json::sax_parse(json.begin(), json.end(), &handler);
  return handler.take();
}

std::string format_header(const Header& header, const std::string& source) {
  // Written entry by entry: ordered_json finds a key by looking at all, quadratic for many tensors.
  std::string text = "{";
  const auto append = [&](std::string_view key, const nlohmann::ordered_json& value) {
    if (text.size() > 1) text += ',';
    text += nlohmann::json(key).dump() + ':' + value.dump();
  };
  std::string current(kMetadataKey);
  try {
    if (!header.metadata.empty()) append(kMetadataKey, header.metadata);
    for (const HeaderEntry& entry : header.entries) {
      current = entry.name;
      append(entry.name, {{"dtype", entry.dtype},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.begin(), entry.end()}}});
    }
  } catch (const nlohmann::json::type_error&) {  // dump() of a string that is not UTF-8
    throw UserError(Report{"names and metadata of a safetensors file must be UTF-8",
                           tensor_place(source, current),
                           {},
                           "rename the tensor or fix the text"});
  }
  return text + '}';
}

std::string printable(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text) {
    if (out.size() > kMaxShown) return cat(out, "...' (", text.size(), " bytes)");
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out + "'";
}

std::string tensor_place(const std::string& source, std::string_view tensor) {
  return cat(source, ", tensor ", printable(tensor));
}

}  // namespace krait::detail
