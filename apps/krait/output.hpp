#pragma once

// What commands show: tables and bars as text, writing to standard output, terminal progress.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace krait::app {

/// How many columns text may take: the terminal's, or 100 where standard output is none, so that
/// files and pipes get the same bytes everywhere.
[[nodiscard]] int output_width();

/// Columns padded to their widest cell, two spaces between them, no trailing spaces. Only the last
/// column is wrapped, and only if enough of the width is left for it.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text(int width = output_width()) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A share from 0 to 1 as `width` cells: "######....".
[[nodiscard]] std::string bar(double share, int width);

enum class Written { kAll, kPipeClosed, kFailed };
/// Writes everything to standard output. kFailed leaves the reason in errno.
[[nodiscard]] Written write_stdout(std::string_view text);

/// While it lives, and from the third second on, shows what is being done on standard error. Does
/// nothing if standard error is not a terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(std::string what);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krait::app
