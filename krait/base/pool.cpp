#include "krait/base/pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace krait {

struct ThreadPool::State {
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable finished;

  // One loop at a time. `epoch` is bumped under the mutex to publish a loop.
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<bool> stopping{false};
  const std::function<void(std::size_t, std::size_t)>* body = nullptr;
  std::size_t count = 0;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> busy{0};  // workers that have not yet left the current loop
  std::exception_ptr error;

  void work(std::size_t worker) {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        (*body)(i, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next.store(count);
      }
    }
  }

  void loop(std::size_t worker) {
    std::uint64_t seen = 0;
    while (true) {
      wait_for_epoch(seen);
      if (stopping.load()) return;
      seen = epoch.load();
      work(worker);
      if (busy.fetch_sub(1) == 1) {
        const std::lock_guard lock(mutex);
        finished.notify_one();
      }
    }
  }

  // About 20 us of spinning covers the gap between two loops of one operator; longer gaps sleep.
  void wait_for_epoch(std::uint64_t seen) {
    for (int spin = 0; spin < 2000; ++spin) {
      if (epoch.load(std::memory_order_acquire) != seen) return;
      if (stopping.load()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return epoch.load() != seen || stopping.load(); });
  }
};

ThreadPool::ThreadPool(std::size_t threads) : state_(std::make_unique<State>()) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < threads; ++i)
    state_->workers.emplace_back([state = state_.get(), i] { state->loop(i); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping.store(true);
  }
  state_->wake.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

std::size_t ThreadPool::threads() const {
  return state_->workers.size() + 1;
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) {
  State& s = *state_;
  if (count == 0) return;
  if (s.workers.empty() || count == 1) {
    for (std::size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  {
    const std::lock_guard lock(s.mutex);
    s.body = &body;
    s.count = count;
    s.error = nullptr;
    s.next.store(0);
    s.busy.store(s.workers.size());
    s.epoch.fetch_add(1, std::memory_order_release);
  }
  s.wake.notify_all();
  s.work(0);
  std::unique_lock lock(s.mutex);
  s.finished.wait(lock, [&] { return s.busy.load() == 0; });
  if (s.error) std::rethrow_exception(s.error);
}

}  // namespace krait
