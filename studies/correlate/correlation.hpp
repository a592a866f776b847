// A machine beside a real GPU: the same campaign of hardware/ measured on both.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::studies {

// A file of results (hardware/README.md).
struct Measurements {
  struct Row {
    std::string name, group, unit, key, status;
    std::string source;  // of a published figure; empty: measured
    double value = 0;    // times in cycles of the measured clock; rates of nanoseconds by cycle
    bool has_value = false;
    boost::json::object counters = {};  // of a machine's run of that kernel, as stats.json has its summary; empty: none
  };
  std::string path, campaign, device;
  double clock_mhz = 0;
  std::vector<Row> rows;
};

// Throws InputError for a file that is none of results.
[[nodiscard]] Measurements read_measurements(const std::string& path);

// What a machine made of whole programs: `folder` has a folder for each program, which heddle exec --out has written. A
// row is a kernel of a program, "program/kernel" (the kernel's name as nvcc has it), and the mean cycles of its
// launches that were simulated to their end. A program of one kernel has its run's counters. Throws InputError where
// there is no such run, or one whose clock is another.
[[nodiscard]] Measurements read_runs(const std::string& folder);
constexpr const char* kPrograms = "programs";  // the campaign of such runs, and of the hardware's figures for them

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
  std::string source;  // as Measurements::Row
  double hardware = 0, machine = 0;
  bool held_out = false;
  boost::json::object counters = {};  // of a run of this kernel alone, as stats.json has its summary; empty: none
  [[nodiscard]] double error() const { return (machine - hardware) / hardware; }
  // "61 % memory, 12 % pipeline": the two causes of most idle cycles, as shares of all core cycles. Empty without
  // counters.
  [[nodiscard]] std::string idle_causes() const;
};

// Kernels whose names are alike but for a number at their end, over that number.
struct Series {
  struct Point {
    double size = 0, hardware = 0, machine = 0;
  };
  std::string name;           // without the number
  std::vector<Point> points;  // at least two, by size
  // Exponents: of a figure that grows as size^k, k, by least squares of logarithms.
  double hardware_slope = 0, machine_slope = 0;
};

struct Correlation {
  std::vector<Compared> kernels;     // worst first
  std::vector<Deviation> groups;     // in the order of the hardware's rows; then all, those looked at, those held out
  std::vector<Series> series;        // by name, of kernels that are not held out
  std::vector<std::string> missing;  // of the hardware, with the reason: "launch/...: the machine has no figure"
};

// Pairs rows by name. Those that were measured by another item of that name (their keys differ) are left out. Throws
// InputError when campaigns differ or no kernel has both figures. `hold_out`: the seed of a draw of a third of the
// kernels, by their names alone, which are measured but not looked at while the model is mended: they have their own
// deviation, and are shown nowhere else.
[[nodiscard]] Correlation correlate(const Measurements& hardware, const Measurements& machine,
                                    std::optional<std::uint64_t> hold_out = {});

[[nodiscard]] std::string correlation_text(const Correlation& correlation, const Measurements& hardware,
                                           const Measurements& machine);
// Where kernels have counters, a column for each; `nsight`: for those that have a name in Nsight Compute, by that name.
[[nodiscard]] std::string correlation_csv(const Correlation& correlation, bool nsight = false);
// A page with scatter plots. `command`: what brings it about again.
[[nodiscard]] std::string correlation_page(const Correlation& correlation, const Measurements& hardware,
                                           const Measurements& machine, const std::string& command);

}  // namespace heddle::studies
