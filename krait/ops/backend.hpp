#pragma once

// The seam between operators and what runs them.
//   ref               float64 reference
//   cpu               Krait's f32 kernels on this CPU; cpu:naive, cpu:compiler: the other forms
//   neuron:M          the simulated NeuronCore M, with the operator's custom kernel of least
//                     predicted time
//   neuron:M/KERNEL   the same with a named kernel

#include <memory>
#include <string>
#include <string_view>

#include "krait/ops/operator.hpp"

namespace krait::ops {

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Runs one call forward. Outputs by name ("out", "last_state").
  /// @throws UserError if the backend cannot run this call; what() says why and the remedy
  [[nodiscard]] virtual TensorMap run(const Operator& op, const Call& call) = 0;
  /// What the last run() used, to the kernel: "neuron:trn2/scan_hardware"; before it, name().
  [[nodiscard]] virtual std::string ran() const { return name(); }
  /// The precision whose tolerance a result of this backend is held to: "float64", "float32", ...
  [[nodiscard]] virtual std::string_view precision() const = 0;
};

struct BackendOptions {
  std::size_t threads = 0;  // cpu; 0: one per CPU
};

/// @throws UserError for an unknown backend, machine or kernel, with the nearest names
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view spec,
                                                    const BackendOptions& options = {});

}  // namespace krait::ops
