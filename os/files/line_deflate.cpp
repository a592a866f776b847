#include "os/files/line_deflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

namespace heddle::os {

namespace {

constexpr std::size_t kWindow = 32768;
constexpr std::size_t kShortestMatch = 3;
constexpr std::size_t kRuns = 1U << 17;    // of a block
constexpr std::size_t kSample = 1U << 12;  // the first of its runs, that make its codes
// In a sample, each symbol that has come counts as so many: one that has not may come yet, and counts as one.
constexpr std::uint32_t kHasCome = 16;
constexpr unsigned kEndOfBlock = 256;
constexpr unsigned kLongestLengthCode = 7;
// A block's codes and all else that stands before or behind its runs take less; a run takes up to twice its bytes.
constexpr std::size_t kCodesBytes = 1024;

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

// Without a branch on what a line is like, which is hard to foresee: masks are all ones or 0.
std::span<const LineDeflate::Run> LineDeflate::find_runs(std::span<const LineSink::Line> lines) {
  const auto mask = [](bool set) { return ~static_cast<std::uint32_t>(set) + 1; };
  runs_.resize(std::max(runs_.size(), lines.size() + 1));
  latest_.fill({});
  Run now{};
  Run* run = runs_.data();
  *run = now;
  std::uint32_t next = 0;  // line that the run goes on with
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i != lines.size(); ++i) {
    const std::uint64_t number = lines[i].number();
    const auto size = static_cast<std::uint32_t>(lines[i].size());
    Place& latest = latest_[(number * 0x9E3779B97F4A7C15ULL) >> (64 - kHashBits)];
    const Place before = std::exchange(latest, {i, at});
    const bool found =
        (lines[before.line].number() == number) & (at - before.at - 1 < kWindow) & (size >= kShortestMatch);
    const std::uint32_t distance = (at - before.at) & mask(found);
    const bool as_there = (lines[next].number() == number) & (now.length + size <= kLongestMatch);
    const bool matches = now.distance != 0;
    const std::uint32_t goes_on = mask((matches & as_there) | (!matches & !found));
    run += 1 + static_cast<std::int32_t>(goes_on);
    now.length = (now.length & goes_on) + size;
    now.distance = (now.distance & goes_on) | (distance & ~goes_on);
    next = ((next & goes_on) | (before.line & ~goes_on)) + 1;
    *run = now;
    at += size;
  }
  return {runs_.data(), run + 1};
}

// From the block's first runs.
void LineDeflate::make_codes(const char* at, std::span<const Run> runs) {
  // In four tables, since a byte that comes again at once would wait for its count.
  std::array<std::array<std::uint32_t, 256>, 4> bytes{};
  std::vector<std::uint32_t> literals(kLiterals);
  std::vector<std::uint32_t> distances(kDistances);
  const std::span<const Run> sample = runs.first(std::min(runs.size(), kSample));
  for (const auto& [length, distance] : sample) {
    if (distance == 0) {
      for (std::uint32_t i = 0; i != length; ++i) {
        ++bytes[i % 4][static_cast<unsigned char>(at[i])];
      }
    } else {
      ++literals[kLengthSymbols[length].symbol];
      ++distances[distance_symbol(distance - 1).symbol];
    }
    at += length;
  }
  for (const auto& some : bytes) {
    std::transform(some.begin(), some.end(), literals.begin(), literals.begin(), std::plus<>());
  }
  literals[kEndOfBlock] = 1;
  if (sample.size() != runs.size()) {
    for (std::vector<std::uint32_t>* const counts : {&literals, &distances}) {
      std::transform(counts->begin(), counts->end(), counts->begin(),
                     [](std::uint32_t count) { return kHasCome * count + 1; });
    }
  }
  code_ = code_lengths(std::move(literals), kLongestCode);
  literals_ = codes_of(code_);
  const std::vector<std::uint8_t> distance_code = code_lengths(std::move(distances), kLongestCode);
  distances_ = codes_of(distance_code);
  code_.insert(code_.end(), distance_code.begin(), distance_code.end());
  for (std::size_t length = kShortestMatch; length <= kLongestMatch; ++length) {
    const LengthSymbol& symbol = kLengthSymbols[length];
    const PrefixBits& bits = literals_[symbol.symbol];
    lengths_[length] = {bits.bits | std::uint32_t{symbol.extra} << bits.count, bits.count + symbol.extra_bits};
  }
}

const char* LineDeflate::write_block(const char* at, std::span<const Run> runs, bool last) {
  make_codes(at, runs);
  BitWriter out = out_;
  out.put(last ? 1 : 0, 1);
  out.put(2, 2);
  write_codes(out, code_);
  const auto code_at = [this](const char* place) -> const PrefixBits& {
    return literals_[static_cast<unsigned char>(*place)];
  };
  for (const Run& run : runs) {
    const char* const end = at + run.length;
    if (run.distance != 0) {  // at most 48 bits
      const DistanceSymbol distance = distance_symbol(run.distance - 1);
      const PrefixBits& length = lengths_[run.length];
      const PrefixBits& code = distances_[distance.symbol];
      out.put(length.bits | std::uint64_t{code.bits} << length.count |
                  std::uint64_t{distance.extra} << (length.count + code.count),
              length.count + code.count + distance.extra_bits);
      at = end;
      continue;
    }
    for (; end - at >= 3; at += 3) {  // at most 45 bits, and 7 that wait
      const PrefixBits& first = code_at(at);
      const PrefixBits& second = code_at(at + 1);
      const PrefixBits& third = code_at(at + 2);
      out.put(first.bits | std::uint64_t{second.bits} << first.count |
                  std::uint64_t{third.bits} << (first.count + second.count),
              first.count + second.count + third.count);
    }
    for (; at != end; ++at) {
      out.put(code_at(at).bits, code_at(at).count);
    }
  }
  out.put(literals_[kEndOfBlock].bits, literals_[kEndOfBlock].count);
  out_ = out;
  return at;
}

void LineDeflate::pack(const LineSink::Text& text, std::string& out) {
  constexpr std::array<char, 10> kHead = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 4, '\xff'};  // quick; no name, no time
  const std::span<const Run> all = find_runs({text.lines.data(), text.lines_count});
  const std::size_t blocks = all.size() / kRuns + 1;
  room_.resize(std::max(room_.size(), 2 * text.size + blocks * kCodesBytes));
  out_ = {std::copy(kHead.begin(), kHead.end(), room_.data())};
  const char* at = text.bytes.data();
  for (std::size_t i = 0; i != blocks; ++i) {
    const bool last = i + 1 == blocks;
    const std::span<const Run> from = all.subspan(i * kRuns);
    at = write_block(at, last ? from : from.first(kRuns), last);
  }
  out_.put(0, (8 - out_.waiting_count) & 7U);
  out_.put(::libdeflate_crc32(0, text.bytes.data(), text.size), 32);
  out_.put(text.size & 0xffffffffU, 32);
  out.assign(room_.data(), out_.at);
}

}  // namespace heddle::os
