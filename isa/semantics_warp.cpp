// Exchange between the lanes of a warp: vote, shfl, match, redux, elect, tree traverse (PTX ISA, "Parallel
// Synchronization and Communication Instructions" and "shfl"). Only lanes that execute and that the member mask names
// take part.
#include <algorithm>
#include <bit>
#include <functional>

#include "isa/lane_loops.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

template <typename F>
void vote(LaneValues& v, F decide) {
  v.p = mask_of([&](unsigned lane) {
    const LaneMask members = v.b[0][lane] & v.active;
    return decide(v.predicate_a & members, members);
  });
  v.q = ~v.p;
}

void vote_all(const Instruction& /*instruction*/, LaneValues& v) {
  vote(v, [](LaneMask set, LaneMask members) { return set == members; });
}
void vote_any(const Instruction& /*instruction*/, LaneValues& v) {
  vote(v, [](LaneMask set, LaneMask /*members*/) { return set != 0; });
}
void vote_uni(const Instruction& /*instruction*/, LaneValues& v) {
  vote(v, [](LaneMask set, LaneMask members) { return set == 0 || set == members; });
}
void ballot(const Instruction& /*instruction*/, LaneValues& v) {
  for (unsigned lane = 0; lane < kLanes; ++lane) v.result[0][lane] = v.b[0][lane] & v.active & v.predicate_a;
}
void activemask(const Instruction& /*instruction*/, LaneValues& v) {
  v.result[0].fill(v.active);
}

// Source lane and whether it lies in range, as the PTX ISA's pseudo code computes them: bits 4..0 of c clamp, bits
// 12..8 mask the lane's segment.
struct Source {
  u32 lane;
  bool in_range;
};
struct Up {
  static Source of(u32 lane, u32 b, u32 /*low*/, u32 limit) { return {lane - b, s32(lane - b) >= s32(limit)}; }
};
struct Down {
  static Source of(u32 lane, u32 b, u32 /*low*/, u32 limit) { return {lane + b, lane + b <= limit}; }
};
struct Butterfly {
  static Source of(u32 lane, u32 b, u32 /*low*/, u32 limit) { return {lane ^ b, (lane ^ b) <= limit}; }
};
struct Index {
  static Source of(u32 /*lane*/, u32 b, u32 low, u32 limit) { return {low | b, (low | b) <= limit}; }
};

// A lane out of range reads itself. One whose source does not take part reads 0, where PTX leaves the value open:
// NVIDIA's sample of reductions (reduce7, below compute capability 8.0) adds what such lanes give, and its sum is right
// with 0 alone.
template <typename Mode>
void shuffle(const Instruction& instruction, LaneValues& v) {
  LaneWord source;
  LaneWord in_range, kept;
  const u32 everyone = instruction.d == kRZ ? ~u32{0} : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 segment = (v.c[0][lane] >> 8U) & 31U;
    const u32 low = lane & segment;
    const u32 limit = low | (v.c[0][lane] & 31U & ~segment);
    u32 b = v.b[0][lane] & 31U;
    if constexpr (std::is_same_v<Mode, Index>) b &= ~segment;
    const Source from = Mode::of(lane, b, low, limit);
    const LaneMask members = (v.d[lane] | everyone) & v.active;
    const bool takes_part = ((members >> (from.lane & 31U)) & 1U) != 0;
    in_range[lane] = from.in_range ? 1 : 0;
    source[lane] = from.in_range ? from.lane & 31U : lane;
    kept[lane] = from.in_range && !takes_part ? 0 : ~u32{0};
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) v.result[0][lane] = v.a[0][source[lane]] & kept[lane];
  v.p = mask_of([&](unsigned lane) { return in_range[lane] != 0; });
}

template <typename T>
LaneMask lanes_equal_to(const LaneValues& v, T value) {
  return mask_of([&](unsigned lane) { return get<T>(v.a, lane) == value; });
}

template <typename T>
void match_any(const Instruction& /*instruction*/, LaneValues& v) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    v.result[0][lane] = lanes_equal_to(v, get<T>(v.a, lane)) & v.b[0][lane] & v.active;
  }
}

template <typename T>
void match_all(const Instruction& /*instruction*/, LaneValues& v) {
  LaneMask agreed = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const LaneMask members = v.b[0][lane] & v.active;
    const bool all = (members & ~lanes_equal_to(v, get<T>(v.a, lane))) == 0;
    v.result[0][lane] = all ? members : 0;
    agreed |= all ? LaneMask{1} << lane : 0;
  }
  v.p = agreed;
}

// A lane that no member executes for gets its own value.
template <typename Combine>
void redux(const Instruction& /*instruction*/, LaneValues& v) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const LaneMask members = v.b[0][lane] & v.active;
    if (lane != 0 && v.b[0][lane] == v.b[0][lane - 1] && members != 0) {
      v.result[0][lane] = v.result[0][lane - 1];
      continue;
    }
    u32 all = v.a[0][members == 0 ? lane : static_cast<unsigned>(std::countr_zero(members))];
    for (LaneMask left = members & (members - 1); left != 0; left &= left - 1) {
      all = Combine()(all, v.a[0][static_cast<unsigned>(std::countr_zero(left))]);
    }
    v.result[0][lane] = all;
  }
}
struct LeastSigned {
  u32 operator()(u32 a, u32 b) const { return s32(a) < s32(b) ? a : b; }
};
struct MostSigned {
  u32 operator()(u32 a, u32 b) const { return s32(a) > s32(b) ? a : b; }
};
struct Least {
  u32 operator()(u32 a, u32 b) const { return std::min(a, b); }
};
struct Most {
  u32 operator()(u32 a, u32 b) const { return std::max(a, b); }
};

void elect(const Instruction& /*instruction*/, LaneValues& v) {
  LaneMask elected = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const LaneMask members = v.b[0][lane] & v.active;
    const auto lowest = static_cast<unsigned>(std::countr_zero(members));
    v.result[0][lane] = lowest;
    elected |= lowest == lane ? LaneMask{1} << lane : 0;
  }
  v.p = elected;
}

// Thesis 7.2.1: b is the shift, or the size of a node.
template <bool kSize>
void tree_traverse(const Instruction& /*instruction*/, LaneValues& v) {
  const auto sum = static_cast<u32>(std::popcount(v.predicate_a & v.active));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 b = v.b[0][lane];
    const u32 shift = kSize ? static_cast<u32>(std::bit_width(b)) - 1 : b;
    v.result[0][lane] = v.a[0][lane] + (shift < 32 ? sum << (shift & 31U) : 0);
  }
}

}  // namespace

HEDDLE_LANES(VOTE_ALL) {
  return &vote_all;
}
HEDDLE_LANES(VOTE_ANY) {
  return &vote_any;
}
HEDDLE_LANES(VOTE_UNI) {
  return &vote_uni;
}
HEDDLE_LANES(BALLOT) {
  return &ballot;
}
HEDDLE_LANES(ACTIVEMASK) {
  return &activemask;
}
HEDDLE_LANES(SHFL_UP) {
  return &shuffle<Up>;
}
HEDDLE_LANES(SHFL_DOWN) {
  return &shuffle<Down>;
}
HEDDLE_LANES(SHFL_BFLY) {
  return &shuffle<Butterfly>;
}
HEDDLE_LANES(SHFL_IDX) {
  return &shuffle<Index>;
}
HEDDLE_LANES(MATCH_ANY) {
  return &match_any<u32>;
}
HEDDLE_LANES(MATCH_ANY64) {
  return &match_any<u64>;
}
HEDDLE_LANES(MATCH_ALL) {
  return &match_all<u32>;
}
HEDDLE_LANES(MATCH_ALL64) {
  return &match_all<u64>;
}
HEDDLE_LANES(REDUX_ADD) {
  return &redux<std::plus<u32>>;
}
HEDDLE_LANES(REDUX_MIN_S) {
  return &redux<LeastSigned>;
}
HEDDLE_LANES(REDUX_MIN_U) {
  return &redux<Least>;
}
HEDDLE_LANES(REDUX_MAX_S) {
  return &redux<MostSigned>;
}
HEDDLE_LANES(REDUX_MAX_U) {
  return &redux<Most>;
}
HEDDLE_LANES(REDUX_AND) {
  return &redux<std::bit_and<u32>>;
}
HEDDLE_LANES(REDUX_OR) {
  return &redux<std::bit_or<u32>>;
}
HEDDLE_LANES(REDUX_XOR) {
  return &redux<std::bit_xor<u32>>;
}
HEDDLE_LANES(ELECT) {
  return &elect;
}
HEDDLE_LANES(TREE_TRAVERSE) {
  return &tree_traverse<false>;
}
HEDDLE_LANES(TREE_TRAVERSE_SIZE) {
  return &tree_traverse<true>;
}

}  // namespace heddle::isa::lanes
