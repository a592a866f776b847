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
// stats.json, `heddle list statistics`, the report and docs/statistics.md are all derived from these declarations, and
// so are sums over all units of a kind (CounterSums).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace heddle {

// In a describe(), around a value that speaks of its unit alone, so that a sum over units would mean nothing: the
// largest of something, a series over stretches of time that each unit chooses.
template <class Value>
struct OwnValue {
  Value& value;
};
template <class Value>
OwnValue(Value&) -> OwnValue<Value>;

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
    template <class Value>
    void operator()(std::string_view name, OwnValue<Value> own, std::string_view unit, std::string_view meaning) {
      (*this)(name, own.value, unit, meaning);
    }
    [[nodiscard]] StatisticDeclaration declare(std::string_view name, std::string_view unit,
                                               std::string_view meaning) const {
      return {std::string(module), std::string(name), std::string(unit), std::string(meaning)};
    }
  };

  std::vector<Scalar> scalars_;
  std::vector<Histogram> histograms_;
};

// Adds up and subtracts statistics structs of one kind, counter by counter as describe() declares them; OwnValues stay
// as they are in `into`. A histogram grows to the longer one's entries.
class CounterSums {
 public:
  template <class Sum, class Unit>
  void add(Sum& into, Unit& unit) {
    combine(into, unit, [](std::uint64_t& sum, std::uint64_t count) { sum += count; });
  }
  template <class Sum, class Unit>
  void subtract(Sum& into, Unit& unit) {
    combine(into, unit, [](std::uint64_t& sum, std::uint64_t count) { sum -= count; });
  }

 private:
  struct Source {
    CounterSums& lists;
    void operator()(std::string_view, const std::uint64_t& value, std::string_view, std::string_view) {
      lists.scalars_.push_back(&value);
    }
    void operator()(std::string_view, const std::vector<std::uint64_t>& values, std::string_view, std::string_view) {
      lists.histograms_.push_back(&values);
    }
    template <class Value>
    void operator()(std::string_view, OwnValue<Value>, std::string_view, std::string_view) {}
  };
  template <class Operation>
  struct Target {
    CounterSums& lists;
    Operation operation;
    std::size_t scalars = 0;
    std::size_t histograms = 0;
    void operator()(std::string_view name, std::uint64_t& value, std::string_view, std::string_view) {
      check(name, scalars, lists.scalars_.size());
      operation(value, *lists.scalars_[scalars++]);
    }
    void operator()(std::string_view name, std::vector<std::uint64_t>& values, std::string_view, std::string_view) {
      check(name, histograms, lists.histograms_.size());
      const std::vector<std::uint64_t>& from = *lists.histograms_[histograms++];
      values.resize(std::max(values.size(), from.size()));
      for (std::size_t i = 0; i < from.size(); ++i) {
        operation(values[i], from[i]);
      }
    }
    template <class Value>
    void operator()(std::string_view, OwnValue<Value>, std::string_view, std::string_view) {}
    static void check(std::string_view name, std::size_t next, std::size_t size) {
      if (next >= size) {
        throw InternalError("counters of two kinds cannot be added: one has no '" + std::string(name) + "'");
      }
    }
  };
  template <class Sum, class Unit, class Operation>
  void combine(Sum& into, Unit& unit, Operation operation) {
    scalars_.clear();
    histograms_.clear();
    Source source{*this};
    unit.describe(source);
    Target<Operation> target{*this, operation};
    into.describe(target);
  }

  std::vector<const std::uint64_t*> scalars_;  // of the unit, in the order of its describe()
  std::vector<const std::vector<std::uint64_t>*> histograms_;
};

}  // namespace heddle
