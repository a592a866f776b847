#include "traces/fst_blocks.hpp"

#include <lz4.h>

#include <algorithm>
#include <numeric>

#include "traces/fst_bytes.hpp"

namespace heddle::traces {

namespace {

constexpr std::size_t kTooShort = 32;  // to be compressed

}  // namespace

// The reader of GTKWave (fstReaderIterBlocks2) goes wrong on small blocks: from one block to the next it keeps the
// number of the last signal that has changes, and subtracts the place of its changes, of the block before, from the
// first place of this one. Where that signal has no changes here and its place is less than its number, the negative
// difference means to it that the signal is another name of one before. So its value is told once more then.
void FstBlocks::tell_again(FstBlock& block) const {
  const auto first = std::find_if(block.signals.begin(), block.signals.end(),
                                  [](const FstBlock::Signal& signal) { return signal.size != 0; });
  if (first == block.signals.end() || static_cast<std::size_t>(first - block.signals.begin()) >= last_signal_ ||
      block.signals[last_signal_].size != 0 || last_place_ >= last_signal_ + 2) {
    return;
  }
  FstBlock::Signal& signal = block.signals[last_signal_];
  const unsigned width = widths_[last_signal_];
  const std::string_view value =
      std::string_view(block.values)
          .substr(std::accumulate(widths_.begin(), widths_.begin() + last_signal_, 0U), width);
  std::uint64_t number = 0;
  for (const char bit : value) {
    number = number << 1U | (bit == '1' ? 1U : 0U);
  }
  signal.changes.resize(std::max(signal.changes.size(), fst::kMostVarying + width + sizeof number));
  char* at = signal.changes.data();
  // In the block's first cycle, from which on it has this value.
  if (value.front() == 'x') {
    at = width == 1 ? fst::varying(at, fst::kUnknown) : std::fill_n(fst::varying(at, fst::kUnknown), width, 'x');
  } else if (width == 1) {
    at = fst::varying(at, number << 1U);
  } else {
    at = fst::bits(fst::varying(at, 0), number, width);
  }
  signal.size = static_cast<std::size_t>(at - signal.changes.data());
  block.bytes += signal.size;
}

// Each signal's changes, and where they begin: nothing for a row of signals without any, for the others how long the
// ones before were.
std::string FstBlocks::chains(const FstBlock& block, std::string& places) {
  std::string out;
  std::vector<char> compressed;
  std::size_t before = 1;  // a byte that says how they are compressed
  std::uint64_t without = 0;
  const auto skip = [&] {
    if (without != 0) {
      fst::varying(places, without << 1U);
      without = 0;
    }
  };
  for (const FstBlock::Signal& signal : block.signals) {
    if (signal.size == 0) {
      ++without;
      continue;
    }
    skip();
    fst::varying_signed(places, static_cast<std::int64_t>(before) << 1 | 1);
    const std::size_t begin = out.size();
    last_signal_ = static_cast<std::size_t>(&signal - block.signals.data());
    last_place_ = begin + 1;
    const int bound = ::LZ4_compressBound(static_cast<int>(signal.size));
    compressed.resize(std::max(compressed.size(), static_cast<std::size_t>(bound)));
    const int size = signal.size <= kTooShort ? 0
                                              : ::LZ4_compress_default(signal.changes.data(), compressed.data(),
                                                                       static_cast<int>(signal.size), bound);
    if (size > 0 && static_cast<std::size_t>(size) < signal.size) {
      fst::varying(out, signal.size);
      out.append(compressed.data(), static_cast<std::size_t>(size));
    } else {
      out += '\0';
      out.append(signal.changes.data(), signal.size);
    }
    before = out.size() - begin;
  }
  skip();
  return out;
}

void FstBlocks::write(FstBlock& block) {
  tell_again(block);
  std::string out;
  fst::fixed(out, block.begin);
  fst::fixed(out, block.end);
  fst::fixed(out, block.bytes);
  const std::string values = fst::packed(block.values);
  fst::varying(out, block.values.size());
  fst::varying(out, values.size());
  fst::varying(out, widths_.size());
  out += values;
  fst::varying(out, widths_.size());
  out += '4';  // by LZ4
  std::string places;
  out += chains(block, places);
  out += places;
  fst::fixed(out, places.size());
  const std::string times = fst::packed(block.times);
  out += times;
  fst::fixed(out, block.times.size());
  fst::fixed(out, times.size());
  fst::fixed(out, block.times_count);
  out_.write(fst::head(fst::kChanges, out.size()));
  out_.write(out);
  ++count_;
}

}  // namespace heddle::traces
