// Who dominates whom, in constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::ptx::backend {

class DominatorSpans {
 public:
  // Immediate dominators, as dominator_tree() gives them; vertex 0 is the entry. At least that one.
  explicit DominatorSpans(const std::vector<std::size_t>& tree);
  // Every path from the entry to `below` passes `above`. A vertex dominates itself; one that cannot be reached nothing
  // else.
  [[nodiscard]] bool dominates(std::size_t above, std::size_t below) const {
    const Span &outer = spans_[above], &inner = spans_[below];
    return above == below || (outer.first < inner.first && inner.last <= outer.last);
  }

 private:
  // The vertices below one in the tree, as numbers in the order of a walk through it.
  struct Span {
    std::uint32_t first = 0, last = 0;  // its own number, from 1; the largest below it. 0: not reached
  };
  std::vector<Span> spans_;
};

}  // namespace heddle::ptx::backend
