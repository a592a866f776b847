// lwm-avg: LWM report 6.1, figure 9; thesis 5.2.1, figure 5.1.
#include "tb/studies/reproduce/figures/lwm_study.hpp"

namespace heddle::tb::lwm {
namespace {

class LargeWarpGain final : public Claim {
 public:
  explicit LargeWarpGain(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1040,
            .statement =
                "LWM alone, four large warps of 256 threads under round robin, improves performance by 7.6 % (report) "
                "and 7.9 % (thesis) over the baseline",
            .paper = "+7.6 % (report); +7.9 % (thesis)",
            .source = "LWM report, section 6.1, figure 9; thesis, section 5.2.1, figure 5.1",
            .note = ""};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_for(gains()); }
  [[nodiscard]] Finding judge(const Results& results) const override { return judge_gains(results, gains()); }

 private:
  static std::vector<Gain> gains() {
    return {{large(), baseline(), 0.076}, {thesis_large(), thesis_baseline(), 0.079}};
  }
};

const Register<Claim, LargeWarpGain> large_warp_gain_entry{"lwm-avg", "Large warps alone"};

}  // namespace
}  // namespace heddle::tb::lwm
