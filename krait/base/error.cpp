#include "krait/base/error.hpp"

#include <utility>

namespace krait {
namespace {

void append_line(std::string& text, const char* label, const std::string& value) {
  if (value.empty()) return;
  text += "\n  ";
  text += label;
  text += value;
}

}  // namespace

std::string Report::text() const {
  std::string out = what;
  append_line(out, "where  ", where);
  append_line(out, "got    ", got);
  append_line(out, "fix    ", fix);
  return out;
}

Error::Error(Report report) : std::runtime_error(report.text()), report_(std::move(report)) {}

void assertion_failed(const char* condition, const char* file, int line) {
  throw InternalError(Report{"internal error: a condition that must hold does not",
                             std::string(file) + ":" + std::to_string(line), condition,
                             "please report this with the command that led to it"});
}

}  // namespace krait
