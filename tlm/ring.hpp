// A first-in first-out queue over one array that doubles when it is full: after a short warm-up it allocates nothing.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::link {

template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return first_ == end_; }
  [[nodiscard]] std::size_t size() const { return end_ - first_; }
  [[nodiscard]] T& front() { return slots_[first_ & mask_]; }
  [[nodiscard]] const T& front() const { return slots_[first_ & mask_]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return slots_[(first_ + index) & mask_]; }

  void push(T value) { add() = std::move(value); }
  // One more, to be filled in where it lies: what it was before is of no meaning.
  [[nodiscard]] T& add() {
    if (end_ - first_ > mask_) [[unlikely]] {
      grow();
    }
    return slots_[end_++ & mask_];
  }
  void clear() { first_ = end_ = 0; }
  void pop() { ++first_; }

 private:
  static constexpr std::size_t kFirstSize = 8;

  [[gnu::noinline]] void grow() {
    std::vector<T> larger(slots_.size() * 2);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) {
      larger[i] = std::move(slots_[(first_ + i) & mask_]);
    }
    slots_ = std::move(larger);
    mask_ = slots_.size() - 1;
    first_ = 0;
    end_ = count;
  }

  std::vector<T> slots_ = std::vector<T>(kFirstSize);  // a power of two of them
  std::size_t mask_ = kFirstSize - 1;
  std::size_t first_ = 0;  // numbers of elements, of which the lower bits are places
  std::size_t end_ = 0;
};

}  // namespace heddle::link
