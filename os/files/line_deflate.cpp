#include "os/files/line_deflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

namespace heddle::os {

namespace {

constexpr std::size_t kWindow = 32768;
constexpr std::size_t kLongestMatch = 258;
constexpr std::size_t kShortestMatch = 3;
constexpr std::size_t kShortestStart = 4;     // of a line that has come in this way before, and goes on otherwise
constexpr std::size_t kSequences = 1U << 14;  // of a block
constexpr unsigned kEndOfBlock = 256;
constexpr unsigned kLongestCode = 15;
constexpr unsigned kLongestLengthCode = 7;
constexpr std::size_t kOneLong = 8;
constexpr std::size_t kNameBytes = 4;  // with a line feed

// The symbol of a match's length, and what is written behind it.
struct LengthSymbol {
  std::uint16_t symbol = 0;
  std::uint8_t extra_bits = 0;
  std::uint8_t extra = 0;
};
constexpr auto kLengthSymbols = [] {
  std::array<LengthSymbol, kLongestMatch + 1> symbols{};
  unsigned length = kShortestMatch;
  for (unsigned symbol = 257; symbol != 285; ++symbol) {
    const unsigned bits = symbol < 265 ? 0 : (symbol - 261) / 4;
    for (unsigned extra = 0; extra != 1U << bits; ++extra) {
      symbols[length++] = {static_cast<std::uint16_t>(symbol), static_cast<std::uint8_t>(bits),
                           static_cast<std::uint8_t>(extra)};
    }
  }
  symbols[kLongestMatch] = {285, 0, 0};
  return symbols;
}();

struct DistanceSymbol {
  unsigned symbol;
  unsigned extra_bits;
  std::uint32_t extra;
};
// Of a distance less 1.
inline DistanceSymbol distance_symbol(std::uint32_t distance) {
  if (distance < 4) {
    return {distance, 0, 0};
  }
  const auto high = static_cast<unsigned>(std::bit_width(distance)) - 1;
  return {2 * high + ((distance >> (high - 1)) & 1U), high - 1, distance & ((1U << (high - 1)) - 1)};
}

inline std::uint64_t eight(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) {
    bytes = __builtin_bswap64(bytes);
  }
  return bytes;
}
// Of the first `count` bytes, at most 8.
inline std::uint64_t mask_of(std::size_t count) {
  return count >= kOneLong ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * count)) - 1;
}

// With its line feed. Behind the text are bytes of any value.
inline std::size_t line_length(const char* line, std::size_t left) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  for (std::size_t at = 0; at < left; at += kOneLong) {
    const std::uint64_t other = eight(line + at) ^ (kOnes * '\n');
    const std::uint64_t feeds = (other - kOnes) & ~other & (kOnes << 7U);
    if (feeds != 0) {
      return std::min(at + static_cast<std::size_t>(std::countr_zero(feeds)) / 8 + 1, left);
    }
  }
  return left;
}

inline bool same(const char* a, const char* b, std::size_t size) {
  while (size > kOneLong) {
    if (eight(a) != eight(b)) {
      return false;
    }
    a += kOneLong;
    b += kOneLong;
    size -= kOneLong;
  }
  return ((eight(a) ^ eight(b)) & mask_of(size)) == 0;
}

// Bytes that are the same from the first one on, at most `most`.
inline std::size_t same_start(const char* a, const char* b, std::size_t most) {
  for (std::size_t at = 0; at < most; at += kOneLong) {
    const std::uint64_t difference = eight(a + at) ^ eight(b + at);
    if (difference != 0) {
      return std::min(at + static_cast<std::size_t>(std::countr_zero(difference)) / 8, most);
    }
  }
  return most;
}

inline std::uint16_t hash_of(const char* line, std::size_t size) {
  std::uint64_t mixed = eight(line) & mask_of(size);
  if (size > kOneLong) {
    mixed += std::rotl(eight(line + size - kOneLong), 27);
  }
  return static_cast<std::uint16_t>((mixed * 0x9E3779B97F4A7C15ULL) >> 48U);
}

// Lengths of a prefix code for symbols that come so often, no length above `most`; 0: the symbol does not come. At
// least two have one.
std::vector<std::uint8_t> code_lengths(std::vector<std::uint32_t> counts, unsigned most) {
  for (std::size_t symbol = 0; std::count(counts.begin(), counts.end(), 0U) + 2 > std::ssize(counts); ++symbol) {
    counts[symbol] = std::max(counts[symbol], 1U);
  }
  std::vector<std::uint32_t> order;  // of those that come, from the rarest
  for (std::uint32_t symbol = 0; symbol != counts.size(); ++symbol) {
    if (counts[symbol] != 0) {
      order.push_back(symbol);
    }
  }
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a < b; });
  // Huffman's tree: its leaves in this order, then its inner nodes, whose weights ascend too.
  const std::size_t leaves = order.size();
  std::vector<std::uint64_t> weight(2 * leaves - 1);
  std::vector<std::size_t> parent(2 * leaves - 1);
  for (std::size_t leaf = 0; leaf != leaves; ++leaf) {
    weight[leaf] = counts[order[leaf]];
  }
  std::size_t next_leaf = 0;
  std::size_t next_node = leaves;
  for (std::size_t node = leaves; node != weight.size(); ++node) {
    for (int child = 0; child != 2; ++child) {
      const bool leaf = next_leaf != leaves && (next_node == node || weight[next_leaf] <= weight[next_node]);
      const std::size_t lighter = leaf ? next_leaf++ : next_node++;
      weight[node] += weight[lighter];
      parent[lighter] = node;
    }
  }
  std::vector<unsigned> depth(weight.size());
  std::vector<unsigned> of_length(most + 1);
  for (std::size_t node = weight.size() - 1; node-- != 0;) {
    depth[node] = depth[parent[node]] + 1;
    if (node < leaves) {
      ++of_length[std::min(depth[node], most)];
    }
  }
  // Where lengths were cut the code is too full: codes become longer until it is not.
  std::uint64_t full = 0;
  for (unsigned length = 1; length <= most; ++length) {
    full += std::uint64_t{of_length[length]} << (most - length);
  }
  for (; full > std::uint64_t{1} << most; --full) {
    --of_length[most];
    unsigned length = most - 1;
    while (of_length[length] == 0) {
      --length;
    }
    --of_length[length];
    of_length[length + 1] += 2;
  }
  std::vector<std::uint8_t> lengths(counts.size());
  std::size_t symbol = 0;
  for (unsigned length = most; length != 0; --length) {
    for (unsigned i = 0; i != of_length[length]; ++i) {
      lengths[order[symbol++]] = static_cast<std::uint8_t>(length);
    }
  }
  return lengths;
}

// Of a symbol: the bits as they are written, from the lowest.
struct PrefixCode {
  std::uint32_t bits = 0;
  std::uint32_t length = 0;
};

// The codes of these lengths (RFC 1951, 3.2.2), first bit lowest.
std::vector<PrefixCode> codes_of(const std::vector<std::uint8_t>& lengths) {
  std::array<std::uint32_t, kLongestCode + 2> next{};
  for (const std::uint8_t length : lengths) {
    next[length + 1] += length != 0 ? 1 : 0;
  }
  for (unsigned length = 2; length < next.size(); ++length) {
    next[length] = (next[length] + next[length - 1]) << 1U;
  }
  std::vector<PrefixCode> codes;
  codes.reserve(lengths.size());
  for (const std::uint8_t length : lengths) {
    std::uint32_t bits = 0;
    if (length != 0) {
      const std::uint32_t code = next[length]++;
      for (unsigned bit = 0; bit != length; ++bit) {
        bits |= ((code >> bit) & 1U) << (length - 1 - bit);
      }
    }
    codes.push_back({bits, length});
  }
  return codes;
}

// Bits on their way into bytes, the lowest first. There is room for eight more bytes than are written.
struct BitWriter {
  char* at;
  std::uint64_t waiting = 0;   // that are no byte yet
  unsigned waiting_count = 0;  // less than 8 between calls

  // At most 57 bits.
  void put(std::uint64_t bits, unsigned count) {
    waiting |= bits << waiting_count;
    waiting_count += count;
    std::uint64_t bytes = waiting;
    if constexpr (std::endian::native == std::endian::big) {
      bytes = __builtin_bswap64(bytes);
    }
    std::memcpy(at, &bytes, sizeof bytes);
    at += waiting_count / 8;
    waiting >>= waiting_count & ~7U;
    waiting_count &= 7U;
  }
};

// The lengths of both codes, in a code of their own (RFC 1951, 3.2.7).
void write_codes(BitWriter& out, const std::vector<std::uint8_t>& lengths, unsigned literals, unsigned distances) {
  constexpr std::array<std::uint8_t, 19> kOrder = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  struct Run {
    std::uint8_t symbol;
    std::uint8_t extra_bits;
    std::uint8_t extra;
  };
  std::vector<Run> runs;
  std::vector<std::uint32_t> counts(kOrder.size());
  for (std::size_t at = 0; at != lengths.size();) {
    const std::uint8_t length = lengths[at];
    std::size_t end = at + 1;
    while (end != lengths.size() && lengths[end] == length) {
      ++end;
    }
    std::size_t left = end - at;
    at = end;
    if (length != 0) {
      runs.push_back({length, 0, 0});
      --left;
    }
    while (left != 0) {
      if (left < 3) {
        runs.push_back({length, 0, 0});
        --left;
      } else if (length != 0) {
        const std::size_t count = std::min<std::size_t>(left, 6);
        runs.push_back({16, 2, static_cast<std::uint8_t>(count - 3)});
        left -= count;
      } else {
        const std::size_t count = std::min<std::size_t>(left, 138);
        const bool few = count < 11;
        runs.push_back({static_cast<std::uint8_t>(few ? 17 : 18), static_cast<std::uint8_t>(few ? 3 : 7),
                        static_cast<std::uint8_t>(count - (few ? 3 : 11))});
        left -= count;
      }
    }
  }
  for (const Run& run : runs) {
    ++counts[run.symbol];
  }
  const std::vector<std::uint8_t> of_lengths = code_lengths(counts, kLongestLengthCode);
  std::size_t told = kOrder.size();
  while (told > 4 && of_lengths[kOrder[told - 1]] == 0) {
    --told;
  }
  out.put(literals - 257, 5);
  out.put(distances - 1, 5);
  out.put(told - 4, 4);
  for (std::size_t i = 0; i != told; ++i) {
    out.put(of_lengths[kOrder[i]], 3);
  }
  const std::vector<PrefixCode> codes = codes_of(of_lengths);
  for (const Run& run : runs) {
    out.put(codes[run.symbol].bits, codes[run.symbol].length);
    out.put(run.extra, run.extra_bits);
  }
}

}  // namespace

LineDeflate::LineDeflate() : sequences_(kSequences + 4) {}

inline void LineDeflate::match(const char* end, std::size_t length, std::size_t distance) {
  sequences_[sequences_count_++] = {static_cast<std::uint32_t>(end - length - told_),
                                    static_cast<std::uint16_t>(length), static_cast<std::uint16_t>(distance - 1)};
  told_ = end;
  ++length_counts_[kLengthSymbols[length].symbol];
  ++distance_counts_[distance_symbol(static_cast<std::uint32_t>(distance - 1)).symbol];
}

// A line that has not come before may begin and end as the latest such one with the same end did, where a signal's
// name stands, or with the same start, as times do.
inline void LineDeflate::like_before(const char* text, std::size_t at, std::size_t size) {
  const char* const line = text + at;
  const std::uint64_t name = size >= kNameBytes ? eight(line + size - kNameBytes) & mask_of(kNameBytes) : 0;
  std::uint32_t& by_end = by_end_[(name * 0x9E3779B97F4A7C15ULL) >> (64 - kEndBits)];
  const std::size_t same_end = std::exchange(by_end, static_cast<std::uint32_t>(at + 1));
  std::uint32_t& by_start = by_start_[static_cast<unsigned char>(*line)];
  const std::size_t same_first = std::exchange(by_start, static_cast<std::uint32_t>(at + 1));
  for (const std::size_t before : {same_end, same_first}) {
    if (before == 0 || at + 1 - before > kWindow) {
      continue;
    }
    const char* const other = text + before - 1;
    const std::size_t start = same_start(other, line, std::min(size, kLongestMatch));
    if (start < kShortestStart) {
      continue;
    }
    match(line + start, start, at + 1 - before);
    if (before == same_end && size >= start + kNameBytes &&
        same(other + size - kNameBytes, line + size - kNameBytes, kNameBytes)) {  // as long, too
      match(line + size, kNameBytes, at + 1 - before);
    }
    return;
  }
}

void LineDeflate::find_lines(const char* text, std::span<const LineSink::Line> lines) {
  std::size_t distance = 0;  // of the latest match
  std::size_t length = 0;    // of the match that ends here; 0: none does
  std::size_t at = 0;
  for (const auto& [line_size, hash] : lines) {
    const char* const line = text + at;
    std::uint32_t& latest = latest_[hash >> (16 - kHashBits)];
    const std::size_t found = std::exchange(latest, static_cast<std::uint32_t>(at + 1));
    const bool may_match = line_size >= kShortestMatch && line_size <= kLongestMatch;
    if (may_match && distance != 0 && length + line_size <= kLongestMatch && same(line - distance, line, line_size)) {
      length += line_size;  // goes on, or is found where the match before was
    } else {
      if (length != 0) {
        match(line, length, distance);
        length = 0;
      }
      if (may_match && found != 0 && at + 1 - found <= kWindow && same(text + found - 1, line, line_size)) {
        distance = at + 1 - found;
        length = line_size;
      } else {
        like_before(text, at, line_size);
      }
    }
    at += line_size;
    if (sequences_count_ >= kSequences) {
      end_block(text + at - length, false);
    }
  }
  if (length != 0) {
    match(text + at, length, distance);
  }
}

std::vector<LineSink::Line> LineDeflate::lines_of(const char* text, std::size_t size) {
  constexpr std::size_t kMost = 0xffff;
  std::vector<LineSink::Line> lines;
  for (std::size_t at = 0; at != size;) {
    const std::size_t length = std::min(line_length(text + at, size - at), kMost);
    lines.push_back({static_cast<std::uint16_t>(length), hash_of(text + at, length)});
    at += length;
  }
  return lines;
}

// In four tables, since a byte that comes again at once would wait for its count.
std::array<std::uint32_t, LineDeflate::kLiterals> LineDeflate::count_literals() const {
  std::array<std::array<std::uint32_t, 256>, 4> counts{};
  const char* at = begin_;
  for (const Sequence& sequence : std::span(sequences_.data(), sequences_count_)) {
    for (std::uint32_t i = 0; i != sequence.literals; ++i) {
      ++counts[i % 4][static_cast<unsigned char>(at[i])];
    }
    at += sequence.literals + sequence.length;
  }
  std::array<std::uint32_t, kLiterals> sum = length_counts_;
  for (const auto& some : counts) {
    for (std::size_t byte = 0; byte != some.size(); ++byte) {
      sum[byte] += some[byte];
    }
  }
  sum[kEndOfBlock] = 1;
  return sum;
}

void LineDeflate::end_block(const char* end, bool last) {
  sequences_[sequences_count_++] = {static_cast<std::uint32_t>(end - told_), 0, 0};
  const std::array<std::uint32_t, kLiterals> counts = count_literals();
  const std::vector<std::uint8_t> literal_lengths = code_lengths({counts.begin(), counts.end()}, kLongestCode);
  const std::vector<std::uint8_t> distance_lengths =
      code_lengths({distance_counts_.begin(), distance_counts_.end()}, kLongestCode);
  const std::vector<PrefixCode> codes = codes_of(literal_lengths);
  const std::vector<PrefixCode> distance_codes = codes_of(distance_lengths);
  // Room for the codes, all symbols and what is written behind those of matches, and as much as is written at once.
  constexpr std::size_t kCodes = 512;
  constexpr std::size_t kBehindSymbols = 3;
  std::size_t bits = 0;
  for (unsigned symbol = 0; symbol != kLiterals; ++symbol) {
    bits += std::size_t{counts[symbol]} * literal_lengths[symbol];
  }
  for (unsigned symbol = 0; symbol != kDistances; ++symbol) {
    bits += std::size_t{distance_counts_[symbol]} * distance_lengths[symbol];
  }
  out_->resize(written_ + kCodes + bits / 8 + sequences_count_ * kBehindSymbols + 2 * sizeof waiting_);
  BitWriter out{out_->data() + written_, waiting_, waiting_count_};
  out.put(last ? 1 : 0, 1);
  out.put(2, 2);
  std::vector<std::uint8_t> lengths = literal_lengths;
  lengths.insert(lengths.end(), distance_lengths.begin(), distance_lengths.end());
  write_codes(out, lengths, kLiterals, kDistances);
  const char* at = begin_;
  const auto code_at = [&codes](const char* place) -> const PrefixCode& {
    return codes[static_cast<unsigned char>(*place)];
  };
  for (const Sequence& sequence : std::span(sequences_.data(), sequences_count_)) {
    const char* const literals_end = at + sequence.literals;
    for (; literals_end - at >= 3; at += 3) {  // at most 45 bits, and 7 that wait
      const PrefixCode& first = code_at(at);
      const PrefixCode& second = code_at(at + 1);
      const PrefixCode& third = code_at(at + 2);
      out.put(first.bits | std::uint64_t{second.bits} << first.length |
                  std::uint64_t{third.bits} << (first.length + second.length),
              first.length + second.length + third.length);
    }
    for (; at != literals_end; ++at) {
      out.put(code_at(at).bits, code_at(at).length);
    }
    if (sequence.length == 0) {
      continue;
    }
    at += sequence.length;
    const LengthSymbol& length = kLengthSymbols[sequence.length];
    const DistanceSymbol distance = distance_symbol(sequence.distance);
    const PrefixCode& length_code = codes[length.symbol];
    const PrefixCode& distance_code = distance_codes[distance.symbol];
    // At most 48 bits.
    std::uint64_t match = length_code.bits;
    unsigned count = length_code.length;
    match |= std::uint64_t{length.extra} << count;
    count += length.extra_bits;
    match |= std::uint64_t{distance_code.bits} << count;
    count += distance_code.length;
    match |= std::uint64_t{distance.extra} << count;
    out.put(match, count + distance.extra_bits);
  }
  out.put(codes[kEndOfBlock].bits, codes[kEndOfBlock].length);
  written_ = static_cast<std::size_t>(out.at - out_->data());
  waiting_ = out.waiting;
  waiting_count_ = out.waiting_count;
  begin_ = told_ = end;
  sequences_count_ = 0;
  length_counts_.fill(0);
  distance_counts_.fill(0);
}

void LineDeflate::pack(const char* text, std::size_t size, std::span<const LineSink::Line> lines, std::string& out) {
  constexpr std::array<char, 10> kHead = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 4, '\xff'};  // quick; no name, no time
  out.assign(kHead.data(), kHead.size());
  out_ = &out;
  written_ = out.size();
  latest_.fill(0);
  by_end_.fill(0);
  by_start_.fill(0);
  begin_ = told_ = text;
  find_lines(text, lines);
  end_block(text + size, true);
  const std::uint32_t check = ::libdeflate_crc32(0, text, size);
  out.resize(written_ + 3 * sizeof waiting_);
  BitWriter tail{out.data() + written_, waiting_, waiting_count_};
  tail.put(0, (8 - waiting_count_) & 7U);
  tail.put(check, 32);
  tail.put(size & 0xffffffffU, 32);
  out.resize(static_cast<std::size_t>(tail.at - out.data()));
  waiting_ = waiting_count_ = 0;
}

}  // namespace heddle::os
