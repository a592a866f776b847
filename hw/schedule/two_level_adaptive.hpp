// The parameters of two-level scheduling that learns its policies (hw/schedule/two_level_adaptive.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameter.hpp"
#include "hw/schedule/two_level_scheduler.hpp"

namespace heddle::hw {

struct AdaptiveTwoLevelParameters {
  static constexpr const char* kSection = "two_level_adaptive";
  static constexpr const char* kMeaning =
      "two-level scheduling that learns its policies (core.scheduler = two-level-adaptive)";
  static constexpr unsigned kMostCandidates = 64;
  std::string fetch_groups = "8,16";
  std::string inner_schedulers = "round-robin,gto";
  std::string outer_schedulers = "round-robin,oldest";
  std::uint64_t settle = 500;
  std::uint64_t sample = 1500;
  std::uint64_t run = 50000;
  unsigned kernels = 4;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "fetch_groups", fetch_groups, Limits::any(), "warps",
        "sizes of fetch groups to try, with commas between; every size with every inner and every outer scheduler is a "
        "candidate, in this order, the outer one changing first");
    visit("inner_schedulers", inner_schedulers, Limits::list_of(heddle::hw::inner_schedulers()), "",
          "inner schedulers to try, with commas between");
    visit("outer_schedulers", outer_schedulers, Limits::list_of(fetch_group_orders()), "",
          "outer schedulers to try, with commas between");
    visit("settle", settle, Limits::between(0, 1e9), "cycles", "for which a candidate runs before it is measured");
    visit("sample", sample, Limits::between(1, 1e9), "cycles",
          "for which a candidate is measured: threads' instructions retired per cycle");
    visit("run", run, Limits::between(1, 1e12), "cycles", "under the best candidate, before all are tried again");
    visit("kernels", kernels, Limits::between(0, 64), "kernels",
          "of which a core remembers what it has learnt from launch to launch; 0: every launch begins anew");
  }
  // In the order in which they are tried. Throws InputError, without a place, for lists that make none.
  [[nodiscard]] std::vector<FetchGroupPolicies> candidates() const;
};

}  // namespace heddle::hw
