#pragma once

// Errors of the library. The library never prints, exits or aborts: it throws one of
//   UserError      the caller's kernel, config, file or flag is wrong          (CLI exit 1)
//   MachineFault   a run-time rule of the simulated machine broke              (CLI exit 1)
//   InternalError  our bug                                                     (CLI exit 70)
// A message says what is wrong, where, what was got and how to fix it. Where and got may be
// empty; a UserError or a MachineFault without a remedy fails tests/errors.

#include <stdexcept>
#include <string>

namespace krait {

/// The parts of a message; `what` is one line, the others become indented lines below it.
struct Report {
  std::string what;   ///< the rule and how it broke, one line
  std::string where;  ///< file, kernel, instruction or argument
  std::string got;    ///< the offending values
  std::string fix;    ///< the remedy

  /// "what\n  where  ...\n  got    ...\n  fix    ..."
  [[nodiscard]] std::string text() const;
};

class Error : public std::runtime_error {
 public:
  explicit Error(Report report);
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  Report report_;
};

class UserError : public Error {
 public:
  explicit UserError(Report report) : Error(std::move(report)) {}
};

class MachineFault : public Error {
 public:
  explicit MachineFault(Report report) : Error(std::move(report)) {}
};

class InternalError : public Error {
 public:
  explicit InternalError(Report report) : Error(std::move(report)) {}
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace krait

/// Checks an invariant of our own code in every build; throws InternalError with file and line.
#define KRAIT_ASSERT(condition)                                  \
  do {                                                           \
    if (!(condition)) [[unlikely]]                               \
      ::krait::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)
