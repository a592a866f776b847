// lwm-divergent: whom large warps help.

#include "tb/studies/reproduce/figures/lwm_study.hpp"

namespace heddle::tb::lwm {
namespace {

class LargeWarpWorkloads final : public Claim {
 public:
  explicit LargeWarpWorkloads(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1042,
            .statement =
                "LWM alone significantly improves the branch-intensive leftmost four; for the idle-intensive rightmost "
                "ones it does not provide much benefit",
            .paper = "gain on the leftmost four, about none on the rightmost",
            .source = "LWM report, section 6.1; thesis, section 5.2.1",
            .note = ""};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    return judge_groups(results, machines(), {"leftmost four", leftmost()}, {"rightmost seven", rightmost()});
  }

 private:
  static std::vector<Variant> machines() { return {baseline(), large(), thesis_baseline(), thesis_large()}; }
};

const Register<Claim, LargeWarpWorkloads> large_warp_workloads_entry{"lwm-divergent",
                                                                     "Which workloads large warps help"};

}  // namespace
}  // namespace heddle::tb::lwm
