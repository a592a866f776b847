#include "traces/fst_form.hpp"

#include <lz4.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.hpp"

namespace heddle::traces {

namespace {

enum Kind : unsigned char { kHeader = 0, kGeometry = 3, kHierarchy = 6, kChanges = 8 };
enum Entry : unsigned char { kComment = 252, kScope = 254, kUpscope = 255 };
constexpr char kWire = 16;
constexpr std::size_t kVersionBytes = 128;
constexpr std::size_t kDateBytes = 119;
constexpr std::size_t kMostVarying = 10;  // bytes
constexpr std::uint64_t kUnknown = 1;     // 'x' is state 0 of those that are neither 0 nor 1
constexpr std::size_t kTooShort = 32;     // to be compressed
constexpr int kQuick = 4;                 // zlib's level, of what is small

void fixed(std::string& out, std::uint64_t number) {
  for (unsigned byte = 8; byte-- != 0;) {
    out += static_cast<char>(number >> (8 * byte));
  }
}
char* varying(char* at, std::uint64_t number) {
  for (; number > 0x7f; number >>= 7U) {
    *at++ = static_cast<char>(number | 0x80U);
  }
  *at++ = static_cast<char>(number);
  return at;
}
void varying(std::string& out, std::uint64_t number) {
  std::array<char, kMostVarying> bytes{};
  out.append(bytes.data(), static_cast<std::size_t>(varying(bytes.data(), number) - bytes.data()));
}
// Two's complement: the last byte's bit 6 is the sign.
void varying_signed(std::string& out, std::int64_t number) {
  for (;; number >>= 7) {
    const auto bits = static_cast<unsigned char>(number & 0x7f);
    const bool last = number >> 6 == 0 || number >> 6 == -1;
    out += static_cast<char>(bits | (last ? 0U : 0x80U));
    if (last) {
      return;
    }
  }
}

// The first bit is the first byte's highest. Writes over what is behind them, to eight bytes in all.
inline char* bits(char* at, std::uint64_t value, unsigned width) {
  std::uint64_t left = value << (64 - width);
  if constexpr (std::endian::native == std::endian::little) {
    left = __builtin_bswap64(left);
  }
  std::memcpy(at, &left, sizeof left);
  return at + (width + 7) / 8;
}

std::string block(Kind kind, const std::string& bytes) {
  std::string all(1, static_cast<char>(kind));
  fixed(all, bytes.size() + 8);
  return all + bytes;
}

// By zlib; as it is where that is no larger, which readers see by its size.
std::string packed(const std::string& bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string out(size, '\0');
  if (::compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  bytes.size(), kQuick) != Z_OK) {
    throw InternalError("a block could not be compressed");
  }
  out.resize(size);
  return size < bytes.size() ? out : bytes;
}

std::string packed_fast(const std::string& bytes) {
  std::string out(static_cast<std::size_t>(::LZ4_compressBound(static_cast<int>(bytes.size()))), '\0');
  const int size =
      ::LZ4_compress_default(bytes.data(), out.data(), static_cast<int>(bytes.size()), static_cast<int>(out.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace

void FstForm::begin(const Head& head) {
  version_ = head.version;
  unit_ = head.unit;
  for (const std::string& comment : head.comments) {
    names_ += static_cast<char>(kComment);
    names_.append(2, '\0');
    names_ += comment;
    names_.append(2, '\0');
  }
  std::vector<std::uint32_t> signal_of(head.variables.size());
  add(WaveScope::of(head.variables), head, signal_of);
  for (const std::uint32_t variable : head.waves) {
    waves_.push_back(signal_of[variable]);
  }
  out_.write(header());
}

void FstForm::add(const WaveScope& scope, const Head& head, std::vector<std::uint32_t>& signal_of) {
  for (const auto& [name, number] : scope.variables) {
    const Variable& variable = head.variables[number];
    if (!variable.wave) {
      throw InternalError("the signal " + variable.name + " is no wave, which a dump in FST has alone");
    }
    signal_of[number] = static_cast<std::uint32_t>(signals_.size());
    signals_.push_back({variable.width});
    names_ += kWire;
    names_ += '\0';  // without a direction
    names_ += name_with_bits(name, variable);
    names_ += '\0';
    varying(names_, variable.width);
    names_ += '\0';  // no other name of one before
  }
  for (const auto& [name, inner] : scope.inner) {
    ++scopes_;
    names_ += static_cast<char>(kScope);
    names_ += '\0';  // a module
    names_ += name;
    names_.append(2, '\0');  // of no component
    add(*inner, head, signal_of);
    names_ += static_cast<char>(kUpscope);
  }
}

std::string FstForm::header() const {
  std::string out;
  fixed(out, first_time_);
  fixed(out, time_);
  const double e = 2.7182818284590452354;  // by which readers know this host's order of bytes
  out.append(reinterpret_cast<const char*>(&e), sizeof e);
  fixed(out, most_);
  fixed(out, scopes_);
  fixed(out, signals_.size());
  fixed(out, signals_.size());
  fixed(out, blocks_);
  out += static_cast<char>(unit_);
  std::string version = version_.substr(0, kVersionBytes - 1);
  version.resize(kVersionBytes);
  out += version;
  out.append(kDateBytes, '\0');  // none: the bytes depend on the simulation alone
  out += '\0';                   // of Verilog
  fixed(out, 0);                 // time begins here
  return block(kHeader, out);
}

// ------------------------------------------------------------------------------------------------------- changes

void FstForm::add_time(std::uint64_t difference) {
  varying(times_, difference);
  ++times_count_;
}

void FstForm::begin_block() {
  values_.clear();
  for (Signal& signal : signals_) {
    signal.latest = 0;
    signal.size = 0;
    for (unsigned bit = signal.width; bit-- != 0;) {
      values_ += !signal.known ? 'x' : static_cast<char>('0' + ((signal.value >> bit) & 1U));
    }
  }
  bytes_ = 0;
  times_.clear();
  times_count_ = 0;
  block_time_ = time_;
  add_time(time_);
}

void FstForm::time(std::uint64_t time) {
  if (!begun_) {
    begun_ = true;
    first_time_ = time_ = time;
    begin_block();
  }
  next_time_ = time;
}

// Before a change, or the end. A block ends before a change: readers fail on one that has none.
inline void FstForm::come_to_time(bool end) {
  if (next_time_ == time_) {
    return;
  }
  if (bytes_ >= most_ && !end) {
    end_block();
    begin_block();
  }
  add_time(next_time_ - time_);
  time_ = next_time_;
}

inline char* FstForm::room(Signal& signal, std::size_t bytes) {
  if (signal.size + bytes > signal.changes.size()) {
    signal.changes.resize(std::max(2 * signal.changes.size(), signal.size + bytes));
  }
  return signal.changes.data() + signal.size;
}

inline void FstForm::has_grown(Signal& signal, const char* end) {
  const auto size = static_cast<std::size_t>(end - signal.changes.data());
  bytes_ += size - signal.size;
  signal.size = size;
}

inline std::uint64_t FstForm::since_latest(Signal& signal) {
  const std::uint64_t before = signal.latest;
  signal.latest = times_count_ - 1;
  return signal.latest - before;
}

void FstForm::changes(std::span<const link::WaveChange> changes) {
  if (changes.empty()) {
    return;
  }
  come_to_time(false);
  for (const link::WaveChange& change : changes) {
    Signal& signal = signals_[waves_[change.wave]];
    signal.value = change.value;
    signal.known = true;
    const std::uint64_t since = since_latest(signal);
    char* at = room(signal, kMostVarying + sizeof(std::uint64_t));
    if (signal.width == 1) {
      at = varying(at, since << 2U | (change.value & 1U) << 1U);
    } else {
      at = bits(varying(at, since << 1U), change.value, signal.width);
    }
    has_grown(signal, at);
  }
}

void FstForm::unknown(std::uint32_t wave) {
  come_to_time(false);
  Signal& signal = signals_[waves_[wave]];
  const std::uint64_t since = since_latest(signal);
  char* at = room(signal, kMostVarying + signal.width);
  if (signal.width == 1) {
    at = varying(at, since << 4U | kUnknown);
  } else {
    at = std::fill_n(varying(at, since << 1U | kUnknown), signal.width, 'x');
  }
  has_grown(signal, at);
}

void FstForm::text(std::size_t, const std::string&) {
  throw InternalError("a dump in FST has waves alone");
}

// -------------------------------------------------------------------------------------------------------- blocks

// The reader of GTKWave (fstReaderIterBlocks2) goes wrong on small blocks: from one block to the next it keeps the
// number of the last signal that has changes, and subtracts the place of its changes, of the block before, from the
// first place of this one. Where that signal has no changes here and its place is less than its number, the negative
// difference means to it that the signal is another name of one before. So its value is told once more then.
void FstForm::tell_again() {
  const auto first =
      std::find_if(signals_.begin(), signals_.end(), [](const Signal& signal) { return signal.size != 0; });
  if (first == signals_.end() || static_cast<std::size_t>(first - signals_.begin()) >= last_signal_ ||
      signals_[last_signal_].size != 0 || last_place_ >= last_signal_ + 2) {
    return;
  }
  Signal& signal = signals_[last_signal_];
  char* at = room(signal, kMostVarying + signal.width + sizeof(std::uint64_t));
  // In the block's first cycle, from which on it has this value.
  if (!signal.known) {
    at = signal.width == 1 ? varying(at, kUnknown) : std::fill_n(varying(at, kUnknown), signal.width, 'x');
  } else if (signal.width == 1) {
    at = varying(at, (signal.value & 1U) << 1U);
  } else {
    at = bits(varying(at, 0), signal.value, signal.width);
  }
  has_grown(signal, at);
}

// Each signal's changes, and where they begin: nothing for a row of signals without any, for the others how long the
// ones before were.
std::string FstForm::chains(std::string& places) {
  std::string out;
  std::vector<char> compressed;
  std::size_t before = 1;  // a byte that says how they are compressed
  std::uint64_t without = 0;
  const auto skip = [&] {
    if (without != 0) {
      varying(places, without << 1U);
      without = 0;
    }
  };
  for (const Signal& signal : signals_) {
    if (signal.size == 0) {
      ++without;
      continue;
    }
    skip();
    varying_signed(places, static_cast<std::int64_t>(before) << 1 | 1);
    const std::size_t begin = out.size();
    last_signal_ = static_cast<std::size_t>(&signal - signals_.data());
    last_place_ = begin + 1;
    const int bound = ::LZ4_compressBound(static_cast<int>(signal.size));
    compressed.resize(std::max(compressed.size(), static_cast<std::size_t>(bound)));
    const int size = signal.size <= kTooShort ? 0
                                              : ::LZ4_compress_default(signal.changes.data(), compressed.data(),
                                                                       static_cast<int>(signal.size), bound);
    if (size > 0 && static_cast<std::size_t>(size) < signal.size) {
      varying(out, signal.size);
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

void FstForm::end_block() {
  tell_again();
  std::string out;
  fixed(out, block_time_);
  fixed(out, time_);
  fixed(out, bytes_);
  const std::string values = packed(values_);
  varying(out, values_.size());
  varying(out, values.size());
  varying(out, signals_.size());
  out += values;
  varying(out, signals_.size());
  out += '4';  // by LZ4
  std::string places;
  out += chains(places);
  out += places;
  fixed(out, places.size());
  const std::string times = packed(times_);
  out += times;
  fixed(out, times_.size());
  fixed(out, times.size());
  fixed(out, times_count_);
  out_.write(block(kChanges, out));
  ++blocks_;
}

void FstForm::end() {
  come_to_time(true);
  end_block();
  std::string widths;
  for (const Signal& signal : signals_) {
    varying(widths, signal.width);
  }
  std::string geometry;
  fixed(geometry, widths.size());
  fixed(geometry, signals_.size());
  out_.write(block(kGeometry, geometry + packed(widths)));
  std::string hierarchy;
  fixed(hierarchy, names_.size());
  out_.write(block(kHierarchy, hierarchy + packed_fast(names_)));
  out_.write_at_begin(header());
}

}  // namespace heddle::traces
