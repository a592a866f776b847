// Interference graph over register words, with coalescing of copies.
//
// Registers that share a place are kept as one class: a root register and, for each member, the word of the root at
// which it starts. So a word that is packed into a pair, or an element of a vector, can live inside the wider register.
// After Chaitin (1982), on the words of registers instead of whole registers.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ptx/backend/liveness.hpp"

namespace heddle::ptx::backend {

class InterferenceGraph {
 public:
  InterferenceGraph(const MachineFunction& function, bool predicates);

  // Merges the two ends of every copy that can share a place, the most frequent first.
  void coalesce();

  struct Place {
    VReg root = kNone;
    unsigned word = 0;
  };
  [[nodiscard]] Place place(VReg reg) const;
  [[nodiscard]] bool used(VReg reg) const { return used_[static_cast<std::size_t>(reg)]; }
  [[nodiscard]] bool has(VReg reg) const { return units_.has(reg); }
  [[nodiscard]] std::vector<VReg> roots() const;  // of used registers, ascending

  struct Edge {  // word of the one, and other root with its word
    std::uint8_t word = 0;
    std::uint8_t other_word = 0;
    VReg other = kNone;
  };
  [[nodiscard]] std::vector<Edge> edges(VReg root) const;

  // Most words live at once: a lower bound of the registers needed.
  [[nodiscard]] unsigned pressure() const { return pressure_; }

  struct CopyPair {
    VReg dst = kNone, src = kNone;
    unsigned dst_word = 0, src_word = 0;
    std::uint64_t weight = 0;
  };
  [[nodiscard]] const std::vector<CopyPair>& copies() const { return copies_; }

 private:
  void build();
  void add(std::size_t a, std::size_t b);
  [[nodiscard]] bool interferes(std::size_t a, std::size_t b) const;
  void merge(const CopyPair& copy);

  const MachineFunction& function_;
  Units units_;
  unsigned pressure_ = 0;
  std::vector<bool> used_;
  std::vector<std::vector<std::uint32_t>> neighbours_;  // by unit; of merged units too (see edges)
  std::unordered_set<std::uint64_t> pairs_;             // membership only
  std::vector<VReg> parent_;
  std::vector<std::uint8_t> offset_;  // word of the parent
  std::vector<bool> apart_;           // of roots: some member must not become a part
  std::vector<VReg> owner_;           // register of a unit
  std::vector<CopyPair> copies_;
};

// How often a block runs, roughly.
[[nodiscard]] std::uint64_t weight_of(const Block& block);

}  // namespace heddle::ptx::backend
