// One transaction per sub-warp and line (thesis 2.1.2): lanes that fall into the same line share it; lines are sent in
// the order of their lowest lane.
#include "hw/coalesce/by_line.hpp"

namespace heddle::hw {

namespace {

class PerSubWarp final : public Coalescer {
 public:
  explicit PerSubWarp(const Setup& setup) : line_mask_(~(std::uint64_t{setup.line_bytes} - 1)) {}

  void coalesce(const LaneAddresses& addresses, std::vector<LineAccess>& lines) const override {
    coalesce_by_line(line_mask_, addresses, lines);
  }

 private:
  std::uint64_t line_mask_;
};

const Register<Coalescer, PerSubWarp> per_sub_warp_entry{"per-sub-warp",
                                                         "one transaction per distinct line of a sub-warp"};

}  // namespace

}  // namespace heddle::hw
