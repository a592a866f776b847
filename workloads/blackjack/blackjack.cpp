// blackjack: simulation of the card game with a 52-card deck per thread (thesis table 5.2: an own workload of its
// author, so the rules here are Heddle's). Every hand takes another course: the threads of a warp diverge all the time.
#include <numeric>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

// The game on the host, hand by hand with lists of cards; the rules stand in kernel.cu.
class Table {
 public:
  explicit Table(std::uint32_t seed) : random_(seed) {
    for (unsigned value = 1; value <= 13; ++value) {
      deck_.insert(deck_.end(), 4, std::min(value, 10U));
    }
    next_ = deck_.size();
  }

  // Half stakes that the player wins.
  int play_hand() {
    if (deck_.size() - next_ < 17) {
      shuffle();
    }
    std::vector<unsigned> player;
    std::vector<unsigned> dealer;
    for (int round = 0; round < 2; ++round) {
      player.push_back(deck_.at(next_++));
      dealer.push_back(deck_.at(next_++));
    }
    const bool player_blackjack = total(player) == 21;
    const bool dealer_blackjack = total(dealer) == 21;
    if (player_blackjack || dealer_blackjack) {
      return player_blackjack && dealer_blackjack ? 0 : player_blackjack ? 3 : -2;
    }
    const bool dealer_looks_weak = dealer[0] >= 2 && dealer[0] <= 6;
    while (total(player) < (dealer_looks_weak ? 12U : 17U) || (total(player) == 17 && soft(player))) {
      player.push_back(deck_.at(next_++));
    }
    if (total(player) > 21) {
      return -2;
    }
    while (total(dealer) < 17) {
      dealer.push_back(deck_.at(next_++));
    }
    if (total(dealer) > 21) {
      return 2;
    }
    return total(player) == total(dealer) ? 0 : total(player) > total(dealer) ? 2 : -2;
  }

 private:
  static unsigned hard_total(const std::vector<unsigned>& hand) {
    return std::accumulate(hand.begin(), hand.end(), 0U);
  }
  // One ace counts 11 where that does not break the hand.
  static bool soft(const std::vector<unsigned>& hand) {
    return std::find(hand.begin(), hand.end(), 1U) != hand.end() && hard_total(hand) + 10 <= 21;
  }
  static unsigned total(const std::vector<unsigned>& hand) { return hard_total(hand) + (soft(hand) ? 10 : 0); }

  std::uint32_t draw_random() {
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 17U;
    random_ ^= random_ << 5U;
    return random_;
  }
  void shuffle() {
    for (std::uint32_t last = 51; last > 0; --last) {
      std::swap(deck_[last], deck_[(std::uint64_t{draw_random()} * (last + 1)) >> 32U]);
    }
    next_ = 0;
  }

  std::uint32_t random_;
  std::vector<unsigned> deck_;
  std::size_t next_;
};

class Blackjack final : public KernelWorkload {
 public:
  explicit Blackjack(const tb::WorkloadOptions& options) : KernelWorkload("blackjack", options, {{"pthreads"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : resident_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t hands = scaled(500, 1);
    Random random(options().seed);
    std::vector<std::uint32_t> seeds(threads());
    std::vector<std::int32_t> expected;
    std::int64_t total = 0;
    for (std::uint32_t& seed : seeds) {
      seed = random.next32() | 1U;  // xorshift never leaves 0
      Table table(seed);
      int won = 0;
      for (std::uint32_t hand = 0; hand < hands; ++hand) {
        won += table.play_hand();
      }
      expected.push_back(won);
      total += won;
    }
    const std::uint64_t device_seeds = upload(executor, "seeds", seeds);
    const std::uint64_t winnings = allocate(executor, "winnings", seeds.size() * sizeof(std::int32_t));
    tb::Arguments arguments(executor.module(), "blackjack");
    arguments.pointer(device_seeds).pointer(winnings).value(hands);
    if (pthreads()) {
      executor.plan({1, 1});
      launch_team(executor, "blackjack", arguments);
    } else {
      executor.plan({1, blocks()});
      launch(executor, "blackjack", {blocks()}, {kBlock}, arguments);
    }
    tb::Verdict verdict =
        compare("players' winnings", download<std::int32_t>(executor, winnings, seeds.size()), expected);
    verdict.detail += fmt::format(" (the house keeps {:.1f} %)",
                                  -50.0 * static_cast<double>(total) / static_cast<double>(seeds.size() * hands));
    return verdict;
  }
};

const Register<tb::Workload, Blackjack> blackjack_entry{"blackjack",
                                                        "card game with a 52-card deck per thread; variant pthreads"};

}  // namespace
}  // namespace heddle::workloads
