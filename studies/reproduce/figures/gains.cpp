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
        .note =
            "Two-level scheduling gains where warps read one array and wait for it together: reduction 38 %, in every "
            "placement and order of requests (idle cycles 40 to 17 %). It loses where a program reads and writes "
            "several "
            "arrays: nothing but barriers keeps the fetch groups of 1024 persistent threads together, so they drift "
            "apart and open the rows of all arrays once each, where 32 warps in step open them once; in one queue an "
            "opened row holds up all banks. Under rule stalled and one random placement hotspot at scale 0.25 comes to "
            "0.84x, with rows of 1 KB, the share of a row that 8 warps use, to 1.07x, and with conflicts as short as "
            "hits to 0.98x (both machines then idle for 5 to 6 % only); viterbi to 0.88x and 0.99x. blackscholes at "
            "scale 0.1: under rule current the groups are 773 instructions apart (round robin: 160), row hits fall "
            "from "
            "90 to 74 %. A queue per bank takes most of the loss away, not all: at full size the groups of histogram "
            "then drift 2857 instructions apart (round robin: 33, rule stalled), row hits fall from 96 to 56 %, the "
            "IPC "
            "from 21.8 to 16.0. sort loses by room for misses (41 to 50 % of the cycles at scale 0.1), and needleman "
            "at "
            "the barrier of every diagonal (7 to 10 %), where the last group comes later. Elsewhere there is little to "
            "take away: blackscholes and matrixmult, of which the report says 20 to 40 % idle cycles, idle for 14 and "
            "8 % at full size, as they execute 72 and 43 warp instructions per line from memory.",
        .beside_note =
            "blackscholes reads three and writes two arrays of a power-of-two size, so that the same place of all five "
            "lies in one bank. Under round robin the 32 warps use a whole 4 KB row (32 lines of 128 bytes) before "
            "another array's row is opened; a fetch group of 8 uses a quarter of it and rows are opened more often "
            "(row "
            "hits 93 to 71 %). With rows of 1 KB it neither gains nor loses (IPC 7.08 and 7.18). A queue per bank "
            "brings back most of the loss (0.46x becomes 0.95x), as a conflict no longer holds back the other banks."},
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
        .beside_note =
            "Large warps bring their part (lwm-avg), two-level scheduling does not (2lev-avg): the combination stays "
            "near large warps alone. reduction loses with any large warp: a round is a serial chain, a row conflict of "
            "300 "
            "cycles and some six instructions of seven, through which a large warp goes as a whole; the bus is used "
            "for "
            "37 % of the cycles, and with conflicts as short as hits the baseline reaches an IPC of 32.0."},
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
