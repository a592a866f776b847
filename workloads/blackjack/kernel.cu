// Simulation of blackjack: each thread plays `hands` hands with a 52-card deck of its own and counts half stakes won.
//
// Rules: the deck is shuffled when fewer than 17 cards are left (a hand never takes more: the 18 lowest cards of a deck
// sum to 50, player and dealer together to 47 at most). The player draws below 17, and at 12 to 16 only when the dealer
// shows 7 or more (or an ace); a soft 17 draws too. The dealer draws below 17. An ace with a ten-card at the start is a
// blackjack and pays 3 : 2.
//
// The deck lies in the scratchpad: cards 4w to 4w + 3 are the bytes of word w * 256 + thread, so that the threads of a
// warp always use different banks. A card is its value: 1 for an ace, 10 for ten and the court cards.
constexpr unsigned kBlock = 256;
constexpr unsigned kCards = 52;
constexpr unsigned kMostOfHand = 17;

struct Player {
  unsigned char* deck;
  unsigned random;
  unsigned dealt;

  __device__ __forceinline__ unsigned char& card(unsigned i) const { return deck[(i >> 2) * (4 * kBlock) + (i & 3U)]; }
  // A xorshift generator of period 2^32 - 1.
  __device__ __forceinline__ unsigned draw_random() {
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return random;
  }
  __device__ __forceinline__ void shuffle() {
    for (unsigned i = kCards - 1; i > 0; --i) {
      const unsigned j = __umulhi(draw_random(), i + 1);
      const unsigned char other = card(j);
      card(j) = card(i);
      card(i) = other;
    }
    dealt = 0;
  }
  __device__ __forceinline__ unsigned draw() { return card(dealt++); }
};

// An ace counts 11 when the hand stays at 21 or below.
__device__ __forceinline__ unsigned worth(unsigned sum, bool ace) {
  return ace && sum <= 11 ? sum + 10 : sum;
}

extern "C" __global__ void __launch_bounds__(256)
    blackjack(const unsigned* __restrict__ seeds, int* __restrict__ winnings, unsigned hands) {
  __shared__ unsigned decks[(kCards / 4) * kBlock];
  const unsigned thread = blockIdx.x * kBlock + threadIdx.x;
  Player player{reinterpret_cast<unsigned char*>(decks + threadIdx.x), seeds[thread], kCards};
  for (unsigned i = 0; i < kCards; ++i) {
    player.card(i) = static_cast<unsigned char>(min(i / 4 + 1, 10U));
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
  winnings[thread] = won;
}
