// The fetch groups take turns in falling order of their numbers.
#include "hw/schedule/fetch_groups.hpp"

namespace heddle::hw {

namespace {

class Backwards final : public FetchGroupOrder {
 public:
  explicit Backwards(const Setup& setup) : fetch_groups_(setup.fetch_groups) {}

  unsigned next(unsigned first) override {
    for (unsigned step = fetch_groups_.count - 1; step > 0; --step) {
      if (const unsigned other = fetch_groups_.behind(first, step); fetch_groups_.has_live(other)) {
        return other;
      }
    }
    return first;
  }

 private:
  const FetchGroups& fetch_groups_;
};

const Register<FetchGroupOrder, Backwards> backwards_entry{"backwards", "the fetch group before, in turn"};

}  // namespace

}  // namespace heddle::hw
