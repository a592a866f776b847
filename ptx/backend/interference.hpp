// Interference graph over register words, with coalescing of copies.
//
// Registers that share a place are kept as one class: a root register and, for each member, the word of the root at
// which it starts. So a word that is packed into a pair, or an element of a vector, can live inside the wider register.
// After Chaitin (1982), on the words of registers instead of whole registers.
//
// A register keeps who it was found live together with, as a list that is written once; a class has the lists of its
// members. Meetings may be in a list several times: to look for them would cost more than to pass them again. All takes
// memory and time in proportion to the meetings: definitions times what is live at them.
#pragma once

#include <cstdint>
#include <span>
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

  // How far words of another root that may not share a place with words of this root lie behind them, counted from the
  // beginnings of both: bit kNoDistance + word of the other - word of this root.
  struct Edge {
    VReg other = kNone;
    std::uint16_t distances = 0;
  };
  static constexpr unsigned kNoDistance = 7;
  // Each root that interferes with this one once, in no order that means anything.
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
  // The words of a register, bit by bit, that were live together with words of another one.
  struct Meeting {
    VReg other = kNone;
    std::uint8_t own_words = 0, other_words = 0;
  };
  struct Found {
    VReg reg = kNone;
    Meeting with;
  };

  std::vector<Found> find_meetings();
  void list(const std::vector<Found>& found);
  [[nodiscard]] std::span<const Meeting> meetings(VReg reg) const {
    const std::size_t at = first_[static_cast<std::size_t>(reg)];
    return {meetings_.data() + at, first_[static_cast<std::size_t>(reg) + 1] - at};
  }
  // Shortens the way for later calls.
  Place find(VReg reg);
  // Words of `inner` and words of `outer`, which begin `at` words further on there, were live together.
  [[nodiscard]] bool interferes(VReg inner, VReg outer, unsigned at);
  void merge(const CopyPair& copy);

  const MachineFunction& function_;
  Units units_;
  unsigned pressure_ = 0;
  std::vector<bool> used_;
  std::vector<Meeting> meetings_;   // register by register
  std::vector<std::size_t> first_;  // by register: its first meeting; one more behind the last
  std::vector<VReg> parent_;
  std::vector<std::uint8_t> offset_;  // word of the parent
  std::vector<bool> apart_;           // of roots: some member must not become a part
  std::vector<VReg> next_member_;     // of the class, from its root on
  std::vector<VReg> last_member_;     // of roots
  std::vector<std::size_t> size_;     // of roots: meetings of all members
  std::vector<CopyPair> copies_;
  mutable std::vector<std::uint32_t> slot_;  // of edges(): by register, where its edge is, plus one; 0 between calls
};

// How often a block runs, roughly.
[[nodiscard]] std::uint64_t weight_of(const Block& block);

}  // namespace heddle::ptx::backend
