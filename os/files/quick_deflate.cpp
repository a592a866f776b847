#include "os/files/quick_deflate.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace heddle::os {

namespace {

constexpr std::size_t kShortest = 3;
constexpr std::size_t kLongest = 258;
constexpr std::size_t kHashed = 8;  // bytes of a match at the least: fewer are sent in fewer bits as they are
constexpr std::uint32_t kMatch = 1U << 31U;
constexpr unsigned kEndOfBlock = 256;
constexpr unsigned kFirstLength = 257;
constexpr unsigned kMostBits = 15;

// Lengths and distances are sent as a code of a range and the place in it (RFC 1951, 3.2.5).
struct Range {
  std::uint16_t first;
  std::uint8_t extra_bits;
};
constexpr unsigned kLengthCodes = 29;
constexpr auto kLengths = [] {
  std::array<Range, kLengthCodes> ranges{};
  unsigned first = kShortest;
  for (unsigned code = 0; code + 1 < kLengthCodes; ++code) {
    const unsigned extra = code < 8 ? 0 : code / 4 - 1;
    ranges[code] = {static_cast<std::uint16_t>(first), static_cast<std::uint8_t>(extra)};
    first += 1U << extra;
  }
  ranges[kLengthCodes - 1] = {kLongest, 0};
  return ranges;
}();
constexpr auto kLengthCode = [] {
  std::array<std::uint8_t, kLongest + 1> codes{};
  for (unsigned code = 0; code != kLengthCodes; ++code) {
    for (unsigned length = kLengths[code].first; length <= kLongest; ++length) {
      codes[length] = static_cast<std::uint8_t>(code);
    }
  }
  return codes;
}();
// Of a distance less 1: two codes for each power of two.
constexpr unsigned distance_code(std::uint32_t less) {
  if (less < 4) {
    return less;
  }
  const auto top = static_cast<unsigned>(std::bit_width(less)) - 1;
  return 2 * top + ((less >> (top - 1)) & 1U);
}
constexpr unsigned distance_extra(unsigned code) {
  return code < 4 ? 0 : code / 2 - 1;
}

std::uint64_t eight(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// How many bytes of both are the same, at most `most`; kHashed are.
std::size_t same_bytes(const char* a, const char* b, std::size_t most) {
  std::size_t length = kHashed;
  for (; length + sizeof(std::uint64_t) <= most; length += sizeof(std::uint64_t)) {
    if (const std::uint64_t differ = eight(a + length) ^ eight(b + length); differ != 0) {
      return length + static_cast<unsigned>(std::countr_zero(differ)) / 8;
    }
  }
  while (length != most && a[length] == b[length]) {
    ++length;
  }
  return length;
}

}  // namespace

std::string_view QuickDeflate::pack(std::string_view text, std::size_t begin) {
  latest_.assign(std::size_t{1} << kHashBits, 0);
  tokens_.clear();
  tokens_.reserve(kTokens + 1);
  size_ = 0;
  pending_ = 0;
  pending_bits_ = 0;
  find_tokens(text, begin);
  end_block();
  // An empty stored block: the next byte begins with what comes behind.
  make_room(16);
  send(0, 3);
  send(0, (8 - pending_bits_ % 8) % 8);
  send(0xffff0000U, 32);
  send(0, 0);
  return {packed_.data(), size_};
}

void QuickDeflate::find_tokens(std::string_view text, std::size_t begin) {
  const char* const data = text.data();
  const std::size_t end = text.size();
  const auto place_of = [&](std::size_t at) -> std::uint32_t& {
    constexpr std::uint64_t kPrime = 0x9e3779b185ebca87U;
    return latest_[(eight(data + at) * kPrime) >> (64 - kHashBits)];
  };
  const auto literal = [&](std::size_t at) {
    const auto byte = static_cast<unsigned char>(data[at]);
    ++literal_counts_[byte];
    tokens_.push_back(byte);
  };
  std::size_t at = begin;
  if (end >= kHashed) {
    const std::size_t last = end - kHashed;  // where so many are left
    for (std::size_t before = begin - std::min(begin, kWindow); before < std::min(begin, last); ++before) {
      place_of(before) = static_cast<std::uint32_t>(before);
    }
    while (at <= last) {
      std::uint32_t& place = place_of(at);
      const std::size_t other = place;
      place = static_cast<std::uint32_t>(at);
      if (other >= at || at - other > kWindow || eight(data + at) != eight(data + other)) {
        literal(at);
        ++at;
      } else {
        const std::size_t length = same_bytes(data + at, data + other, std::min(kLongest, end - at));
        match(at - other, length);
        at += length;
      }
      if (tokens_.size() >= kTokens) {
        end_block();
      }
    }
  }
  for (; at < end; ++at) {
    literal(at);
  }
}

inline void QuickDeflate::match(std::size_t distance, std::size_t length) {
  const auto less = static_cast<std::uint32_t>(distance - 1);
  ++literal_counts_[kFirstLength + kLengthCode[length]];
  ++distance_counts_[distance_code(less)];
  tokens_.push_back(kMatch | less << 9U | static_cast<std::uint32_t>(length));
}

// ---------------------------------------------------------------------------------------------------- sending

void QuickDeflate::make_room(std::size_t bytes) {
  if (packed_.size() < size_ + bytes) {
    packed_.resize(std::max(2 * packed_.size(), size_ + bytes));
  }
}

// At most 48 bits at a time. There is room for them.
inline void QuickDeflate::send(std::uint64_t bits, unsigned count) {
  pending_ |= bits << pending_bits_;
  pending_bits_ += count;
  std::memcpy(packed_.data() + size_, &pending_, sizeof pending_);
  const unsigned whole = pending_bits_ / 8;
  size_ += whole;
  pending_ >>= 8 * whole;
  pending_bits_ -= 8 * whole;
}

// Huffman codes no longer than `longest`; symbols that do not occur have none, but two always have.
void QuickDeflate::make_codes(const std::uint32_t* counts, unsigned symbols, unsigned longest, Code* codes) {
  std::array<std::uint16_t, kLiterals> order{};
  unsigned used = 0;
  for (unsigned symbol = 0; symbol != symbols; ++symbol) {
    codes[symbol] = {};
    if (counts[symbol] != 0) {
      order[used++] = static_cast<std::uint16_t>(symbol);
    }
  }
  for (unsigned symbol = 0; used < 2; ++symbol) {  // readers want a complete code
    if (counts[symbol] == 0) {
      order[used++] = static_cast<std::uint16_t>(symbol);
    }
  }
  std::sort(order.begin(), order.begin() + used,
            [&](unsigned a, unsigned b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a < b; });
  // The two lightest nodes become one, from two queues: symbols by their counts, and nodes as they are made.
  std::array<std::uint64_t, 2 * kLiterals> weight{};
  std::array<std::uint16_t, 2 * kLiterals> parent{};
  for (unsigned i = 0; i != used; ++i) {
    weight[i] = counts[order[i]];
  }
  unsigned symbol = 0;
  unsigned node = used;
  for (unsigned made = used; made != 2 * used - 1; ++made) {
    for (unsigned half = 0; half != 2; ++half) {
      const bool of_symbols = symbol != used && (node == made || weight[symbol] <= weight[node]);
      const unsigned lightest = of_symbols ? symbol++ : node++;
      weight[made] += weight[lightest];
      parent[lightest] = static_cast<std::uint16_t>(made);
    }
  }
  std::array<std::uint16_t, 2 * kLiterals> depth{};
  std::array<std::uint32_t, kMostBits + 1> of_length{};  // how many codes
  for (unsigned at = 2 * used - 2; at-- != 0;) {
    depth[at] = static_cast<std::uint16_t>(depth[parent[at]] + 1);
    if (at < used) {
      ++of_length[std::min<unsigned>(depth[at], longest)];
    }
  }
  // Codes that were cut are too many: for each, one of the next shorter length becomes two of the one behind it.
  std::uint32_t taken = 0;
  for (unsigned length = 1; length <= longest; ++length) {
    taken += of_length[length] << (longest - length);
  }
  for (; taken > 1U << longest; --taken) {
    unsigned length = longest - 1;
    for (; of_length[length] == 0; --length) {
    }
    --of_length[length];
    of_length[length + 1] += 2;
    --of_length[longest];
  }
  // The rarest symbols have the longest codes; codes of a length count up in the order of their symbols.
  unsigned next = 0;
  for (unsigned length = longest; length != 0; --length) {
    for (std::uint32_t i = 0; i != of_length[length]; ++i) {
      codes[order[next++]].length = static_cast<std::uint8_t>(length);
    }
  }
  std::array<unsigned, kMostBits + 2> first{};
  for (unsigned length = 1; length <= longest; ++length) {
    first[length + 1] = (first[length] + of_length[length]) << 1U;
  }
  for (unsigned i = 0; i != symbols; ++i) {
    unsigned bits = first[codes[i].length]++;
    for (unsigned bit = 0; bit != codes[i].length; ++bit, bits >>= 1U) {
      codes[i].bits = static_cast<std::uint16_t>(codes[i].bits << 1U | (bits & 1U));
    }
  }
}

// The lengths of both alphabets' codes, as runs (RFC 1951, 3.2.7).
void QuickDeflate::send_codes(unsigned literals, unsigned distances) {
  constexpr unsigned kSymbols = 19;
  constexpr std::array<std::uint8_t, kSymbols> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
  std::vector<std::uint8_t> lengths;
  for (unsigned i = 0; i != literals; ++i) {
    lengths.push_back(literal_codes_[i].length);
  }
  for (unsigned i = 0; i != distances; ++i) {
    lengths.push_back(distance_codes_[i].length);
  }
  struct Run {
    std::uint8_t symbol;
    std::uint8_t extra;
    std::uint8_t extra_bits;
  };
  std::vector<Run> runs;
  std::array<std::uint32_t, kSymbols> counts{};
  for (std::size_t at = 0; at != lengths.size();) {
    const std::uint8_t length = lengths[at];
    std::size_t same = 1;
    while (at + same != lengths.size() && lengths[at + same] == length && same < (length == 0 ? 138U : 7U)) {
      ++same;
    }
    if (length == 0 && same >= 11) {
      runs.push_back({18, static_cast<std::uint8_t>(same - 11), 7});
    } else if (length == 0 && same >= 3) {
      runs.push_back({17, static_cast<std::uint8_t>(same - 3), 3});
    } else if (same >= 4) {  // the length itself, and three to six more
      runs.push_back({length, 0, 0});
      ++counts[length];
      runs.push_back({16, static_cast<std::uint8_t>(same - 4), 2});
    } else {
      same = 1;
      runs.push_back({length, 0, 0});
    }
    ++counts[runs.back().symbol];
    at += same;
  }
  std::array<Code, kSymbols> codes{};
  make_codes(counts.data(), kSymbols, 7, codes.data());
  unsigned sent = kSymbols;
  while (sent > 4 && codes[kOrder[sent - 1]].length == 0) {
    --sent;
  }
  send(literals - kFirstLength, 5);
  send(distances - 1, 5);
  send(sent - 4, 4);
  for (unsigned i = 0; i != sent; ++i) {
    send(codes[kOrder[i]].length, 3);
  }
  for (const Run& run : runs) {
    send(codes[run.symbol].bits, codes[run.symbol].length);
    send(run.extra, run.extra_bits);
  }
}

void QuickDeflate::end_block() {
  if (tokens_.empty()) {
    return;
  }
  literal_counts_[kEndOfBlock] = 1;
  make_codes(literal_counts_.data(), kLiterals, kMostBits, literal_codes_.data());
  make_codes(distance_counts_.data(), kDistances, kMostBits, distance_codes_.data());
  unsigned literals = kLiterals;
  while (literals > kFirstLength && literal_codes_[literals - 1].length == 0) {
    --literals;
  }
  unsigned distances = kDistances;
  while (distances > 1 && distance_codes_[distances - 1].length == 0) {
    --distances;
  }
  make_room(1024 + 8 * tokens_.size());
  send(0b100, 3);  // not the last block; codes of its own
  send_codes(literals, distances);
  for (const std::uint32_t token : tokens_) {
    if (token < kMatch) {
      const Code code = literal_codes_[token];
      send(code.bits, code.length);
      continue;
    }
    const std::uint32_t length = token & 0x1ffU;
    const std::uint32_t less = (token & ~kMatch) >> 9U;
    const unsigned of_length = kLengthCode[length];
    const Code first = literal_codes_[kFirstLength + of_length];
    const unsigned of_distance = distance_code(less);
    const Code second = distance_codes_[of_distance];
    std::uint64_t bits = first.bits;
    unsigned count = first.length;
    bits |= std::uint64_t{length - kLengths[of_length].first} << count;
    count += kLengths[of_length].extra_bits;
    bits |= std::uint64_t{second.bits} << count;
    count += second.length;
    const unsigned extra = distance_extra(of_distance);
    bits |= std::uint64_t{less & ((1U << extra) - 1)} << count;
    send(bits, count + extra);
  }
  send(literal_codes_[kEndOfBlock].bits, literal_codes_[kEndOfBlock].length);
  tokens_.clear();
  literal_counts_.fill(0);
  distance_counts_.fill(0);
}

}  // namespace heddle::os
