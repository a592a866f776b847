// What kernels say to the host: the text of printf and the assertions that failed.
//
// A thread says it in messages, by the operation `print` (isa/operations.inc): a beginning with the kind of the
// message, then its bytes. What the bytes are is between ptx/lower/library.cpp, whose functions execute the operations,
// and this file:
//
//   text32, text64   the format with its terminating zero; behind each conversion's letter (and each *) the argument as
//                    the caller passed it, 4 or 8 bytes; of a string one byte 0 (a null pointer), or one byte 1 and
//                    the characters with a terminating zero
//   assertion        condition, file and function, each as such a string, then 4 bytes: the line
//
// Order. Within a launch messages stand by block-linear index, then thread-linear index, then as the thread said them:
// in one order on every machine, whatever its timing.
//
// Bound. Of a launch, the first kPrintLimit bytes in that order are kept, and the rest is counted: that too does not
// depend on the order in which they come, or where the threads are. CUDA bounds a launch's text likewise (a FIFO of 1
// MiB unless set otherwise), but there the last in time survive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/fault.hpp"
#include "isa/module.hpp"

namespace heddle::isa {

enum class MessageKind : std::uint8_t { text32, text64, assertion };

inline constexpr std::size_t kPrintLimit = std::size_t{1} << 20U;

class PrintBuffer {
 public:
  // What some of the threads say, all that a thread says in one share. Shares have nothing in common, so that cores
  // which each put into their own need not know of each other.
  class alignas(64) Share {
   public:
    // One `print` of one thread: count 0 begins a message of kind `value`; 1 to 4 is a number of bytes.
    void put(std::uint64_t block, std::uint64_t thread, std::uint32_t value, std::uint32_t count);

   private:
    friend class PrintBuffer;
    void shorten();

    std::size_t limit_ = 0;
    std::uint64_t threads_per_block_ = 1;
    // What each has said, by block-linear index times threads per block plus thread-linear index.
    std::map<std::uint64_t, std::string> threads_;
    std::size_t size_ = 0;        // bytes held
    std::uint64_t messages_ = 0;  // begun by any thread
    bool cut_ = false;
    std::uint64_t cut_at_ = 0;  // with cut_: this thread and threads behind it are not added to any more
  };

  explicit PrintBuffer(std::size_t limit = kPrintLimit);

  // There are at least so many shares, which keep what they hold.
  void share_among(unsigned count);
  [[nodiscard]] Share& share(unsigned number) { return shares_[number]; }

  // Forgets what an earlier launch said.
  void begin_launch(const LaunchRequest& launch);
  // Into share 0.
  void put(std::uint64_t block, std::uint64_t thread, std::uint32_t value, std::uint32_t count) {
    shares_.front().put(block, thread, value, count);
  }
  // The text of the launch so far, in order; at its end a line that says how many messages are missing, if any are.
  // Unfinished messages are left out.
  [[nodiscard]] std::string text() const;
  // A trap of a thread whose last message is an assertion becomes a fault of that kind that says what failed.
  void explain(Fault& fault) const;

 private:
  // All shares together, in the order of threads, the first `limit_` bytes.
  struct Joined {
    std::vector<std::pair<std::uint64_t, std::string_view>> threads;  // with what each said
    std::uint64_t messages = 0;                                       // begun
    bool cut = false;                                                 // something is left out
  };
  [[nodiscard]] Joined joined() const;
  void clear(Share& share) const;

  std::size_t limit_;
  Dim3 grid_, block_;
  std::vector<Share> shares_;  // at least one
};

}  // namespace heddle::isa
