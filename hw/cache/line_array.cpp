#include "hw/cache/line_array.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "hw/cache/byte_enables.hpp"

namespace heddle::hw {

LineArray::LineArray(std::uint64_t bytes, unsigned ways, unsigned line_bytes) : ways_(ways), line_bytes_(line_bytes) {
  if (ways == 0 || !std::has_single_bit(line_bytes) || bytes == 0 || bytes % (std::uint64_t{ways} * line_bytes) != 0) {
    throw InternalError("a cache's capacity must be a positive multiple of ways * line_bytes");
  }
  line_shift_ = static_cast<unsigned>(std::countr_zero(line_bytes));
  sets_ = bytes / (std::uint64_t{ways} * line_bytes);
  set_mask_ = std::has_single_bit(sets_) ? sets_ - 1 : 0;
  const std::size_t frames = sets_ * ways;
  tags_.assign(frames, kEmpty);
  used_.assign(frames, 0);
  dirty_.assign(frames, 0);
  data_.assign(bytes, std::byte{0});
  dirty_bytes_.assign(bytes, 0);
}

LineArray::Frame LineArray::first_of_set(std::uint64_t address) const {
  const std::uint64_t line = address >> line_shift_;
  const std::uint64_t set = set_mask_ != 0 || sets_ == 1 ? line & set_mask_ : line % sets_;
  return static_cast<Frame>(set * ways_);
}

LineArray::Frame LineArray::find(std::uint64_t address) const {
  const Frame first = first_of_set(address);
  for (Frame frame = first; frame != first + ways_; ++frame) {
    if (tags_[frame] == address) {
      return frame;
    }
  }
  return kNone;
}

LineArray::Frame LineArray::victim(std::uint64_t address) const {
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

void LineArray::install(Frame frame, std::uint64_t address) {
  drop(frame);
  tags_[frame] = address;
  touch(frame);
}

void LineArray::drop(Frame frame) {
  tags_[frame] = kEmpty;
  if (dirty_[frame] != 0) {
    dirty_[frame] = 0;
    std::fill_n(&dirty_bytes_[std::size_t{frame} * line_bytes_], line_bytes_, std::uint8_t{0});
  }
}

void LineArray::drop_all() {
  for (Frame frame = 0; frame != frames(); ++frame) {
    drop(frame);
  }
}

void LineArray::add_dirty(Frame frame, const std::uint8_t* enable) {
  dirty_[frame] = 1;
  add_enables(&dirty_bytes_[std::size_t{frame} * line_bytes_], enable, line_bytes_);
}

}  // namespace heddle::hw
