// An array of plain values that begins as zeros and takes memory of the host only where it is written: a cache of a
// gigabyte costs what the program touches of it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace heddle {

template <class Value>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  // Throws std::bad_alloc.
  explicit ZeroedArray(std::size_t size)
      : size_(size), values_(static_cast<Value*>(std::calloc(size != 0 ? size : 1, sizeof(Value)))) {
    if (values_ == nullptr) {
      throw std::bad_alloc();
    }
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Value& operator[](std::size_t index) { return values_.get()[index]; }
  [[nodiscard]] const Value& operator[](std::size_t index) const { return values_.get()[index]; }

 private:
  struct Free {
    void operator()(Value* values) const { std::free(values); }
  };
  std::size_t size_;
  std::unique_ptr<Value, Free> values_;
};

}  // namespace heddle
