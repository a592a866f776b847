#include "traces/fst_form.hpp"

#include <lz4.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "traces/fst_bytes.hpp"

namespace heddle::traces {

using fst::bits;
using fst::fixed;
using fst::varying;

namespace {

enum Entry : unsigned char { kComment = 252, kScope = 254, kUpscope = 255 };
constexpr char kWire = 16;
constexpr std::size_t kVersionBytes = 128;
constexpr std::size_t kDateBytes = 119;

std::string packed_fast(const std::string& bytes) {
  std::string out(static_cast<std::size_t>(::LZ4_compressBound(static_cast<int>(bytes.size()))), '\0');
  const int size =
      ::LZ4_compress_default(bytes.data(), out.data(), static_cast<int>(bytes.size()), static_cast<int>(out.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace

FstForm::FstForm(FstSink& out, std::size_t block)
    : out_(out), most_(block), blocks_(out), thread_([this](FstBlock& whole) { blocks_.write(whole); }, 1) {}

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
    blocks_.declare(variable.width);
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
  fixed(out, blocks_.count());
  out += static_cast<char>(unit_);
  std::string version = version_.substr(0, kVersionBytes - 1);
  version.resize(kVersionBytes);
  out += version;
  out.append(kDateBytes, '\0');  // none: the bytes depend on the simulation alone
  out += '\0';                   // of Verilog
  fixed(out, 0);                 // time begins here
  return fst::block(fst::kHeader, out);
}

// ------------------------------------------------------------------------------------------------------- changes

void FstForm::add_time(std::uint64_t difference) {
  varying(block_.times, difference);
  ++block_.times_count;
}

void FstForm::begin_block() {
  block_.values.clear();
  for (Signal& signal : signals_) {
    signal.latest = 0;
    for (unsigned bit = signal.width; bit-- != 0;) {
      block_.values += !signal.known ? 'x' : static_cast<char>('0' + ((signal.value >> bit) & 1U));
    }
  }
  block_.signals.resize(signals_.size());
  for (FstBlock::Signal& signal : block_.signals) {
    signal.size = 0;
  }
  block_.bytes = 0;
  block_.times.clear();
  block_.times_count = 0;
  block_.begin = time_;
  add_time(time_);
}

void FstForm::end_block() {
  block_.end = time_;
  thread_.hand_over(block_);
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
  if (block_.bytes >= most_ && !end) {
    end_block();
    begin_block();
  }
  add_time(next_time_ - time_);
  time_ = next_time_;
}

// Room for so many more bytes; has_grown() says how far they have come.
inline char* FstForm::room(FstBlock::Signal& signal, std::size_t bytes) {
  if (signal.size + bytes > signal.changes.size()) {
    signal.changes.resize(std::max(2 * signal.changes.size(), signal.size + bytes));
  }
  return signal.changes.data() + signal.size;
}

inline void FstForm::has_grown(FstBlock::Signal& signal, const char* end) {
  const auto size = static_cast<std::size_t>(end - signal.changes.data());
  block_.bytes += size - signal.size;
  signal.size = size;
}

inline std::uint64_t FstForm::since_latest(Signal& signal) {
  const std::uint64_t before = signal.latest;
  signal.latest = block_.times_count - 1;
  return signal.latest - before;
}

void FstForm::changes(std::span<const link::WaveChange> changes) {
  if (changes.empty()) {
    return;
  }
  come_to_time(false);
  for (const link::WaveChange& change : changes) {
    const std::uint32_t number = waves_[change.wave];
    Signal& signal = signals_[number];
    FstBlock::Signal& of_block = block_.signals[number];
    signal.value = change.value;
    signal.known = true;
    const std::uint64_t since = since_latest(signal);
    char* at = room(of_block, fst::kMostVarying + sizeof(std::uint64_t));
    if (signal.width == 1) {
      at = varying(at, since << 2U | (change.value & 1U) << 1U);
    } else {
      at = bits(varying(at, since << 1U), change.value, signal.width);
    }
    has_grown(of_block, at);
  }
}

void FstForm::unknown(std::uint32_t wave) {
  come_to_time(false);
  Signal& signal = signals_[waves_[wave]];
  FstBlock::Signal& of_block = block_.signals[waves_[wave]];
  const std::uint64_t since = since_latest(signal);
  char* at = room(of_block, fst::kMostVarying + signal.width);
  if (signal.width == 1) {
    at = varying(at, since << 4U | fst::kUnknown);
  } else {
    at = std::fill_n(varying(at, since << 1U | fst::kUnknown), signal.width, 'x');
  }
  has_grown(of_block, at);
}

void FstForm::text(std::size_t, const std::string&) {
  throw InternalError("a dump in FST has waves alone");
}

void FstForm::end() {
  come_to_time(true);
  end_block();
  thread_.finish();
  std::string widths;
  for (const Signal& signal : signals_) {
    varying(widths, signal.width);
  }
  std::string geometry;
  fixed(geometry, widths.size());
  fixed(geometry, signals_.size());
  out_.write(fst::block(fst::kGeometry, geometry + fst::packed(widths)));
  std::string hierarchy;
  fixed(hierarchy, names_.size());
  out_.write(fst::block(fst::kHierarchy, hierarchy + packed_fast(names_)));
  out_.write_at_begin(header());
}

}  // namespace heddle::traces
