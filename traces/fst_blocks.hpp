// Blocks of changes of a file in the form FST (traces/fst_form.hpp), compressed and written one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::traces {

// Where such a file goes: its header is told anew at the end.
class FstSink {
 public:
  virtual ~FstSink() = default;
  // Throw InputError naming the file when the bytes cannot be written.
  virtual void write(std::string_view bytes) = 0;
  virtual void write_at_begin(std::string_view bytes) = 0;  // in place of as many that have been written
};

struct FstBlock {
  // Of a signal: its changes are the first `size` bytes.
  struct Signal {
    std::size_t size = 0;
    std::vector<char> changes{};
  };
  std::uint64_t begin = 0;  // times of its first and its last cycle
  std::uint64_t end = 0;
  std::string values{};  // of all signals, with which it begins, a character for each bit
  std::string times{};   // the first one, then differences
  std::uint64_t times_count = 0;
  std::vector<Signal> signals{};
  std::size_t bytes = 0;  // of their changes
};

class FstBlocks {
 public:
  explicit FstBlocks(FstSink& out) : out_(out) {}

  // `width`: bits of the next signal, in the order of FstBlock::signals.
  void declare(unsigned width) { widths_.push_back(width); }
  // May add to the block's changes.
  void write(FstBlock& block);
  [[nodiscard]] std::uint64_t count() const { return count_; }  // of blocks so far

 private:
  void tell_again(FstBlock& block) const;
  [[nodiscard]] std::string chains(const FstBlock& block, std::string& places);

  FstSink& out_;
  std::vector<unsigned> widths_;
  std::uint64_t count_ = 0;
  // Of the block before: the last signal that has changes, and where they begin.
  std::size_t last_signal_ = 0;
  std::uint64_t last_place_ = 0;
};

}  // namespace heddle::traces
