// Claims that a mechanism helps one group of workloads and spares another: a row each, judged by judge_groups().
#include "studies/reproduce/figures/lwm_gains.hpp"

namespace heddle::studies::lwm {
namespace {

struct GroupRow {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Variant (*)()> machines;  // the report's baseline and the mechanism on it, then the thesis's two
  struct Workloads {
    std::string name;
    std::vector<std::string> (*names)();
  };
  Workloads gaining;
  Workloads spared;
};

const std::vector<GroupRow>& group_rows() {
  static const std::vector<GroupRow> rows = {
      {"lwm-divergent",
       "Which workloads large warps help",
       {.rank = 1042,
        .statement =
            "LWM alone significantly improves the branch-intensive leftmost four; for the idle-intensive rightmost "
            "ones it does not provide much benefit",
        .paper = "gain on the leftmost four, about none on the rightmost",
        .source = "LWM report, section 6.1; thesis, section 5.2.1"},
       {baseline, large, thesis_baseline, thesis_large},
       {"leftmost four", leftmost},
       {"rightmost seven", rightmost}},
      {"2lev-idle",
       "Which workloads two-level scheduling helps",
       {.rank = 1052,
        .statement = "Two-level scheduling is very effective for the idle-intensive rightmost benchmarks and does not "
                     "provide much benefit for the leftmost four, which are compute bound",
        .paper = "gain on the rightmost, about none on the leftmost four",
        .source = "LWM report, section 6.1; thesis, section 5.2.1",
        .note = "reduction gains as the papers describe; hotspot, blackscholes and histogram gain or lose by "
                "where their arrays lie, as their fetch groups drift apart and open rows for themselves "
                "(2lev-avg, 2lev-rules). Of the leftmost, viterbi and sort are not compute bound here: "
                "viterbi loses by row conflicts of its stores, and sort idles most of the time with atomic "
                "additions at the memory (intensity).",
        .beside_note = "blackscholes loses for the reason given with 2lev-avg and decides the mean. Of the other "
                       "rightmost workloads most idle for reasons that no order of warps removes: needleman and bfs "
                       "with the memory stage full, reduction on a serial chain of row conflicts, hotspot on row "
                       "conflicts that one queue starts one after another, while histogram hardly idles. "
                       "matrixmult, whose warps come to memory together under round robin, gains on the report's "
                       "machine, as the papers describe."},
       {baseline, two_level, thesis_baseline, thesis_two_level},
       {"rightmost seven", rightmost},
       {"leftmost four", leftmost}},
  };
  return rows;
}

class GroupClaim final : public PlacedClaim {
 public:
  explicit GroupClaim(const GroupRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge_placed(const Placed& placed) const override {
    return judge_groups(placed, machines(), {row_.gaining.name, row_.gaining.names()},
                        {row_.spared.name, row_.spared.names()});
  }

 private:
  [[nodiscard]] std::vector<Variant> machines() const {
    std::vector<Variant> out;
    for (Variant (*const machine)() : row_.machines) {
      out.push_back(machine());
    }
    return out;
  }
  const GroupRow& row_;
};

const RegisterRows<OnForms<GroupClaim>, GroupRow> group_entries{group_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
