// Words of bytes and halves (CUDA's SIMD intrinsics): every function, at the edges of every lane and at random words,
// against ordinary arithmetic on the host, lane by lane.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "cuda_device_test.hpp"

namespace heddle::cuda {
namespace {

using Word = std::uint32_t;
// Of three words; those of two do not look at the third.
using WordFunction = std::function<Word(Word, Word, Word)>;

struct WordCase {
  std::string call;
  WordFunction expected;
};

std::int64_t signed_lane(Word word, unsigned bits, unsigned at) {
  const std::int64_t raw = (word >> at) & ((std::uint64_t{1} << bits) - 1);
  return raw >= std::int64_t{1} << (bits - 1) ? raw - (std::int64_t{1} << bits) : raw;
}
std::int64_t lane_of(Word word, unsigned bits, unsigned at, bool is_signed) {
  return is_signed ? signed_lane(word, bits, at)
                   : static_cast<std::int64_t>((word >> at) & ((std::uint64_t{1} << bits) - 1));
}

using LaneFunction = std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)>;
WordFunction by_lanes(unsigned bits, bool is_signed, const LaneFunction& f) {
  return [=](Word a, Word b, Word c) {
    Word result = 0;
    for (unsigned at = 0; at < 32; at += bits) {
      const std::int64_t lane =
          f(lane_of(a, bits, at, is_signed), lane_of(b, bits, at, is_signed), lane_of(c, bits, at, is_signed));
      result |= static_cast<Word>(static_cast<std::uint64_t>(lane) & ((std::uint64_t{1} << bits) - 1)) << at;
    }
    return result;
  };
}
WordFunction total(unsigned bits, bool is_signed) {
  return [=](Word a, Word b, Word) {
    std::int64_t sum = 0;
    for (unsigned at = 0; at < 32; at += bits) {
      sum += std::abs(lane_of(a, bits, at, is_signed) - lane_of(b, bits, at, is_signed));
    }
    return static_cast<Word>(sum);
  };
}

// Halves go away from zero.
std::int64_t rounded_half(std::int64_t sum) {
  return sum >= 0 ? (sum + 1) / 2 : -((1 - sum) / 2);
}

void add_lane_cases(std::vector<WordCase>& cases, unsigned n) {
  using L = std::int64_t;
  const unsigned bits = 32 / n;
  const L low = -(L{1} << (bits - 1));
  const L high = (L{1} << (bits - 1)) - 1;
  const L top = (L{1} << bits) - 1;
  const auto add = [&](const std::string& name, bool is_signed, const LaneFunction& f, bool one = false) {
    cases.push_back({"__v" + name + std::to_string(n) + (one ? "(a)" : "(a, b)"), by_lanes(bits, is_signed, f)});
  };
  add("add", true, [](L a, L b, L) { return a + b; });
  add("addss", true, [=](L a, L b, L) { return std::clamp(a + b, low, high); });
  add("addus", false, [=](L a, L b, L) { return std::min(a + b, top); });
  add("sub", true, [](L a, L b, L) { return a - b; });
  add("subss", true, [=](L a, L b, L) { return std::clamp(a - b, low, high); });
  add("subus", false, [](L a, L b, L) { return std::max(a - b, L{0}); });
  add("avgs", true, [](L a, L b, L) { return rounded_half(a + b); });
  add("avgu", false, [](L a, L b, L) { return (a + b + 1) / 2; });
  add("haddu", false, [](L a, L b, L) { return (a + b) / 2; });
  add(
      "neg", true, [](L a, L, L) { return -a; }, true);
  add(
      "negss", true, [=](L a, L, L) { return std::min(-a, high); }, true);
  add(
      "abs", true, [](L a, L, L) { return std::abs(a); }, true);
  add(
      "absss", true, [=](L a, L, L) { return std::min(std::abs(a), high); }, true);
  const std::vector<std::pair<std::string, std::function<bool(L, L)>>> comparisons = {
      {"eq", [](L a, L b) { return a == b; }}, {"ne", [](L a, L b) { return a != b; }},
      {"ge", [](L a, L b) { return a >= b; }}, {"gt", [](L a, L b) { return a > b; }},
      {"le", [](L a, L b) { return a <= b; }}, {"lt", [](L a, L b) { return a < b; }}};
  for (const bool is_signed : {false, true}) {
    const std::string kind = is_signed ? "s" : "u";
    for (const auto& comparison : comparisons) {
      const std::string& name = comparison.first;
      const auto& holds = comparison.second;
      const bool both = name == "eq" || name == "ne";
      if (both && is_signed) continue;
      const std::string full = both ? name : name + kind;
      add("cmp" + full, is_signed, [holds = holds](L a, L b, L) { return holds(a, b) ? L{-1} : L{0}; });
      add("set" + full, is_signed, [holds = holds](L a, L b, L) { return holds(a, b) ? L{1} : L{0}; });
    }
    add("max" + kind, is_signed, [](L a, L b, L) { return std::max(a, b); });
    add("min" + kind, is_signed, [](L a, L b, L) { return std::min(a, b); });
    add("absdiff" + kind, is_signed, [](L a, L b, L) { return std::abs(a - b); });
    cases.push_back({"__vsad" + kind + std::to_string(n) + "(a, b)", total(bits, is_signed)});
  }
}

void add_searched_cases(std::vector<WordCase>& cases) {
  using L = std::int64_t;
  struct Shape {
    std::string suffix;
    unsigned bits;
    bool is_signed;
  };
  for (const Shape& shape :
       {Shape{"s32", 32, true}, Shape{"u32", 32, false}, Shape{"s16x2", 16, true}, Shape{"u16x2", 16, false}}) {
    const std::string& suffix = shape.suffix;
    const unsigned bits = shape.bits;
    const bool is_signed = shape.is_signed;
    // A sum loses what its lane does not hold before it is compared.
    const auto sum = [bits, is_signed](L a, L b) {
      return lane_of(static_cast<Word>(static_cast<std::uint64_t>(a + b)), bits, 0, is_signed);
    };
    const std::vector<std::tuple<std::string, std::string, LaneFunction>> functions = {
        {"__vimax3_", "(a, b, c)",
         [](L a, L b, L c) {
           return std::max({a, b, c});
         }},
        {"__vimin3_", "(a, b, c)",
         [](L a, L b, L c) {
           return std::min({a, b, c});
         }},
        {"__viaddmax_", "(a, b, c)", [sum](L a, L b, L c) { return std::max(sum(a, b), c); }},
        {"__viaddmin_", "(a, b, c)", [sum](L a, L b, L c) { return std::min(sum(a, b), c); }},
        {"__vimax_", "(a, b)", [](L a, L b, L) { return std::max(a, b); }},
        {"__vimin_", "(a, b)", [](L a, L b, L) { return std::min(a, b); }}};
    for (const auto& function : functions) {  // names of a binding cannot be captured (clang 14)
      const std::string& name = std::get<0>(function);
      const std::string& arguments = std::get<1>(function);
      const auto& f = std::get<2>(function);
      const bool relu_alone = arguments == "(a, b)";
      if (!relu_alone) cases.push_back({name + suffix + arguments, by_lanes(bits, is_signed, f)});
      if (!is_signed) continue;
      cases.push_back({name + suffix + "_relu" + arguments,
                       by_lanes(bits, true, [f = f](L a, L b, L c) { return std::max(f(a, b, c), L{0}); })});
    }
    for (const bool greater : {true, false}) {
      const std::string name = (greater ? "__vibmax_" : "__vibmin_") + suffix;
      const auto taken = [greater](L a, L b) { return greater ? a >= b : a <= b; };
      const std::string call = bits == 32 ? name + "(a, b, &p)" : name + "(a, b, &p, &q)";
      cases.push_back({"(p = q = false, " + call + ")",
                       by_lanes(bits, is_signed, [taken](L a, L b, L) { return taken(a, b) ? a : b; })});
      // What it says besides: p of the upper half, q of the lower one.
      cases.push_back({"(p = q = false, " + call + ", p * 2U + q)", [=](Word a, Word b, Word) {
                         const unsigned upper = bits == 32 ? 0 : 16;
                         const Word p = taken(lane_of(a, bits, upper, is_signed), lane_of(b, bits, upper, is_signed));
                         const Word q =
                             bits == 16 && taken(lane_of(a, bits, 0, is_signed), lane_of(b, bits, 0, is_signed));
                         return p * 2 + q;
                       }});
    }
  }
}

class CudaWords : public test::CudaOnReference {};
INSTANTIATE_TEST_SUITE_P(AddressBits, CudaWords, ::testing::Values(32U, 64U));

TEST_P(CudaWords, EveryFunctionOfTheirs) {
  std::vector<WordCase> cases;
  add_lane_cases(cases, 2);
  add_lane_cases(cases, 4);
  add_searched_cases(cases);
  // As many as CUDA's manual lists, and one besides for each __vib.
  ASSERT_EQ(cases.size(), 82U + 36U + 8U);
  std::string source = "extern \"C\" __global__ void k(const unsigned* in, unsigned* out) {\n";
  source += "  const unsigned a = in[3 * threadIdx.x], b = in[3 * threadIdx.x + 1], c = in[3 * threadIdx.x + 2];\n";
  source += "  bool p = false, q = false;\n";
  source += "  unsigned* o = out + " + std::to_string(cases.size()) + " * threadIdx.x;\n";
  for (const WordCase& one : cases) source += "  *o++ = " + one.call + ";\n";
  compile(source + "  if (p && q) *out = *out;\n}\n");

  // Lanes at the edges of bytes, halves and words, each with each; then anything.
  constexpr std::array<Word, 9> kEdges = {0,           ~0U,         0x80808080U, 0x7f7f7f7fU, 0x80008000U,
                                          0x7fff7fffU, 0x80000000U, 0x7fffffffU, 0x01ff0001U};
  std::vector<Word> in;
  for (const Word a : kEdges) {
    for (const Word b : kEdges) in.insert(in.end(), {a, b, kEdges[(a ^ b) % kEdges.size()]});
  }
  constexpr std::array<Word, 5> kBytes = {0, 1, 0x7f, 0x80, 0xff};
  Random random(31);
  const std::size_t threads = 256;
  while (in.size() < 3 * threads) {
    Word word = random.next32();
    if (random.below(2) == 0) {
      word = 0;
      for (int i = 0; i < 4; ++i) word = (word << 8U) | kBytes[random.below(kBytes.size())];
    }
    in.push_back(word);
  }
  const std::uint64_t out = upload("out", std::vector<Word>(threads * cases.size()));
  launch({1}, {threads}, {upload("in", in), out});
  const auto got = download<Word>(out, threads * cases.size());
  for (std::size_t t = 0; t < threads; ++t) {
    const Word a = in[3 * t];
    const Word b = in[3 * t + 1];
    const Word c = in[3 * t + 2];
    for (std::size_t k = 0; k < cases.size(); ++k) {
      ASSERT_EQ(got[cases.size() * t + k], cases[k].expected(a, b, c))
          << cases[k].call << std::hex << " of " << a << ", " << b << ", " << c;
    }
  }
}

// Shuffles and matches of long, which is another type than int and long long whatever its size.
TEST_P(CudaWords, ShufflesOfEveryType) {
  std::string source = R"(
template <class T>
__device__ unsigned each(T base) {
  const int lane = threadIdx.x;
  const T value = base + (T)lane;
  unsigned right = 0, bit = 1;
  const auto check = [&](T got, int from) { right |= got == base + (T)from ? bit : 0; bit *= 2; };
  const int up = lane < 4 ? lane : lane - 4, down = lane > 27 ? lane : lane + 4;
  check(__shfl_sync(~0U, value, 7), 7);
  check(__shfl_up_sync(~0U, value, 4), up);
  check(__shfl_down_sync(~0U, value, 4), down);
  check(__shfl_xor_sync(~0U, value, 9), lane ^ 9);
  check(__shfl_sync(~0U, value, 3, 8), lane / 8 * 8 + 3);
  check(__shfl(value, 7), 7);
  check(__shfl_up(value, 4), up);
  check(__shfl_down(value, 4), down);
  check(__shfl_xor(value, 9), lane ^ 9);
  check(__shfl(value, 3, 8), lane / 8 * 8 + 3);
  static_assert(__is_same(T, decltype(__shfl_sync(~0U, value, 7))) && __is_same(T, decltype(__shfl(value, 7))), "");
  int all = 5;
  right |= __match_any_sync(~0U, base + (T)(lane % 2)) == (lane % 2 ? 0xaaaaaaaaU : 0x55555555U) ? bit : 0;
  bit *= 2;
  right |= __match_all_sync(~0U, base, &all) == ~0U && all == 1 ? bit : 0;
  bit *= 2;
  right |= __match_all_sync(~0U, value, &all) == 0 && all == 0 ? bit : 0;
  return right;
}
extern "C" __global__ void k(unsigned* out) {
  unsigned* o = out + 8 * threadIdx.x;
  const int places = 8 * sizeof(long) - 8;
  *o++ = each<int>(-1 << 24);
  *o++ = each<unsigned>(1U << 31);
  *o++ = each<long>(-1L << places);
  *o++ = each<unsigned long>(5UL << places);
  *o++ = each<long long>(-1LL << 56);
  *o++ = each<unsigned long long>(5ULL << 56);
  *o++ = each<float>(0.5f);
  *o++ = each<double>(0x1p40 + 0.5);
}
)";
  compile(source);
  const std::uint64_t out = upload("out", std::vector<Word>(8 * 32));
  launch({1}, {32}, {out});
  EXPECT_EQ(download<Word>(out, 8 * 32), std::vector<Word>(8 * 32, 0x1fffU));
}

}  // namespace
}  // namespace heddle::cuda
