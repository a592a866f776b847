// A gzip file (RFC 1952) whose blocks are compressed by threads of their own, while whoever writes goes on.
//
// Text is cut into blocks of about kBlock bytes. Each is a member of the file, compressed by libdeflate or, where its
// lines are told, by LineDeflate; readers take the members one after the other. So the bytes depend on the text and its
// lines alone, not on who has compressed what, nor on how many there are. The calling thread hands on what is done, in
// order, and compresses too where it would have to wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/line_sink.hpp"
#include "os/files/line_deflate.hpp"

namespace heddle::os {

class GzipBlocks {
 public:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;

  // One for each of the host's processors but that of who writes: at least one, and not many.
  [[nodiscard]] static unsigned usual_helpers();

  // `out` gets the file's bytes, from the calling thread.
  explicit GzipBlocks(std::function<void(std::string_view)> out, unsigned helpers = usual_helpers());
  ~GzipBlocks();
  GzipBlocks(const GzipBlocks&) = delete;
  GzipBlocks& operator=(const GzipBlocks&) = delete;

  void write(std::string_view text);
  // As LineSink has it; the text is a block.
  void take_lines(LineSink::Text& text);
  // The file is complete.
  void finish();

  // No thread compresses until more is written: before this process is copied, which copies no threads.
  static void pause_all();

 private:
  struct Block {
    LineSink::Text text{};  // with its lines where they are told
    std::string packed{};
    bool taken = false;
    bool done = false;
  };
  static void pack(Block& block, LineDeflate& lines);
  void begin_helpers();
  void end_helpers();
  void help();
  void hand_in();
  [[nodiscard]] bool pack_next(std::unique_lock<std::mutex>& lock, LineDeflate& lines);
  void hand_on(std::size_t most);

  const std::function<void(std::string_view)> out_;
  const unsigned helpers_;
  Block present_;  // is being filled
  bool begun_ = false;
  std::vector<Block> spare_;  // to be filled anew
  LineDeflate lines_;         // of the calling thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> blocks_;  // handed in, and not handed on
  bool ending_ = false;       // helpers are to end
  std::vector<std::thread> threads_;
};

}  // namespace heddle::os
