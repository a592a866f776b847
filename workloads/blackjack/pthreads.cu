// Pthreads form of blackjack: the game of the usual form (kernel.cu has the rules), a player per thread. The deck is
// private data, a byte per card. The players' seeds and winnings are what the threads share with the program.
#include "workloads/pthreads.h"

constexpr unsigned kCards = 52;
constexpr unsigned kMostOfHand = 17;

struct Player {
  pthreads::Private<unsigned char> deck;  // values: 1 for an ace, 10 for ten and the court cards
  unsigned random;
  unsigned dealt;

  // A xorshift generator of period 2^32 - 1.
  __device__ __forceinline__ unsigned draw_random() {
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return random;
  }
  __device__ __forceinline__ void shuffle() {
    for (unsigned i = kCards - 1; i > 0; --i) {
      const auto j = static_cast<unsigned>((static_cast<unsigned long long>(draw_random()) * (i + 1)) >> 32);
      const unsigned char other = deck[j];
      deck[j] = deck[i];
      deck[i] = other;
    }
    dealt = 0;
  }
  __device__ __forceinline__ unsigned draw() { return deck[dealt++]; }
};

// An ace counts 11 when the hand stays at 21 or below.
__device__ __forceinline__ unsigned worth(unsigned sum, bool ace) {
  return ace && sum <= 11 ? sum + 10 : sum;
}

// seeds, winnings: a word per thread. hands: that each of them plays.
extern "C" __global__ void __launch_bounds__(1024)
    blackjack(const unsigned* seeds, int* winnings, unsigned hands, unsigned threads) {
  __shared__ unsigned char storage[kCards * pthreads::kMostThreads];
  const unsigned id = threadIdx.x;
  if (id >= threads) {
    return;
  }
  Player player{pthreads::Private<unsigned char>(storage, id), seeds[id], kCards};
  for (unsigned i = 0; i < kCards; ++i) {
    player.deck[i] = static_cast<unsigned char>(min(i / 4 + 1, 10U));
  }
  int won = 0;
  for (; hands > 0; --hands) {
    if (player.dealt > kCards - kMostOfHand) {
      player.shuffle();
    }
    const unsigned first = player.draw();
    const unsigned shown = player.draw();
    const unsigned second = player.draw();
    const unsigned hidden = player.draw();
    unsigned sum = first + second;
    bool ace = first == 1 || second == 1;
    unsigned dealer = shown + hidden;
    bool dealer_ace = shown == 1 || hidden == 1;
    unsigned mine = worth(sum, ace);
    unsigned theirs = worth(dealer, dealer_ace);
    if (mine == 21 || theirs == 21) {
      won += mine == theirs ? 0 : mine == 21 ? 3 : -2;
      continue;
    }
    const unsigned stand = shown >= 7 || shown == 1 ? 17 : 12;
    while (mine < stand || (mine == 17 && ace && sum == 7)) {
      const unsigned drawn = player.draw();
      sum += drawn;
      ace = ace || drawn == 1;
      mine = worth(sum, ace);
    }
    if (mine > 21) {
      won -= 2;
      continue;
    }
    while (theirs < 17) {
      const unsigned drawn = player.draw();
      dealer += drawn;
      dealer_ace = dealer_ace || drawn == 1;
      theirs = worth(dealer, dealer_ace);
    }
    if (theirs > 21 || mine > theirs) {
      won += 2;
    } else if (mine < theirs) {
      won -= 2;
    }
  }
  winnings[id] = won;
}
