#include "hw/cache/line_array.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "base/set_bits.hpp"
#include "tlm/byte_enables.hpp"

namespace heddle::hw {

namespace {

std::size_t frames_of(std::uint64_t bytes, unsigned ways, unsigned line_bytes) {
  if (ways == 0 || !std::has_single_bit(line_bytes) || bytes == 0 || bytes % (std::uint64_t{ways} * line_bytes) != 0) {
    throw InternalError("a cache's capacity must be a positive multiple of ways * line_bytes");
  }
  return bytes / line_bytes;
}

}  // namespace

LineFrames::LineFrames(std::uint64_t bytes, unsigned ways, unsigned line_bytes, bool hashed)
    : ways_(ways),
      line_bytes_(line_bytes),
      line_shift_(static_cast<unsigned>(std::countr_zero(line_bytes))),
      hashed_(hashed),
      tags_(frames_of(bytes, ways, line_bytes)),
      used_(tags_.size()),
      data_(bytes),
      dirty_bytes_(bytes),
      valid_((tags_.size() + 63) / 64),
      dirty_(valid_.size()),
      old_(valid_.size()) {
  sets_ = tags_.size() / ways;
  set_mask_ = std::has_single_bit(sets_) ? sets_ - 1 : 0;
}

void LineFrames::use(std::uint64_t bytes) {
  const bool empty = std::all_of(valid_.begin(), valid_.end(), [](std::uint64_t bits) { return bits == 0; });
  const std::uint64_t used = frames_of(bytes, ways_, line_bytes_);
  if (used > frames() || !empty) {
    throw InternalError("a cache changes its size while a line is there, or to more than it has");
  }
  sets_ = used / ways_;
  set_mask_ = std::has_single_bit(sets_) ? sets_ - 1 : 0;
}

LineFrames::Frame LineFrames::victim(std::uint64_t address) const {
  const Frame first = first_of_set(address);
  Frame oldest = first;
  for (Frame frame = first; frame != first + ways_; ++frame) {
    if (tags_[frame] == kEmpty) {
      return frame;
    }
    if (used_[frame] < used_[oldest]) {
      oldest = frame;
    }
  }
  return oldest;
}

void LineFrames::put(Frame frame, std::uint64_t address) {
  remove(frame);
  tags_[frame] = address + kHere;
  valid_[frame / 64] |= std::uint64_t{1} << (frame % 64);
  touch(frame);
}

void LineFrames::remove(Frame frame) {
  const std::uint64_t others = ~(std::uint64_t{1} << (frame % 64));
  tags_[frame] = kEmpty;
  valid_[frame / 64] &= others;
  old_[frame / 64] &= others;
  clean(frame);
}

void LineFrames::clean(Frame frame) {
  if (dirty(frame)) {
    dirty_[frame / 64] &= ~(std::uint64_t{1} << (frame % 64));
    std::fill_n(&dirty_bytes_[std::size_t{frame} * line_bytes_], line_bytes_, std::uint8_t{0});
  }
}

namespace {

// Calls visit(frame) for every bit that is set.
template <class Visit>
void each_bit(const std::vector<std::uint64_t>& bits, Visit visit) {
  for (std::size_t word = 0; word != bits.size(); ++word) {
    for (const unsigned bit : set_bits(bits[word])) {
      visit(static_cast<LineFrames::Frame>(word * 64 + bit));
    }
  }
}

}  // namespace

void LineFrames::remove_all() {
  each_bit(valid_, [this](Frame frame) { remove(frame); });
}

void LineFrames::add_dirty(Frame frame, const std::uint8_t* enable) {
  dirty_[frame / 64] |= std::uint64_t{1} << (frame % 64);
  link::add_enables(&dirty_bytes_[std::size_t{frame} * line_bytes_], enable, line_bytes_);
}

void LineFrames::outdate_clean() {
  for (std::size_t word = 0; word != old_.size(); ++word) {
    old_[word] |= valid_[word] & ~dirty_[word];
  }
}

void LineFrames::valid_by_address(std::vector<Frame>& into) const {
  into.clear();
  each_bit(valid_, [&into](Frame frame) { into.push_back(frame); });
  std::sort(into.begin(), into.end(), [this](Frame a, Frame b) { return tags_[a] < tags_[b]; });
}

void LineFrames::dirty_by_address(std::vector<Frame>& into) const {
  into.clear();
  each_bit(dirty_, [&](Frame frame) {
    if (up_to_date(frame)) {
      into.push_back(frame);
    }
  });
  std::sort(into.begin(), into.end(), [this](Frame a, Frame b) { return tags_[a] < tags_[b]; });
}

}  // namespace heddle::hw
