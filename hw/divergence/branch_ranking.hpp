// Which branches are worth sending warps to the global pool for, by what they have cost in this core so far (ODGS paper
// 3.8: "some branch points are more important to deal with than others. This decision can be based on statistics
// gathered during the kernel runtime"). Plain C++.
//
// The first `after` times that a branch parts a warp, the stack resolves it, and what that loses is counted: in each
// instruction up to the re-convergence point, the threads that wait for it. From then on a branch whose mean loss is
// `loss` or more sends its warps away, other branches stay the stack's, and go on being counted. A branch of which
// nothing is known yet, as none of its warps has come together again, sends them away.
#pragma once

#include <cstdint>
#include <map>

namespace heddle::hw {

class BranchRanking {
 public:
  static constexpr std::size_t kBranches = 64;  // of a launch that are counted: the first that part a warp

  // `after` 0: every branch sends its warps away.
  BranchRanking(unsigned after, unsigned loss) : after_(after), loss_(loss) {}

  void clear() { branches_.clear(); }
  [[nodiscard]] bool active() const { return after_ != 0; }
  // The branch at a PC parts a warp: whether that leaves the core.
  [[nodiscard]] bool leaves(std::uint32_t pc);
  // A warp that the stack had parted there has come together; `waited`: threads that an instruction left out, added up.
  void resolved(std::uint32_t pc, std::uint64_t waited);

 private:
  struct Branch {
    std::uint64_t parted = 0;  // by the stack
    std::uint64_t resolved = 0;
    std::uint64_t waited = 0;
  };
  const unsigned after_, loss_;
  std::map<std::uint32_t, Branch> branches_;
};

}  // namespace heddle::hw
