// The files that show a run's power over time: --power FILE.csv, .ptrace or .json.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "base/byte_sink.hpp"
#include "tb/measure/energy/power.hpp"
#include "tb/measure/run_product.hpp"

namespace heddle::tb {

// Watts in the form that the thermal simulator HotSpot reads: a line of the modules' names, and a line of watts for
// each interval, with tabs between.
void power_trace(const Power& power, ByteSink& out);
// All that Power holds: watts of the GPU, of each kind of unit and of each module by interval; energies by kernel.
// docs/user-guide.md describes it.
void power_json(const RunRecord& record, ByteSink& out);

// "kernel", "launches", "cycles", "pj" of each.
[[nodiscard]] boost::json::array kernels_json(const Power& power);
// Power in at most 512 steps, for a page: "interval_cycles" of a step, "peak_mw" of an interval of "peak_cycles", mW of
// "kinds" of units by step, "kernels".
[[nodiscard]] boost::json::object power_steps_json(const Power& power);

class PowerFile final : public RunProduct {
 public:
  // Throws InputError for a path that names no form.
  explicit PowerFile(std::string path);
  void check() const override;
  void make(const RunRecord& record, const StatisticsRegistry& modules) override;

 private:
  const std::string path_;
};

}  // namespace heddle::tb
