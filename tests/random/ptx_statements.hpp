// Straight-line PTX for the generator: random source of numbers, text under construction, and statements without jumps.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace heddle::random_ptx {

// SplitMix64; the standard distributions differ between libraries, so numbers are drawn by hand.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e37'79b9'7f4a'7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebULL;
    return z ^ (z >> 31U);
  }
  unsigned below(unsigned count) { return static_cast<unsigned>((next() >> 32U) % count); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<unsigned>(values.size()))];
  }

 private:
  std::uint64_t state_;
};

// What the program works with. Pools of registers that live through the whole kernel:
//   %r 32-bit, %f f32, %d 64-bit, %g f64, %q predicates: different from thread to thread
//   %u 32-bit, equal in all threads of a block: written in uniform code only
// and numbered ones that live in one statement (%t 32-bit, %w 64-bit, %x addresses, %p predicates).
inline constexpr unsigned kIntegers = 8, kFloats = 4, kLongs = 4, kDoubles = 2, kFlags = 4, kUniforms = 4;
// Bytes of a thread's own part of the output buffer: slots that the program uses on its way, then final values.
inline constexpr unsigned kSlotBytes = 64, kOutputBytes = 256;
inline constexpr unsigned kLocalBytes = 64;
inline constexpr unsigned kGatheredBytes = 8;  // the largest element of cond_acc
inline constexpr unsigned kCopiedBytes = 16;   // of a thread's row, which its copies go to
inline constexpr unsigned kCounters = 4;       // behind the threads' parts

struct Shape {
  unsigned address_bits = 32;
  std::uint32_t block = 32;
  std::uint32_t grid = 1;
  std::uint32_t input_words = 256;  // a power of two
  bool local = false;               // the program has a local array, named loc
  bool scratchpad = true;           // and one in the scratchpad, named shared_words: 8 bytes for each thread
  bool standard = false;            // no instructions that only Heddle has
  bool gathered = false;            // and one in the scratchpad, named so: kGatheredBytes for each thread
  bool copied = false;              // and one in the scratchpad, named so: kCopiedBytes for each thread
  bool modern = false;              // instructions of compute capability 8.0 and later
  bool tensor = false;              // products of matrices
};

class Statements {
 public:
  Statements(Random& random, const Shape& shape) : random_(random), shape_(shape), scratchpad_(shape.scratchpad) {}

  // ---- text
  void line(std::string_view text);   // one indented line; the caller writes the semicolon
  void label(std::string_view name);  // "name:"
  [[nodiscard]] const std::string& text() const { return text_; }
  std::string fresh(char kind) { return '%' + std::string(1, kind) + std::to_string(count(kind)++); }
  [[nodiscard]] std::string declarations() const;

  // ---- statements
  void initialise();                                // every pool register, the thread's addresses, local memory
  void finish();                                    // stores every pool register
  void any(bool uniform);                           // one random statement; uniform: all threads of the block are here
  void exchange();                                  // through scratchpad, between barriers; uniform code only
  void reduce();                                    // bar.red; uniform code only
  void leave_scratchpad() { scratchpad_ = false; }  // no statement from here on uses it
  void warp();                                      // an operation between the lanes of a warp; uniform code only
  // A predicate that holds a random condition, equal in all threads of the block when uniform.
  std::string condition(bool uniform);
  // One that is false in every thread, which a compiler cannot know.
  std::string never();

  [[nodiscard]] std::string pool(char kind);  // a random register of a pool
  // Replaces the markers of a template, from left to right: see ptx_forms.hpp.
  [[nodiscard]] std::string fill(std::string_view form);

 private:
  unsigned& count(char kind);
  std::string marker(std::string_view name);
  std::string guard();
  void emit(std::string_view form);  // the template filled, after what its markers need before it
  void arithmetic();
  void predicated();
  void uniform_arithmetic();
  void carry();
  void read_input();
  void own_slots();
  void local_memory();
  void own_scratchpad();
  void accumulate();
  void copy();
  void exchange_rows();
  void multiply();
  [[nodiscard]] std::string row();  // an address register that holds the thread's row of `copied`
  void count_up();
  [[nodiscard]] std::string address_type() const { return shape_.address_bits == 64 ? "u64" : "u32"; }
  // An address register that holds base + 4 * index.
  std::string element(const std::string& base, const std::string& index);

  Random& random_;
  const Shape& shape_;
  bool scratchpad_;
  std::string text_;
  std::string setup_;  // instructions that a template's markers need before it
  unsigned temporaries_ = 0, longs_ = 0, addresses_ = 0, predicates_ = 0;
};

}  // namespace heddle::random_ptx
