#pragma once

// The time core: takes instructions one at a time, in program order, and says when each starts,
// frees its engine and shows its result. Needs no Program and no data.
//
// Rules (A2, A3, DMAO, DGE, EXP):
//  - every engine's sequencer issues in order; engines run in parallel
//  - an instruction waits for its engine, the ports it shares, its semaphores and its data (byte
//    ranges: read after write, write after read, write after write)
//  - next issue >= issue + occupancy; result visible at issue + occupancy + latency
//  - another queue sees a result one semaphore latency later
//  - a DMA occupies its trigger's sequencer for the issue time; its descriptors run on up to 16
//    engines, in order within a ring; completion is seen end_to_consumer later
//  - TensorE: the next LoadStationary hides behind the running product; power ramp on v3 and later
//  - ScalarE: a function outside the loaded table costs a table load

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "krait/isa/insn.hpp"
#include "krait/sim/calendar.hpp"
#include "krait/sim/dependence.hpp"
#include "krait/sim/path.hpp"

namespace krait::sim {

struct Access {
  const isa::Tile* tile;
  bool write;
};

/// A wait for the value-th signal of a semaphore.
struct SemaphoreWait {
  std::uint32_t semaphore;
  std::int64_t value;
};

/// One instruction, bound. For TensorE the first access that reads is the stationary operand.
struct Record {
  std::string_view name;
  isa::Engine engine;
  const isa::Timing* timing;
  std::span<const Access> accesses;
  std::span<const SemaphoreWait> waits{};
  std::span<const std::uint32_t> signals{};
};

struct Issued {
  Ps start, free, done;
};

class Timeline {
 public:
  explicit Timeline(const MachineSpec& machine);

  /// Declares HBM buffer `index` (in order 0, 1, ...). Untracked buffers are never written.
  void add_hbm_buffer(std::int64_t bytes, bool written) {
    dependences_.add_hbm_buffer(bytes, written);
  }

  /// @throws MachineFault if it waits for a signal that no earlier instruction gives: a deadlock,
  /// as signals are given in program order
  Issued issue(const Record& record);

  // --- after the run ---
  [[nodiscard]] Ps time() const { return last_done_; }
  [[nodiscard]] Ps engine_busy(isa::Engine engine) const {
    return busy_[static_cast<std::size_t>(engine)];
  }
  [[nodiscard]] Ps dma_busy() const;  // mean of the DMA engines
  [[nodiscard]] std::int64_t work(isa::Engine engine) const {
    return work_[static_cast<std::size_t>(engine)];
  }
  [[nodiscard]] std::int64_t instructions(isa::Engine engine) const {
    return count_[static_cast<std::size_t>(engine)];
  }
  [[nodiscard]] std::int64_t dma_count() const { return dma_count_; }
  [[nodiscard]] std::int64_t hbm_read_bytes() const { return hbm_read_; }
  [[nodiscard]] std::int64_t hbm_write_bytes() const { return hbm_write_; }
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] const Path& path() const { return path_; }

 private:
  struct Waits {
    Constraint all;         // everything
    Constraint stationary;  // TensorE: the stationary operand alone
    std::int32_t depth = 0;
  };
  [[nodiscard]] Waits gather(const Record& record, Queue queue);
  void wait_semaphores(const Record& record, Queue queue, Constraint& c) const;
  Issued issue_engine(const Record& record, const Waits& waits, PathNode& node);
  Issued issue_tensor(const Record& record, const Waits& waits, PathNode& node);
  Issued issue_dma(const Record& record, const Waits& waits, PathNode& node);
  [[nodiscard]] Ps place_on_ports(const Record& record, Ps earliest, Ps& occupancy);
  [[nodiscard]] Ps ramped(Ps start, Ps nominal);
  void begin(PathNode& node, isa::Engine engine, const Constraint& c, Ps& start) const;

  const MachineSpec& m_;
  DependenceMap dependences_;
  Path path_;
  std::array<Ps, isa::kEngineCount> free_{};
  std::array<std::int32_t, isa::kEngineCount> last_{};
  std::array<Ps, isa::kEngineCount> busy_{};
  std::array<std::int64_t, isa::kEngineCount> work_{}, count_{};
  // Ports (A2, A3).
  Calendar sbuf_vector_gpsimd_, psum_vector_scalar_, fast_vector_, gpsimd_sbuf_;
  std::array<Calendar, 8> psum_bank_vector_scalar_;
  // TensorE.
  Ps last_product_start_{};
  Ps warm_{};        // work since the ramp started
  Ps ramp_began_{};  // and when that was
  std::vector<std::pair<Ps, Ps>> recent_products_;
  // ScalarE.
  bool table_loaded_ = false;
  UnaryFn table_ = UnaryFn::kCopy;
  // DMA.
  std::vector<Calendar> dma_engines_;
  std::array<std::array<Ps, 64>, 5> ring_end_{};
  Calendar hbm_;
  std::int64_t dma_count_ = 0, hbm_read_ = 0, hbm_write_ = 0;
  // Semaphores: times of the signals given, in order, with the queue that gave them.
  std::map<std::uint32_t, std::vector<Mark>> signals_;
  Ps last_done_{};
  std::int64_t depth_ = 0;
};

}  // namespace krait::sim
