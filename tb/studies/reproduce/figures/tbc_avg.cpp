// tbc-avg: against thread block compaction (thesis 5.2.1).
#include "tb/studies/reproduce/figures/lwm_study.hpp"

namespace heddle::tb::lwm {
namespace {

class OverCompaction final : public Claim {
 public:
  explicit OverCompaction(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1100,
            .statement =
                "LWM+2Lev is 11.5 % faster than thread block compaction with blocks of 256 threads and sticky "
                "round robin",
            .paper = "+11.5 %",
            .source = "thesis, section 5.2.1, figure 5.1",
            .note = ""};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_for(gains()); }
  [[nodiscard]] Finding judge(const Results& results) const override { return judge_gains(results, gains()); }

 private:
  static std::vector<Gain> gains() { return {{thesis_large_two_level(), thread_block_compaction(), 0.115}}; }
};

const Register<Claim, OverCompaction> over_compaction_entry{
    "tbc-avg", "Large warps with two-level scheduling against thread block compaction"};

}  // namespace
}  // namespace heddle::tb::lwm
