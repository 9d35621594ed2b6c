#pragma once

// A bounded thread pool, passed explicitly. Work is cut into tiles that do not depend on the number
// of threads, so results do not either. Workers spin briefly, then sleep: a pool that only spins
// collapses when another process takes a core.

#include <cstddef>
#include <functional>
#include <memory>

namespace krait {

class ThreadPool {
 public:
  /// @param threads total threads that run a loop, the caller included; 0 means one per CPU
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] std::size_t threads() const;

  /// Runs body(i, worker) for i in [0, count), tiles handed out in order; worker < threads() names
  /// the executing thread, for scratch. Returns when all are done. The first exception is rethrown
  /// here, after the others have finished. Not reentrant: body must not call run of the same pool.
  void run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krait
