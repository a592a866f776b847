// lwm-2lev-preserved: "the benefits of each are mostly preserved" (LWM report 6.1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace preserved {

std::vector<Variant> machines() {
  return {baseline(),        large(),        two_level(),        large_two_level(),
          thesis_baseline(), thesis_large(), thesis_two_level(), thesis_large_two_level()};
}

void judge(const Placed& placed, const Grid& grid, Finding& finding) {
  const std::vector<Variant>& all = grid.variants();
  for (const std::size_t first : {std::size_t{0}, std::size_t{4}}) {
    const Spread alone = mean_speedup(placed, all[first + 1], all[first]);
    const Spread scheduled = mean_speedup(placed, all[first + 2], all[first]);
    const Spread both = mean_speedup(placed, all[first + 3], all[first]);
    if (!std::isfinite(alone.median + scheduled.median + both.median)) {
      continue;
    }
    const std::string where = first == 0 ? "report" : "thesis";
    const std::string measured =
        fmt::format("{} of {} and {}", spread_text(both), spread_text(alone), spread_text(scheduled));
    finding.ours += fmt::format("{}{} ({})", finding.ours.empty() ? "" : "; ", measured, where);
    finding.checks.push_back(main_check("each alone has a benefit to preserve (" + where + ")", measured,
                                        alone.median > 1 && scheduled.median > 1));
    finding.checks.push_back(main_check("the combination gains more than either alone (" + where + ")", measured,
                                        both.median > std::max(alone.median, scheduled.median)));
    const double product = alone.median * scheduled.median;
    finding.checks.push_back(check("it keeps three quarters of the product of both (" + where + ")",
                                   fmt::format("{} of {}", spread_text(both), gain_text(product)),
                                   product > 1 && both.median - 1 >= 0.75 * (product - 1)));
    const std::vector<std::string> worst =
        grid.worst(first + 3, scheduled.median > alone.median ? first + 2 : first + 1, 3, 1.0);
    finding.causes.insert(finding.causes.end(), worst.begin(), worst.end());
  }
}

}  // namespace preserved

const std::vector<PlacedRow>& preserved_rows() {
  static const std::vector<PlacedRow> all = {
      {"lwm-2lev-preserved",
       "The two mechanisms add up",
       {.rank = 1070,
        .statement = "When the two mechanisms are combined, the benefits of each are mostly preserved",
        .paper = "17.0 % of 7.6 % and 10.1 % (report); 19.1 % of 7.9 % and 9.9 % (thesis)",
        .source = "LWM report, section 6.1; thesis, section 5.2.1",
        .note = "What two-level scheduling gains alone depends on where the arrays lie (2lev-avg); the part "
                "of it that is everywhere, reduction's, is kept, more of it under relaxed than under strict "
                "issue.",
        .beside_note = "Two-level scheduling alone has nothing to preserve here (see 2lev-avg: blackscholes). Where "
                       "it does gain, a large warp has taken the gain away: matrixmult loses its own because a "
                       "block of 256 threads is one large warp, and a fetch group of two such warps waits for "
                       "memory as a whole."},
       preserved::machines,
       preserved::judge}};
  return all;
}

const RegisterRows<OnForms<PlacedRowClaim>, PlacedRow> preserved_entry{preserved_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
