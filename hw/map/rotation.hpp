// Numbers dealt out to places in turn, and the turn of each round rotated by a hash of its number, so that strides meet
// all places. Any number of places; each round of so many consecutive numbers still goes to as many different places.
#pragma once

#include <cstdint>

namespace heddle::hw {

// A number that depends on every bit of another one.
[[nodiscard]] constexpr std::uint64_t spread_bits(std::uint64_t number) {
  number *= 0x9e3779b97f4a7c15ULL;
  number ^= number >> 32U;
  number *= 0xd6e8feb86659fd93ULL;
  return number >> 32U;
}

class Rotation {
 public:
  Rotation(unsigned places, bool hashed) : places_(places), hashed_(hashed) {}
  [[nodiscard]] unsigned places() const { return places_; }
  [[nodiscard]] unsigned place(std::uint64_t number) const {
    return static_cast<unsigned>((number % places_ + by(number / places_)) % places_);
  }
  // Which of a place's numbers it is, from 0 on; the number again.
  [[nodiscard]] std::uint64_t round(std::uint64_t number) const { return number / places_; }
  [[nodiscard]] std::uint64_t number(std::uint64_t round, unsigned place) const {
    return round * places_ + (place + places_ - by(round)) % places_;
  }

 private:
  [[nodiscard]] std::uint64_t by(std::uint64_t round) const { return hashed_ ? spread_bits(round) % places_ : 0; }
  std::uint64_t places_;
  bool hashed_;
};

}  // namespace heddle::hw
