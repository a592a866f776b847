// viterbi: decoding of 4M bits of a convolutional code of rate 1/2 (thesis table 5.2). The code is the textbook's of
// constraint length 3: its four states and 50 to 100 instructions per decoded bit make the 100 to 200 million thread
// instructions that the thesis gives its workloads. The survivor bits of a frame fill a thread's 128 bytes of
// scratchpad.
#include <bit>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

constexpr std::uint32_t kPairsPerWord = 16;
constexpr std::uint32_t kMostSteps = 256;  // of a frame: four survivor bits each fill 128 bytes

// The encoder: a shift register of three bits, newest on the left; each output is the parity of the bits that its
// generator taps.
class Encoder {
 public:
  explicit Encoder(unsigned state = 0) : state_(state) {}
  // The pair for the next data bit: bit 0 from generator 7, bit 1 from generator 5 (octal).
  unsigned encode(unsigned bit) {
    const unsigned window = (bit << 2U) | state_;
    state_ = window >> 1U;
    return parity(window & 07U) | (parity(window & 05U) << 1U);
  }
  [[nodiscard]] unsigned state() const { return state_; }

 private:
  static unsigned parity(unsigned bits) { return static_cast<unsigned>(std::popcount(bits)) & 1U; }
  unsigned state_;
};

unsigned distance(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::popcount(a ^ b));
}

// The fewest differences between the received pairs and any code word of a frame: from the end, the cost that is left
// from each state (the decoder goes the other way round).
std::uint32_t least_distance(const std::vector<std::uint8_t>& pairs) {
  constexpr std::uint32_t kNever = 1U << 20U;
  std::array<std::uint32_t, 4> left = {0, kNever, kNever, kNever};
  for (std::size_t step = pairs.size(); step-- > 0;) {
    std::array<std::uint32_t, 4> before{};
    for (unsigned state = 0; state < 4; ++state) {
      before[state] = kNever;
      for (unsigned bit = 0; bit < 2; ++bit) {
        Encoder encoder(state);
        const std::uint32_t cost = distance(encoder.encode(bit), pairs[step]);
        before[state] = std::min(before[state], cost + left[encoder.state()]);
      }
    }
    left = before;
  }
  return left[0];
}

class Viterbi final : public KernelWorkload {
 public:
  explicit Viterbi(const tb::WorkloadOptions& options) : KernelWorkload("viterbi", options, {{"pthreads"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : resident_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    // Long frames where there are enough for every thread, else shorter ones; a step decodes one bit of two encoded.
    const std::uint32_t bits = scaled(2U << 20U, 32 * resident_threads());
    const std::uint32_t steps = std::min(kMostSteps, bits / resident_threads() / 32 * 32);
    const std::uint32_t frames = (bits + steps - 1) / steps;
    const std::uint32_t words = steps / kPairsPerWord;
    Random random(options().seed);
    std::vector<std::vector<std::uint8_t>> sent(frames);
    std::vector<std::vector<std::uint8_t>> pairs(frames);
    std::vector<std::uint32_t> received(std::size_t{words} * frames, 0);
    for (std::uint32_t frame = 0; frame < frames; ++frame) {
      Encoder encoder;
      for (std::uint32_t step = 0; step < steps; ++step) {
        const unsigned bit = step + 2 < steps ? random.next32() >> 31U : 0;
        // Three in a hundred bits are turned round on the way.
        const unsigned noise = (random.below(100) < 3 ? 1U : 0U) | (random.below(100) < 3 ? 2U : 0U);
        const unsigned pair = encoder.encode(bit) ^ noise;
        sent[frame].push_back(static_cast<std::uint8_t>(bit));
        pairs[frame].push_back(static_cast<std::uint8_t>(pair));
        received[std::size_t{step / kPairsPerWord} * frames + frame] |= pair << (2 * (step % kPairsPerWord));
      }
    }
    if (pthreads()) {
      return run_team(executor, sent, pairs);
    }
    const std::uint64_t device_received = upload(executor, "received", received);
    const std::size_t decoded_words = std::size_t{steps / 32} * frames;
    const std::uint64_t device_decoded = allocate(executor, "decoded", decoded_words * sizeof(std::uint32_t));
    executor.plan({1, blocks()});
    launch(executor, "viterbi", {blocks()}, {kBlock},
           tb::Arguments(executor.module(), "viterbi")
               .pointer(device_received)
               .pointer(device_decoded)
               .value(frames)
               .value(words));
    const auto decoded = download<std::uint32_t>(executor, device_decoded, decoded_words);
    return check(
        [&](std::size_t frame, std::size_t step) { return (decoded[step / 32 * frames + frame] >> (step % 32)) & 1U; },
        sent, pairs);
  }

 private:
  // A byte for every bit. The frames that the team decodes at a time lie together, bits of the same place side by side.
  [[nodiscard]] tb::Verdict run_team(tb::Executor& executor, const std::vector<std::vector<std::uint8_t>>& sent,
                                     const std::vector<std::vector<std::uint8_t>>& pairs) const {
    const std::size_t rounds = (sent.size() + team() - 1) / team();
    const std::size_t steps = sent.front().size();
    const auto place = [this](std::size_t frame, std::size_t bit, std::size_t bits) {
      return (frame / team() * bits + bit) * team() + frame % team();
    };
    std::vector<std::uint8_t> received(2 * steps * rounds * team());
    for (std::size_t frame = 0; frame < sent.size(); ++frame) {
      for (std::size_t step = 0; step < steps; ++step) {
        received[place(frame, 2 * step, 2 * steps)] = pairs[frame][step] & 1U;
        received[place(frame, 2 * step + 1, 2 * steps)] = pairs[frame][step] >> 1U;
      }
    }
    const std::uint64_t device_received = upload(executor, "received", received);
    const std::uint64_t device_decoded = allocate(executor, "decoded", steps * rounds * team());
    executor.plan({1, 1});
    launch_team(executor, "viterbi",
                tb::Arguments(executor.module(), "viterbi")
                    .pointer(device_received)
                    .pointer(device_decoded)
                    .value(static_cast<std::uint32_t>(rounds * team()))
                    .value(static_cast<std::uint32_t>(steps)));
    const auto decoded = download<std::uint8_t>(executor, device_decoded, steps * rounds * team());
    if (const auto found = std::find_if(decoded.begin(), decoded.end(), [](std::uint8_t bit) { return bit > 1; });
        found != decoded.end()) {
      return {false, fmt::format("decoded bit [{}]: {} instead of 0 or 1", found - decoded.begin(), +*found)};
    }
    return check([&](std::size_t frame, std::size_t step) { return unsigned{decoded[place(frame, step, steps)]}; },
                 sent, pairs);
  }

  // decoded(frame, step): a bit. Several code words may be equally near. A right decoder finds one of the nearest:
  // encoded again, it differs from what was received in as few bits as can be.
  template <class Decoded>
  static tb::Verdict check(const Decoded& decoded, const std::vector<std::vector<std::uint8_t>>& sent,
                           const std::vector<std::vector<std::uint8_t>>& pairs) {
    const std::size_t frames = sent.size();
    const std::size_t steps = sent.front().size();
    std::vector<std::uint32_t> distances(frames, 0);
    std::vector<std::uint32_t> least(frames, 0);
    std::vector<std::uint32_t> ends(frames, 0);
    std::size_t wrong = 0;
    for (std::size_t frame = 0; frame < frames; ++frame) {
      Encoder encoder;
      for (std::size_t step = 0; step < steps; ++step) {
        const unsigned bit = decoded(frame, step);
        distances[frame] += distance(encoder.encode(bit), pairs[frame][step]);
        wrong += bit != sent[frame][step] ? 1 : 0;
      }
      ends[frame] = encoder.state();
      least[frame] = least_distance(pairs[frame]);
    }
    tb::Verdict verdict = both(compare("distances of frames to the received bits", distances, least),
                               compare("states at the ends of frames", ends, std::vector<std::uint32_t>(frames, 0)));
    verdict.detail += fmt::format(" ({} of {} bits are not those sent)", wrong, frames * steps);
    return verdict;
  }
};

const Register<tb::Workload, Viterbi> viterbi_entry{"viterbi",
                                                    "decoding of 4M bits of a convolutional code; variant pthreads"};

}  // namespace
}  // namespace heddle::workloads
