// A first-in first-out queue over one array that doubles when it is full: after a short warm-up it allocates nothing.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::link {

template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] T& front() { return slots_[head_]; }
  [[nodiscard]] const T& front() const { return slots_[head_]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return slots_[(head_ + index) & (slots_.size() - 1)]; }

  void push(T value) {
    if (count_ == slots_.size()) {
      grow();
    }
    slots_[(head_ + count_) & (slots_.size() - 1)] = std::move(value);
    ++count_;
  }
  void clear() { head_ = count_ = 0; }
  void pop() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) {
      larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    }
    slots_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> slots_;  // a power of two of them
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace heddle::link
