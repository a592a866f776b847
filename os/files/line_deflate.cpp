#include "os/files/line_deflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

namespace heddle::os {

namespace {

constexpr std::size_t kWindow = 32768;
constexpr std::size_t kShortestMatch = 3;
constexpr std::size_t kShortestStart = 4;     // of a line that has come in this way before, and goes on otherwise
constexpr std::size_t kSequences = 1U << 17;  // of a block
constexpr std::size_t kSample = 1U << 12;     // of its sequences, those that make its codes
// In a sample, each that has come counts as so many: what has not come may come yet, and counts as one.
constexpr std::uint32_t kHasCome = 16;
constexpr unsigned kEndOfBlock = 256;
constexpr unsigned kLongestLengthCode = 7;
// Of a match as it is written, and more than those of a block's codes and all else that stands before or behind it.
constexpr std::size_t kMatchBytes = 6;
constexpr std::size_t kCodesBytes = 1024;
constexpr std::size_t kOneLong = 8;
constexpr std::size_t kNameBytes = 4;  // with a line feed

// The symbol of a match's length, and what is written behind it.
struct LengthSymbol {
  std::uint16_t symbol = 0;
  std::uint8_t extra_bits = 0;
  std::uint8_t extra = 0;
};
constexpr auto kLengthSymbols = [] {
  std::array<LengthSymbol, LineDeflate::kLongestMatch + 1> symbols{};
  unsigned length = kShortestMatch;
  for (unsigned symbol = 257; symbol != 285; ++symbol) {
    const unsigned bits = symbol < 265 ? 0 : (symbol - 261) / 4;
    for (unsigned extra = 0; extra != 1U << bits; ++extra) {
      symbols[length++] = {static_cast<std::uint16_t>(symbol), static_cast<std::uint8_t>(bits),
                           static_cast<std::uint8_t>(extra)};
    }
  }
  symbols.back() = {285, 0, 0};
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

// Without a branch for each eight bytes: what the next line is like is hard to foresee.
inline bool same(const char* a, const char* b, std::size_t size) {
  if (size <= kOneLong) {
    return ((eight(a) ^ eight(b)) & mask_of(size)) == 0;
  }
  const std::size_t last = size - kOneLong;
  std::uint64_t difference = eight(a + last) ^ eight(b + last);
  for (std::size_t at = 0; at < last; at += kOneLong) {
    difference |= eight(a + at) ^ eight(b + at);
  }
  return difference == 0;
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

}  // namespace

inline void LineDeflate::BitWriter::put(std::uint64_t bits, unsigned count) {
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

// The lengths of both codes, in a code of their own (RFC 1951, 3.2.7).
void LineDeflate::write_codes(BitWriter& out, const std::vector<std::uint8_t>& lengths) {
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
  out.put(kLiterals - 257, 5);
  out.put(kDistances - 1, 5);
  out.put(told - 4, 4);
  for (std::size_t i = 0; i != told; ++i) {
    out.put(of_lengths[kOrder[i]], 3);
  }
  const std::vector<PrefixBits> codes = codes_of(of_lengths);
  for (const Run& run : runs) {
    out.put(codes[run.symbol].bits, codes[run.symbol].count);
    out.put(run.extra, run.extra_bits);
  }
}

LineDeflate::LineDeflate() {
  sample_.reserve(kSample);
}

void LineDeflate::more_room(std::size_t needed) {
  const auto written = static_cast<std::size_t>(out_.at - room_.data());
  room_.resize(2 * room_.size() + needed);
  room_end_ = room_.data() + room_.size();
  out_.at = room_.data() + written;
}

inline void LineDeflate::make_room(std::size_t literals) {
  const std::size_t needed = 2 * literals + kCodesBytes;
  if (static_cast<std::size_t>(room_end_ - out_.at) < needed) [[unlikely]] {
    more_room(needed);
  }
}

[[gnu::always_inline]] inline void LineDeflate::write(BitWriter& out, const char* at, const Sequence& sequence) const {
  const auto code_at = [this](const char* place) -> const PrefixBits& {
    return literals_[static_cast<unsigned char>(*place)];
  };
  const char* const literals_end = at + sequence.literals;
  for (; literals_end - at >= 3; at += 3) {  // at most 45 bits, and 7 that wait
    const PrefixBits& first = code_at(at);
    const PrefixBits& second = code_at(at + 1);
    const PrefixBits& third = code_at(at + 2);
    out.put(first.bits | std::uint64_t{second.bits} << first.count |
                std::uint64_t{third.bits} << (first.count + second.count),
            first.count + second.count + third.count);
  }
  for (; at != literals_end; ++at) {
    out.put(code_at(at).bits, code_at(at).count);
  }
  if (sequence.length != 0) {  // at most 48 bits
    const DistanceSymbol distance = distance_symbol(sequence.distance);
    const PrefixBits& length = lengths_[sequence.length];
    const PrefixBits& code = distances_[distance.symbol];
    out.put(length.bits | std::uint64_t{code.bits} << length.count |
                std::uint64_t{distance.extra} << (length.count + code.count),
            length.count + code.count + distance.extra_bits);
  }
}

inline void LineDeflate::match(const char* end, std::size_t length, std::size_t distance) {
  const Sequence sequence{static_cast<std::uint32_t>(end - length - told_), static_cast<std::uint16_t>(length),
                          static_cast<std::uint16_t>(distance - 1)};
  ++sequences_count_;
  if (has_codes_) {
    make_room(sequence.literals);
    BitWriter out = out_;
    write(out, told_, sequence);
    out_ = out;
  } else {
    sample_.push_back(sequence);
  }
  told_ = end;
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
    if (!has_codes_ && sequences_count_ >= kSample) {
      begin_block(false);
    } else if (sequences_count_ >= kSequences) {
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

void LineDeflate::begin_block(bool whole) {
  // In four tables, since a byte that comes again at once would wait for its count.
  std::array<std::array<std::uint32_t, 256>, 4> bytes{};
  std::vector<std::uint32_t> literals(kLiterals);
  std::vector<std::uint32_t> distances(kDistances);
  const char* at = begin_;
  for (const Sequence& sequence : sample_) {
    for (std::uint32_t i = 0; i != sequence.literals; ++i) {
      ++bytes[i % 4][static_cast<unsigned char>(at[i])];
    }
    at += sequence.literals + sequence.length;
    if (sequence.length != 0) {
      ++literals[kLengthSymbols[sequence.length].symbol];
      ++distances[distance_symbol(sequence.distance).symbol];
    }
  }
  for (const auto& some : bytes) {
    std::transform(some.begin(), some.end(), literals.begin(), literals.begin(), std::plus<>());
  }
  literals[kEndOfBlock] = 1;
  if (!whole) {
    for (std::vector<std::uint32_t>* const counts : {&literals, &distances}) {
      std::transform(counts->begin(), counts->end(), counts->begin(),
                     [](std::uint32_t count) { return kHasCome * count + 1; });
    }
  }
  std::vector<std::uint8_t> code = code_lengths(std::move(literals), kLongestCode);
  literals_ = codes_of(code);
  const std::vector<std::uint8_t> distance_code = code_lengths(std::move(distances), kLongestCode);
  distances_ = codes_of(distance_code);
  for (std::size_t length = kShortestMatch; length <= kLongestMatch; ++length) {
    const LengthSymbol& symbol = kLengthSymbols[length];
    const PrefixBits& bits = literals_[symbol.symbol];
    lengths_[length] = {bits.bits | std::uint32_t{symbol.extra} << bits.count, bits.count + symbol.extra_bits};
  }
  has_codes_ = true;
  make_room(0);
  out_.put(0, 1);
  out_.put(2, 2);
  code.insert(code.end(), distance_code.begin(), distance_code.end());
  write_codes(out_, code);
  std::size_t sampled = 0;
  for (const Sequence& sequence : sample_) {
    sampled += sequence.literals + kMatchBytes;
  }
  make_room(sampled);
  BitWriter out = out_;
  at = begin_;
  for (const Sequence& sequence : sample_) {
    write(out, at, sequence);
    at += sequence.literals + sequence.length;
  }
  out_ = out;
}

void LineDeflate::end_block(const char* end, bool last) {
  const Sequence sequence{static_cast<std::uint32_t>(end - told_), 0, 0};
  if (has_codes_) {
    make_room(sequence.literals);
    write(out_, told_, sequence);
  } else {
    sample_.push_back(sequence);
    begin_block(last);
  }
  out_.put(literals_[kEndOfBlock].bits, literals_[kEndOfBlock].count);
  begin_ = told_ = end;
  sequences_count_ = 0;
  sample_.clear();
  has_codes_ = false;
}

void LineDeflate::pack(const char* text, std::size_t size, std::span<const LineSink::Line> lines, std::string& out) {
  constexpr std::array<char, 10> kHead = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 4, '\xff'};  // quick; no name, no time
  room_.resize(std::max(room_.size(), kCodesBytes));
  room_end_ = room_.data() + room_.size();
  out_ = {std::copy(kHead.begin(), kHead.end(), room_.data())};
  latest_.fill(0);
  by_end_.fill(0);
  by_start_.fill(0);
  begin_ = told_ = text;
  find_lines(text, lines);
  end_block(text + size, true);
  make_room(0);
  // The last block is one of nothing: what is the last has not been known when its codes were made.
  out_.put(1, 1);
  out_.put(1, 2);
  out_.put(0, 7);
  out_.put(0, (8 - out_.waiting_count) & 7U);
  out_.put(::libdeflate_crc32(0, text, size), 32);
  out_.put(size & 0xffffffffU, 32);
  out.assign(room_.data(), out_.at);
}

}  // namespace heddle::os
