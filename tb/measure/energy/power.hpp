// Power over time: the energy of each unit in each interval of a run, from what its counters have counted in it by the
// energy table's figures, and that of each kernel. The intervals' energies add up to the run's, to a double's last
// digits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tb/device/counter_sampler.hpp"
#include "tb/measure/energy/energy.hpp"

namespace heddle::tb {

// Intervals are of cycles of launches one after another, as hw::Totals::cycles counts them: what the host does between
// launches takes none.
struct Power {
  struct Module {
    std::string name;  // as Energy::Module
    std::string kind;
    double leakage_mw = 0;
  };
  // All launches of a kernel. Where several launches run at once, they have equal shares of the energy of that time.
  struct Kernel {
    std::string name;
    std::uint64_t launches = 0;
    std::uint64_t cycles = 0;  // of each launch, summed
    double pj = 0;
  };
  std::uint64_t interval = 0;  // cycles
  std::uint64_t cycles = 0;    // of the run
  double clock_ghz = 1;
  std::vector<Module> modules;
  std::vector<double> rows;     // pJ with leakage: of the first interval by module, of the second, and so on
  std::vector<Kernel> kernels;  // in the order of their first launches

  [[nodiscard]] std::size_t intervals() const { return (cycles + interval - 1) / interval; }
  // Of the last interval perhaps fewer than of the others.
  [[nodiscard]] std::uint64_t cycles_of(std::size_t at) const;
  [[nodiscard]] double nanoseconds_of(std::size_t at) const { return static_cast<double>(cycles_of(at)) / clock_ghz; }
  // With leakage, in an interval: by module; of all modules.
  [[nodiscard]] std::span<const double> row(std::size_t at) const {
    return {rows.data() + at * modules.size(), modules.size()};
  }
  [[nodiscard]] double pj(std::size_t at) const;
  [[nodiscard]] double pj() const;
  // The largest of a whole interval; of a run that is shorter, its own.
  [[nodiscard]] double peak_mw() const;
};

// How often power is looked at.
struct PowerSteps {
  static constexpr std::uint64_t kDefault = 10'000;  // cycles; the thermal simulator HotSpot's default at 3 GHz
  static constexpr std::size_t kMostJoined = 512;
  std::uint64_t interval = kDefault;
  // Neighbours are joined whenever there are kMostJoined intervals, and all later ones are twice as long: for who draws
  // a run of any length.
  bool joins = false;
};

class PowerSampler final : public CounterSampler {
 public:
  // Throws InputError for an interval of 0.
  PowerSampler(EnergyTable table, PowerSteps steps);
  void attached(const hw::Machine& machine, const StatisticsRegistry& counters,
                std::vector<hw::CountedUnit> units) override;
  [[nodiscard]] std::uint64_t every() const override { return power_.interval; }
  void sampled(std::uint64_t cycles) override;
  void launching(std::uint64_t launch, const std::string& kernel, std::uint64_t cycles) override;
  void launched(std::uint64_t launch, std::uint64_t cycles) override;
  // The run has ended in this cycle.
  [[nodiscard]] Power take(std::uint64_t cycles);

 private:
  // Counts of a unit that cost alike.
  struct Price {
    struct Term {
      const std::uint64_t* counter;  // null: the cycles
      std::uint64_t factor;
    };
    std::vector<Term> terms;
    double pj_per_count;
    std::uint64_t before = 0;  // the sum when last looked at
  };
  struct Running {
    std::uint64_t launch;
    std::size_t kernel;  // of Power::kernels
  };
  void collect(std::uint64_t cycles);
  void end_interval();
  void join_neighbours();

  const EnergyTable table_;
  const PowerSteps steps_;
  Power power_;
  std::vector<std::vector<Price>> prices_;  // by module
  std::vector<double> present_;             // pJ of each module in the interval that has begun
  std::vector<Running> running_;
  std::size_t over_ = 0;  // intervals
  std::uint64_t last_ = 0;
};

}  // namespace heddle::tb
