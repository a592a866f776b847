// Counters that explain themselves. A module keeps its counters as plain integers in a struct and declares each one
// exactly once, in the struct's describe():
//
//   struct FetchStatistics {
//     std::uint64_t instructions = 0;
//     template <class Visitor> void describe(Visitor& visit) {
//       visit("instructions", instructions, "warp instructions", "instructions handed to decode");
//     }
//   };
//
// stats.json, `heddle list statistics`, the report and docs/statistics.md are all derived from these declarations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct StatisticDeclaration {
  std::string module;  // hierarchical SystemC name, e.g. "gpu.core0.l1d"
  std::string name;
  std::string unit;
  std::string meaning;
};

// Collects pointers to live counters; values are read when asked for.
class StatisticsRegistry {
 public:
  struct Scalar {
    StatisticDeclaration declaration;
    const std::uint64_t* value;
  };
  struct Histogram {
    StatisticDeclaration declaration;
    const std::vector<std::uint64_t>* values;
  };

  // Adds every counter of a statistics struct under a module's hierarchical name.
  template <class Statistics>
  void add(std::string_view module, Statistics& statistics) {
    Collector collector{*this, module};
    statistics.describe(collector);
  }

  [[nodiscard]] const std::vector<Scalar>& scalars() const { return scalars_; }
  [[nodiscard]] const std::vector<Histogram>& histograms() const { return histograms_; }

 private:
  struct Collector {
    StatisticsRegistry& registry;
    std::string_view module;
    void operator()(std::string_view name, const std::uint64_t& value, std::string_view unit,
                    std::string_view meaning) {
      registry.scalars_.push_back({declare(name, unit, meaning), &value});
    }
    void operator()(std::string_view name, const std::vector<std::uint64_t>& values, std::string_view unit,
                    std::string_view meaning) {
      registry.histograms_.push_back({declare(name, unit, meaning), &values});
    }
    [[nodiscard]] StatisticDeclaration declare(std::string_view name, std::string_view unit,
                                               std::string_view meaning) const {
      return {std::string(module), std::string(name), std::string(unit), std::string(meaning)};
    }
  };

  std::vector<Scalar> scalars_;
  std::vector<Histogram> histograms_;
};

}  // namespace heddle
