// A gzip file (RFC 1952) whose blocks are compressed by threads of their own, while whoever writes goes on.
//
// Text is cut into blocks of kBlock bytes, and each is a member of the file, compressed by libdeflate; readers take the
// members one after the other. So the bytes depend on the text alone, not on who has compressed what, nor on how many
// there are. The calling thread hands on what is done, in order, and compresses too where it would have to wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace heddle::os {

class GzipBlocks {
 public:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;

  // As many as the host has for it.
  [[nodiscard]] static unsigned usual_helpers();

  // `out` gets the file's bytes, from the calling thread.
  explicit GzipBlocks(std::function<void(std::string_view)> out, unsigned helpers = usual_helpers());
  ~GzipBlocks();
  GzipBlocks(const GzipBlocks&) = delete;
  GzipBlocks& operator=(const GzipBlocks&) = delete;

  void write(std::string_view text);
  // The file is complete.
  void finish();

  // No thread compresses until more is written: before this process is copied, which copies no threads.
  static void pause_all();

 private:
  struct Block {
    std::string text;
    std::string packed;
    bool taken = false;
    bool done = false;
  };
  static void pack(Block& block);
  void begin_helpers();
  void end_helpers();
  void help();
  void hand_in();
  [[nodiscard]] bool pack_next(std::unique_lock<std::mutex>& lock);
  void hand_on(std::size_t most);

  const std::function<void(std::string_view)> out_;
  const unsigned helpers_;
  std::string present_;  // the block that is being filled
  bool begun_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> blocks_;  // handed in, and not handed on
  bool ending_ = false;       // helpers are to end
  std::vector<std::thread> threads_;
};

}  // namespace heddle::os
