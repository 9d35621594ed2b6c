#pragma once

// What bounds a machine at best: its roofs, for the roofline charts.

#include <string>
#include <string_view>
#include <vector>

namespace krait::study::report {

struct Roofs {
  double bytes_per_ns = 0;  // memory, one core's share
  std::string memory;       // what that is
  struct Peak {
    std::string name;
    double gflops = 0;
  };
  std::vector<Peak> peaks;
};

/// Of a generation, from its table. Empty for a name that is none.
[[nodiscard]] Roofs machine_roofs(std::string_view machine);

}  // namespace krait::study::report
