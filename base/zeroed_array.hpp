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
  // Fails as `new` does: asks the new-handler, throws std::bad_alloc when there is none.
  explicit ZeroedArray(std::size_t size) : size_(size), values_(allocate(size != 0 ? size : 1)) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Value& operator[](std::size_t index) { return values_.get()[index]; }
  [[nodiscard]] const Value& operator[](std::size_t index) const { return values_.get()[index]; }

 private:
  struct Free {
    void operator()(Value* values) const { std::free(values); }
  };
  static Value* allocate(std::size_t size) {
    for (;;) {
      if (void* const values = std::calloc(size, sizeof(Value))) {
        return static_cast<Value*>(values);
      }
      const std::new_handler handler = std::get_new_handler();
      if (handler == nullptr) {
        throw std::bad_alloc();
      }
      handler();
    }
  }
  std::size_t size_;
  std::unique_ptr<Value, Free> values_;
};

}  // namespace heddle
