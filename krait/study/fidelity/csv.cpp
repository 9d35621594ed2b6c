#include "krait/study/fidelity/csv.hpp"

#include <algorithm>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::study {
namespace {

class Reader {
 public:
  Reader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] int line() const { return line_; }

  /// The fields of the next record; a blank line is one empty field.
  std::vector<std::string> record() {
    first_line_ = line_;
    std::vector<std::string> out{field()};
    while (take(',')) out.push_back(field());
    take('\r');
    if (!done() && !take('\n')) fail("text follows a closing quote", "double quotes within quotes");
    return out;
  }

  [[noreturn]] void fail(const std::string& what, const std::string& fix) const {
    throw UserError(Report{what, cat(where_, ", line ", first_line_), {}, fix});
  }

 private:
  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    line_ += c == '\n';
    ++at_;
    return true;
  }

  std::string field() {
    if (take('"')) return quoted();
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string out(text_.substr(at_, end - at_));
    at_ = end;
    return out;
  }

  std::string quoted() {
    std::string out;
    while (!done()) {
      const char c = text_[at_];
      (void)take(c);
      if (c == '"' && !take('"')) return out;  // two of them are one
      out += c;
    }
    fail("a quote is not closed", "end the field with a quote");
  }

  std::string_view text_, where_;
  std::size_t at_ = 0;
  int line_ = 1, first_line_ = 1;
};

}  // namespace

CsvTable parse_csv(std::string_view text, std::string_view where) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Reader reader(text, where);
  CsvTable out;
  out.header = reader.record();
  while (!reader.done()) {
    std::vector<std::string> fields = reader.record();
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (fields.size() != out.header.size())
      reader.fail(cat("the row has ", fields.size(), " fields, the header ", out.header.size()),
                  "give every row a field for each column; quote fields with commas");
    auto& row = out.rows.emplace_back();
    for (std::size_t c = 0; c < fields.size(); ++c) row[out.header[c]] = std::move(fields[c]);
  }
  return out;
}

}  // namespace krait::study
