// Tags and data of a set-associative cache with least-recently-used replacement. No timing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/zeroed_array.hpp"
#include "hw/map/rotation.hpp"

namespace heddle::hw {

// Everything but the lines' states.
class LineFrames {
 public:
  using Frame = std::uint32_t;  // index of a line's place: set * ways + way
  static constexpr Frame kNone = ~Frame{0};

  // Throws InternalError unless bytes is a positive multiple of ways * line_bytes (hw::check(Machine) tells the user).
  // hashed: the sets of each round of consecutive lines are rotated (hw/map/rotation.hpp).
  LineFrames(std::uint64_t bytes, unsigned ways, unsigned line_bytes, bool hashed = false);

  // The frame that holds the line, or kNone. Does not count as a use.
  [[nodiscard]] Frame find(std::uint64_t address) const {
    const Frame first = first_of_set(address);
    for (Frame frame = first; frame != first + ways_; ++frame) {
      if (tags_[frame] == address + kHere) {
        return frame;
      }
    }
    return kNone;
  }
  void touch(Frame frame) { used_[frame] = ++uses_; }
  // Where a line of this address would go: an empty way of its set, else the least recently used one.
  [[nodiscard]] Frame victim(std::uint64_t address) const;

  [[nodiscard]] bool valid(Frame frame) const { return tags_[frame] != kEmpty; }
  // Whether any of its bytes is dirty.
  [[nodiscard]] bool dirty(Frame frame) const { return bit(dirty_, frame); }
  [[nodiscard]] std::uint64_t address(Frame frame) const { return tags_[frame] - kHere; }
  [[nodiscard]] std::byte* data(Frame frame) { return &data_[std::size_t{frame} * line_bytes_]; }
  // Bytes written since the line came in, as byte enables.
  [[nodiscard]] const std::uint8_t* dirty_bytes(Frame frame) const {
    return &dirty_bytes_[std::size_t{frame} * line_bytes_];
  }
  void add_dirty(Frame frame, const std::uint8_t* enable);
  // The line's bytes are known elsewhere too.
  void clean(Frame frame);
  // A line that is not up to date has its dirty marks, and bytes that its owner has to read again before it uses them.
  [[nodiscard]] bool up_to_date(Frame frame) const { return !bit(old_, frame); }
  void updated(Frame frame) { old_[frame / 64] &= ~(std::uint64_t{1} << (frame % 64)); }
  // All lines, dirty ones too.
  void outdate_all() { old_ = valid_; }
  // Those of which no byte is dirty.
  void outdate_clean();
  // The frames with a line, in the order of their lines' addresses.
  void valid_by_address(std::vector<Frame>& into) const;
  // The dirty frames whose lines are up to date, in the order of their lines' addresses.
  void dirty_by_address(std::vector<Frame>& into) const;
  [[nodiscard]] Frame frames() const { return static_cast<Frame>(tags_.size()); }
  [[nodiscard]] unsigned ways() const { return ways_; }
  // Uses so many bytes of its capacity from now on, in whole sets. Throws InternalError while a line is there, or when
  // it has not so many.
  void use(std::uint64_t bytes);

 protected:
  // Puts a line in, none of its bytes dirty, and counts as a use.
  void put(Frame frame, std::uint64_t address);
  void remove(Frame frame);
  void remove_all();

 private:
  static constexpr std::uint64_t kEmpty = 0;
  static constexpr std::uint64_t kHere = 1;  // the tag of a line that is there: its address plus this
  // A bit per frame, so that what is done for all lines costs little where few are used.
  using FrameBits = std::vector<std::uint64_t>;
  [[nodiscard]] static bool bit(const FrameBits& bits, Frame frame) {
    return ((bits[frame / 64] >> (frame % 64)) & 1U) != 0;
  }
  [[nodiscard]] Frame first_of_set(std::uint64_t address) const {
    const std::uint64_t line = address >> line_shift_;
    if (hashed_) {
      return static_cast<Frame>(Rotation(static_cast<unsigned>(sets_), true).place(line) * ways_);
    }
    const std::uint64_t set = set_mask_ != 0 || sets_ == 1 ? line & set_mask_ : line % sets_;
    return static_cast<Frame>(set * ways_);
  }

  unsigned ways_;
  unsigned line_bytes_;
  unsigned line_shift_;
  std::uint64_t sets_;
  std::uint64_t set_mask_;  // sets - 1 when sets is a power of two, else 0
  bool hashed_;
  std::uint64_t uses_ = 0;
  ZeroedArray<std::uint64_t> tags_;
  ZeroedArray<std::uint64_t> used_;
  ZeroedArray<std::byte> data_;
  ZeroedArray<std::uint8_t> dirty_bytes_;
  FrameBits valid_, dirty_, old_;
};

// With a state of each line that is there; what states mean is their owner's matter.
template <class State>
class LineArray : public LineFrames {
 public:
  LineArray(std::uint64_t bytes, unsigned ways, unsigned line_bytes, bool hashed = false)
      : LineFrames(bytes, ways, line_bytes, hashed), states_(frames()) {}

  [[nodiscard]] State state(Frame frame) const { return states_[frame]; }
  void set_state(Frame frame, State state) { states_[frame] = state; }
  // Puts a line in, instead of what was there. Its bytes are the caller's to write.
  void install(Frame frame, std::uint64_t address, State state) {
    put(frame, address);
    states_[frame] = state;
  }
  void drop(Frame frame) { remove(frame); }
  void drop_all() { remove_all(); }

 private:
  ZeroedArray<State> states_;  // of frames without a line: the latest one's
};

}  // namespace heddle::hw
