#include "apps/krait/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "krait/base/text.hpp"

namespace krait::app {

int output_width() {
  constexpr int kNoTerminal = 100, kLeast = 40, kMost = 200;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kNoTerminal;
  return std::clamp(static_cast<int>(size.ws_col), kLeast, kMost);
}

std::string TextTable::text(int width) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::size_t before = 0;  // where the last column starts
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before += widths[c] + 2;
  constexpr std::size_t kLeastWrapped = 24;
  const auto limit = static_cast<std::size_t>(width);
  const bool wrap = before + widths.back() > limit && before + kLeastWrapped <= limit;
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c + 1 < widths.size(); ++c) {
      const std::string cell = c < row.size() ? row[c] : "";
      line += cell;
      line.append(widths[c] - cell.size() + 2, ' ');
    }
    const std::string last = row.size() == widths.size() ? row.back() : "";
    const std::string block = wrap ? wrapped(last, static_cast<int>(before), width) : "";
    line += block.empty() ? last : block.substr(before, block.size() - before - 1);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string bar(double share, int width) {
  const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<std::size_t>(std::lround(clamped * width));
  return std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.');
}

Written write_stdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EPIPE) {
      return Written::kPipeClosed;
    } else if (errno != EINTR) {
      return Written::kFailed;
    }
  }
  return Written::kAll;
}

struct Progress::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::string what;
  bool done = false;
  bool shown = false;
  std::thread thread;

  void loop() {
    using namespace std::chrono_literals;
    constexpr auto kQuiet = 2s, kPeriod = 1s;
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(kQuiet);
    while (!changed.wait_for(lock, wait, [this] { return done; })) {
      const auto elapsed = std::chrono::steady_clock::now() - start;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
      std::fprintf(stderr, "\r\033[K%s (%lld s)", what.c_str(), static_cast<long long>(seconds));
      std::fflush(stderr);
      shown = true;
      wait = kPeriod;
    }
    if (shown) std::fputs("\r\033[K", stderr);
  }
};

Progress::Progress(std::string what) {
  if (::isatty(STDERR_FILENO) == 0) return;
  state_ = std::make_unique<State>();
  state_->what = std::move(what);
  state_->thread = std::thread([state = state_.get()] { state->loop(); });
}

Progress::~Progress() {
  if (!state_) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->done = true;
  }
  state_->changed.notify_one();
  state_->thread.join();
}

void Progress::update(std::string what) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->what = std::move(what);
}

}  // namespace krait::app
