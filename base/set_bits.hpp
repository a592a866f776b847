// The bits of a mask that are set, as numbers from the lowest on: for (const unsigned lane : set_bits(lanes)).
// The loop goes over the mask as it is when the loop begins.
#pragma once

#include <bit>
#include <concepts>

namespace heddle {

template <std::unsigned_integral Mask>
class SetBits {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(Mask left) : left_(left) {}
    constexpr unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(left_)); }
    constexpr Iterator& operator++() {
      left_ &= static_cast<Mask>(left_ - 1);
      return *this;
    }
    constexpr bool operator==(const Iterator& other) const = default;

   private:
    Mask left_;
  };
  constexpr explicit SetBits(Mask mask) : mask_(mask) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(mask_); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(0); }

 private:
  Mask mask_;
};

template <std::unsigned_integral Mask>
[[nodiscard]] constexpr SetBits<Mask> set_bits(Mask mask) {
  return SetBits<Mask>(mask);
}

}  // namespace heddle
