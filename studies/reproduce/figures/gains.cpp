// Claims that a machine is so much faster than another on average: a row each, judged by judge_gains().
#include "studies/reproduce/figures/lwm_gains.hpp"

namespace heddle::studies::lwm {
namespace {

struct GainRow {
  std::string id;
  std::string title;
  ClaimText text;
  struct Pair {
    Variant (*machine)();
    Variant (*over)();
    double paper;  // as a fraction
  };
  std::vector<Pair> pairs;
};

const std::vector<GainRow>& gain_rows() {
  static const std::vector<GainRow> rows = {
      {"lwm-avg",
       "Large warps alone",
       {.rank = 1040,
        .statement =
            "LWM alone, four large warps of 256 threads under round robin, improves performance by 7.6 % (report) "
            "and 7.9 % (thesis) over the baseline",
        .paper = "+7.6 % (report); +7.9 % (thesis)",
        .source = "LWM report, section 6.1, figure 9; thesis, section 5.2.1, figure 5.1"},
       {{large, baseline, 0.076}, {thesis_large, thesis_baseline, 0.079}}},
      {"2lev-avg",
       "Two-level scheduling alone",
       {.rank = 1050,
        .statement =
            "Two-level scheduling alone, with fetch groups of 8 warps, improves performance by 10.1 % (report) and "
            "9.9 % (thesis) over the baseline",
        .paper = "+10.1 % (report); +9.9 % (thesis)",
        .source = "LWM report, section 6.1, figure 9; thesis, section 5.2.1, figure 5.1",
        .note = "Two-level scheduling gains where warps read one array and wait for it together: reduction, "
                "in every placement and order of requests. It loses where a program reads and writes several "
                "arrays: nothing but barriers keeps the fetch groups of 1024 persistent threads together, so "
                "they drift apart (2lev-rules has by how much) and open the rows of all arrays once each, "
                "where 32 warps in step open them once; in one queue an opened row holds up all banks. With "
                "rows of 1 KB, the share of a row that 8 warps use, or with conflicts as short as hits, most "
                "of the loss goes; a queue per bank takes most of it away, too, not all. sort loses by room "
                "for misses, and needleman at the barrier of every diagonal, where the last group comes "
                "later. Elsewhere there is little to take away: blackscholes and matrixmult, of which the "
                "report says 20 to 40 % idle cycles, idle for less (intensity), as they execute many warp "
                "instructions for each line from memory.",
        .beside_note = "blackscholes reads three and writes two arrays of a power-of-two size, so that the same "
                       "place of all five lies in one bank. Under round robin the 32 warps use a whole 4 KB row (32 "
                       "lines of 128 bytes) before another array's row is opened; a fetch group of 8 uses a quarter "
                       "of it, and rows are opened more often (2lev-rowhit). With rows of 1 KB it neither gains nor "
                       "loses, and a queue per bank brings back most of the loss, as a conflict no longer holds "
                       "back the other banks.",
        .given = {"20 to 40 %"}},
       {{two_level, baseline, 0.101}, {thesis_two_level, thesis_baseline, 0.099}}},
      {"lwm-2lev-avg",
       "Large warps with two-level scheduling",
       {.rank = 1060,
        .statement =
            "Both mechanisms combined improve performance by 17.0 % (report: LWM-256, fetch groups of 2 large warps) "
            "and 19.1 % (thesis: fetch groups of 1, with the timeout rule) over the baseline",
        .paper = "+17.0 % (report); +19.1 % (thesis)",
        .source = "LWM report, section 6.1, figure 9; thesis, section 5.2.1, figure 5.1",
        .note =
            "Large warps bring their part (lwm-avg); two-level scheduling adds to it on reduction and, in the thesis's "
            "machine, on matrixmult, and takes from it where fetch groups drift apart (2lev-avg), most on histogram.",
        .beside_note = "Large warps bring their part (lwm-avg), two-level scheduling does not (2lev-avg): the "
                       "combination stays near large warps alone. reduction loses with any large warp: a round is a "
                       "serial chain, a row conflict and a few instructions, through which a large warp goes as a "
                       "whole, and the bus has room left."},
       {{large_two_level, baseline, 0.170}, {thesis_large_two_level, thesis_baseline, 0.191}}},
  };
  return rows;
}

// As the machines place arrays.
const std::vector<GainRow>& compaction_rows() {
  static const std::vector<GainRow> rows = {
      {"tbc-avg",
       "Large warps with two-level scheduling against thread block compaction",
       {.rank = 1100,
        .statement = "LWM+2Lev is 11.5 % faster than thread block compaction with blocks of 256 threads and sticky "
                     "round robin",
        .paper = "+11.5 %",
        .source = "thesis, section 5.2.1, figure 5.1"},
       {{thesis_large_two_level, thread_block_compaction, 0.115}}},
  };
  return rows;
}

class GainClaim final : public PlacedClaim {
 public:
  explicit GainClaim(const GainRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_for(gains()); }
  [[nodiscard]] Finding judge_placed(const Placed& placed) const override { return judge_gains(placed, gains()); }

 private:
  [[nodiscard]] std::vector<Gain> gains() const {
    std::vector<Gain> out;
    for (const GainRow::Pair& pair : row_.pairs) {
      out.push_back({pair.machine(), pair.over(), pair.paper});
    }
    return out;
  }
  const GainRow& row_;
};

const RegisterRows<OnForms<GainClaim>, GainRow> gain_entries{gain_rows()};
const RegisterRows<OnForms<GainClaim, Over::forms>, GainRow> compaction_entries{compaction_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
