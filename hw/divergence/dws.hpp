// The parameters of dynamic warp subdivision, with dynamic warp formation or without, and of adaptive slip
// (hw/divergence/dws.cpp).
#pragma once

#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct CostShape;
class CostLines;
// The warp-split table, of warps of the machine's size.
void cost_of_warp_splits(const CostShape& shape, CostLines& lines);

struct DwsParameters {
  static constexpr const char* kSection = "dws";
  static constexpr const char* kMeaning =
      "dynamic warp subdivision: warps that part into warp-splits (core.divergence = dws; also dws-dwf; table, slots "
      "and block length also slip; table and block length also dws-large)";
  std::string branches = "pc";
  std::string memory = "revive";
  std::string reconvergence = "branch-bypass";
  unsigned entries = 16;
  unsigned slots = 0;
  std::string meet = "anywhere";
  unsigned short_block = 50;
  bool loop_branches = true;
  unsigned predictor_entries = 64;
  unsigned predictor_bits = 10;
  unsigned predictor_threshold = 100;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "branches", branches, Limits::one_of({"none", "stack", "pc"}), "",
        "whether undivided warps part at branches, and where those splits join: at the re-convergence point on top of "
        "the warp's stack alone, or also wherever they stand at one PC (DWS report 4.4, 4.5)");
    visit("memory", memory, Limits::one_of({"none", "aggressive", "lazy", "revive", "predict"}), "",
          "which accesses that answer some threads and not others part a warp: none; all; those while all other groups "
          "wait; and, besides, waiting ones when the core has nothing to do (DWS report 5.2); of the latter, those "
          "that are predicted to pay (future work there)");
    visit("reconvergence", reconvergence, Limits::one_of({"branch-limited", "branch-bypass"}), "",
          "what splits of an access do at a branch: wait there for all of their warp, or go on and part further (DWS "
          "report 5.3)");
    visit("meet", meet, Limits::one_of({"anywhere", "accesses"}), "",
          "where splits of a warp that stand at one PC join: behind every instruction, and those that are ready wait "
          "for one that has come to the access before; or, to the letter, behind accesses to memory alone, and whoever "
          "is ready waits for none (DWS report 4.5: \"PCs need only be compared when the running warp-split executes a "
          "memory instruction\")");
    visit("entries", entries, Limits::between(2, 1024), "entries",
          "of the core's warp-split table, one for each split that can go on (DWS report 5.6)");
    visit("slots", slots, Limits::between(0, 4096), "slots",
          "of the scheduler, one for each warp or split that can go on or waits for memory; 0: twice the core's warps "
          "(DWS report 5.6)");
    visit("short_block", short_block, Limits::between(0, 1000000), "instructions",
          "an undivided warp parts only at branches whose re-convergence point begins a basic block of at most so many "
          "(DWS report 4.3)");
    visit("loop_branches", loop_branches, Limits::any(), "",
          "false: not at branches that lead back to the top of a loop. The report's criterion takes those that are "
          "followed by a short block like any other, but was applied by hand (DWS report 4.3)");
    visit("predictor_entries", predictor_entries, Limits::between(1, 65536), "entries",
          "of the table of misses that dws.memory = predict looks up, by PC modulo its size (own choice)");
    visit("predictor_bits", predictor_bits, Limits::between(1, 32), "bits",
          "of its averages, in cycles, which saturate (own choice: beyond the latency of memory)");
    visit("predictor_threshold", predictor_threshold, Limits::between(0, 10000), "%",
          "of the cycles that an access is predicted to wait yet: those who run ahead must be predicted to miss within "
          "so many (own choice; DWS report 5.2: before the others are resumed)");
  }
};

struct DwsDwfParameters {
  static constexpr const char* kSection = "dws_dwf";
  static constexpr const char* kMeaning = "subdivision with dynamic warp formation (core.divergence = dws-dwf)";
  std::string joins = "free-lanes";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "joins", joins, Limits::one_of({"free-lanes", "unblocking"}), "",
        "which groups of different warps that stand at one PC join: all whose threads have different lanes (DWS report "
        "7); or those of them that take no lane of a running thread of their warps which is in neither, so that it "
        "can still come back to its warp's others (own choice)");
  }
};

struct SlipParameters {
  static constexpr const char* kSection = "slip";
  static constexpr const char* kMeaning = "adaptive slip (core.divergence = slip)";
  bool branch_bypass = false;
  unsigned first_limit = 16;
  unsigned interval = 100000;
  unsigned raise_above = 70;
  unsigned lower_above = 50;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("branch_bypass", branch_bypass, Limits::any(), "",
          "threads that run ahead go on beyond branches, at which warps part as with dws.branches = pc "
          "(Slip.BranchBypass, DWS report 5.7)");
    visit("first_limit", first_limit, Limits::between(0, 1024), "threads",
          "of a warp that may fall behind, at first; never more than the warp has");
    visit("interval", interval, Limits::between(1, 1000000000), "cycles",
          "after which that limit is looked at again (DWS report 5.7)");
    visit(
        "raise_above", raise_above, Limits::between(0, 100), "%",
        "of an interval's cycles in which the core waited for memory: above, the limit rises by one (DWS report 5.7)");
    visit("lower_above", lower_above, Limits::between(0, 100), "%",
          "of an interval's cycles in which lanes were active: above, the limit falls by one (DWS report 5.7)");
  }
};

}  // namespace heddle::hw
