// 2lev-idle: whom two-level scheduling helps.

#include "tb/studies/reproduce/figures/lwm_study.hpp"

namespace heddle::tb::lwm {
namespace {

class TwoLevelWorkloads final : public Claim {
 public:
  explicit TwoLevelWorkloads(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {
        .rank = 1052,
        .statement =
            "Two-level scheduling is very effective for the idle-intensive rightmost benchmarks and does not "
            "provide much benefit for the leftmost four, which are compute bound",
        .paper = "gain on the rightmost, about none on the leftmost four",
        .source = "LWM report, section 6.1; thesis, section 5.2.1",
        .note =
            "blackscholes loses for the reason given with 2lev-avg and decides the mean. Of the other rightmost "
            "workloads most idle for reasons that no order of warps removes: needleman and bfs with the memory "
            "stage full (about 70 and 88 % of the cycles), reduction on bandwidth that all its loads want at once, "
            "hotspot on row conflicts, more than a third of its accesses, that FCFS starts one after another, while "
            "histogram idles for 2 to 5 % only. matrixmult, whose warps come to memory together under "
            "round robin, gains 24 % on the report's machine, as the papers describe."};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    return judge_groups(results, machines(), {"rightmost seven", rightmost()}, {"leftmost four", leftmost()});
  }

 private:
  static std::vector<Variant> machines() { return {baseline(), two_level(), thesis_baseline(), thesis_two_level()}; }
};

const Register<Claim, TwoLevelWorkloads> two_level_workloads_entry{"2lev-idle",
                                                                   "Which workloads two-level scheduling helps"};

}  // namespace
}  // namespace heddle::tb::lwm
