// 2lev-avg: LWM report 6.1, figure 9; thesis 5.2.1, figure 5.1.
#include "tb/reproduce/figures/lwm_study.hpp"

namespace heddle::tb::lwm {
namespace {

class TwoLevelGain final : public Claim {
 public:
  explicit TwoLevelGain(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1050,
            .title = "Two-level scheduling alone",
            .statement =
                "Two-level scheduling alone, with fetch groups of 8 warps, improves performance by 10.1 % (report) and "
                "9.9 % (thesis) over the baseline",
            .paper = "+10.1 % (report); +9.9 % (thesis)",
            .source = "LWM report, section 6.1, figure 9; thesis, section 5.2.1, figure 5.1",
            .note = ""};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_for(gains()); }
  [[nodiscard]] Finding judge(const Results& results) const override { return judge_gains(results, gains()); }

 private:
  static std::vector<Gain> gains() {
    return {{two_level(), baseline(), 0.101}, {thesis_two_level(), thesis_baseline(), 0.099}};
  }
};

const Register<Claim, TwoLevelGain> entry{"2lev-avg", "Two-level scheduling alone"};

}  // namespace
}  // namespace heddle::tb::lwm
