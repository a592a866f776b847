// Whether the blocks of a launch could have run in any order, as the reference interpreter sees them run one after the
// other: to simulate some of them without the others says something of the launch only then.
//
// Blocks talk when one of them reads what another has written, or writes what another has read or written, unless that
// makes no difference in any order:
//
//   - a store of what is there already (a flag that several set), as long as no other block has read what was there;
//   - atomics of one kind whose old values no thread asks for (integer sums, minima and maxima, and, or, exclusive or),
//     as long as no block reads what comes of them. Sums of floating-point numbers depend on the order.
//
// Memory is looked at in words of 4 bytes, in pages with narrower stores byte by byte. A launch whose blocks wait for
// each other ends nowhere in the interpreter, which the caller has to see, or reads what another block writes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "isa/block_observer.hpp"
#include "isa/device_memory.hpp"

namespace heddle::tb {

class BlockTalk : public isa::BlockObserver {
 public:
  // What the first two blocks that talk have to do with each other. Of several blocks that have read or written
  // something before, `before` is none.
  struct Talk {
    std::uint64_t block = 0;
    std::optional<std::uint64_t> before;
    std::uint64_t address = 0;
    bool writes = false;         // the block writes there; else it reads
    bool before_writes = false;  // likewise of the one before
  };

  void begins(std::uint64_t number) override;
  void ends(std::uint64_t executed_instructions) override { instructions_.push_back(executed_instructions); }
  void loads(std::uint64_t address, std::uint32_t bytes) override;
  void stores(std::uint64_t address, std::uint32_t bytes, bool changes) override;
  void updates(std::uint64_t address, isa::AtomicOp op, isa::Type type, bool returns) override;
  [[nodiscard]] bool goes_on() const override { return !talk_; }

  // None: they do not, as far as they have run.
  [[nodiscard]] const std::optional<Talk>& talk() const { return talk_; }
  // Of each block that has ended, in the order of their numbers.
  [[nodiscard]] const std::vector<std::uint64_t>& instructions() const { return instructions_; }

 private:
  // Who has read or written a word: a block's number plus one, none, or several. A launch has 2^28 blocks at most
  // (isa::kMaxLaunchThreads).
  using Who = std::uint32_t;
  static constexpr Who kNobody = 0;
  static constexpr unsigned kWhoBits = 29;
  static constexpr Who kSeveral = (Who{1} << kWhoBits) - 1;
  // What its writers have made of it. From kFirstSum on: sums and the like, by operation and type.
  using Change = std::uint32_t;
  static constexpr Change kNothing = 0;  // they have stored what was there
  static constexpr Change kAny = 1;
  static constexpr Change kFirstSum = 2;
  static constexpr unsigned kChangeBits = 6;
  struct Word {
    std::uint64_t reader : kWhoBits = kNobody;
    std::uint64_t writer : kWhoBits = kNobody;
    std::uint64_t change : kChangeBits = kNothing;
  };
  struct Page {
    unsigned shift = 2;  // of addresses: bytes of a word
    std::vector<Word> words;
  };
  [[nodiscard]] Page& page_of(std::uint64_t address);
  static void split(Page& page);
  template <class Act>
  void each_word(std::uint64_t address, std::uint32_t bytes, bool writes, Act&& act);
  void write(Word& word, std::uint64_t address, Change change);
  [[nodiscard]] static Change change_by(isa::AtomicOp op, isa::Type type);
  [[nodiscard]] bool others(Who who) const { return who != kNobody && who != self_; }
  [[nodiscard]] Who with_self(Who who) const { return others(who) ? kSeveral : self_; }
  void tell(std::uint64_t address, bool writes, Who before, bool before_writes);

  Who self_ = kNobody;
  std::unordered_map<std::uint64_t, Page> pages_;
  // In front of them, by the lowest bits of their numbers.
  struct Latest {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  std::array<Latest, 64> latest_{};
  std::optional<Talk> talk_;
  std::vector<std::uint64_t> instructions_;
};

}  // namespace heddle::tb
