// A machine beside a real GPU: the same campaign of hardware/ measured on both.
#pragma once

#include <string>
#include <vector>

namespace heddle::studies {

// A file of results (hardware/README.md).
struct Measurements {
  struct Row {
    std::string name, group, unit, key, status;
    double value = 0;  // times in cycles of the measured clock; rates of nanoseconds by cycle
    bool has_value = false;
  };
  std::string path, campaign, device;
  double clock_mhz = 0;
  std::vector<Row> rows;
};

// Throws InputError for a file that is none of results.
[[nodiscard]] Measurements read_measurements(const std::string& path);

// How far a machine is from the hardware, over some kernels.
struct Deviation {
  std::string of;  // the group; "all"
  std::size_t kernels = 0;
  double mean_error = 0;   // mean of |machine - hardware| / hardware
  double worst_error = 0;  // largest of them
  double ratio = 0;        // geometric mean of machine / hardware
  double correlation = 0;  // Pearson's, of the figures' logarithms; NaN: fewer than two, or all alike
};

struct Compared {
  std::string name, group, unit;
  double hardware = 0, machine = 0;
  [[nodiscard]] double error() const { return (machine - hardware) / hardware; }
};

struct Correlation {
  std::vector<Compared> kernels;     // worst first
  std::vector<Deviation> groups;     // in the order of the hardware's rows; then all
  std::vector<std::string> missing;  // of the hardware, with the reason: "launch/...: the machine has no figure"
};

// Pairs rows by name. Those that were measured by another item of that name (their keys differ) are left out. Throws
// InputError when campaigns differ or no kernel has both figures.
[[nodiscard]] Correlation correlate(const Measurements& hardware, const Measurements& machine);

[[nodiscard]] std::string correlation_text(const Correlation& correlation, const Measurements& hardware,
                                           const Measurements& machine);
[[nodiscard]] std::string correlation_csv(const Correlation& correlation);

}  // namespace heddle::studies
