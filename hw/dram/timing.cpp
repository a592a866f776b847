#include "hw/dram/timing.hpp"

#include "hw/dram/bank_timing.hpp"
#include "hw/dram/jedec_timing.hpp"

namespace heddle::hw {

namespace {

class NoTiming final : public DramTiming {
 public:
  NoTiming() : DramTiming(0) {}
  [[nodiscard]] bool timed() const override { return false; }
  [[nodiscard]] Cycle earliest_start(const DramRequest& /*request*/, Cycle now) const override { return now; }
  DramStep start(DramRequest& request, Cycle now, bool /*close*/) override {
    request.data = now;
    return {true, now, 0, 0};
  }
  [[nodiscard]] bool last_step(const DramRequest& /*request*/) const override { return true; }
  [[nodiscard]] Cycle conflict_penalty() const override { return 0; }
  [[nodiscard]] Cycle conflict_latency() const override { return 0; }
};

}  // namespace

std::unique_ptr<DramTiming> make_dram_timing(const DramParameters& parameters, unsigned line_bytes,
                                             double clock_period_ns) {
  if (parameters.timing == "jedec") {
    return std::make_unique<JedecTiming>(parameters, line_bytes, clock_period_ns);
  }
  if (parameters.timing == "none") {
    return std::make_unique<NoTiming>();
  }
  return std::make_unique<HitConflictTiming>(parameters, line_bytes, clock_period_ns);
}

}  // namespace heddle::hw
