#include "os/files/gzip_blocks.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <utility>

namespace heddle::os {

namespace {

constexpr std::size_t kAhead = 4;  // blocks that wait, for each thread
constexpr unsigned kMostHelpers = 4;

// Those that live; of the main thread alone.
std::set<GzipBlocks*>& living() {
  static std::set<GzipBlocks*> all;
  return all;
}

constexpr int kQuick = 1;  // libdeflate's level: dumps become about as small as by zlib's, in a fifth of the time

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const { ::libdeflate_free_compressor(compressor); }
};

}  // namespace

unsigned GzipBlocks::usual_helpers() {
  return std::clamp(std::thread::hardware_concurrency(), 2U, kMostHelpers + 1) - 1;
}

GzipBlocks::GzipBlocks(std::function<void(std::string_view)> out, unsigned helpers)
    : out_(std::move(out)), helpers_(helpers) {
  living().insert(this);
}

GzipBlocks::~GzipBlocks() {
  end_helpers();
  living().erase(this);
}

void GzipBlocks::pause_all() {
  for (GzipBlocks* const one : living()) {
    one->end_helpers();
  }
}

void GzipBlocks::pack(Block& block, LineDeflate& lines) {
  if (block.text.lines_count != 0) {
    lines.pack(block.text, block.packed);
    return;
  }
  const std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(::libdeflate_alloc_compressor(kQuick));
  if (compressor == nullptr) {
    throw std::bad_alloc();
  }
  block.packed.resize(::libdeflate_gzip_compress_bound(compressor.get(), block.text.size));
  block.packed.resize(::libdeflate_gzip_compress(compressor.get(), block.text.bytes.data(), block.text.size,
                                                 block.packed.data(), block.packed.size()));
}

void GzipBlocks::begin_helpers() {
  if (!threads_.empty() || helpers_ == 0) {
    return;
  }
  // Signals are the main thread's.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (unsigned i = 0; i != helpers_; ++i) {
      threads_.emplace_back([this] { help(); });
    }
  } catch (const std::system_error&) {
    // The host lets this process have no more threads; the calling one does what is left.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void GzipBlocks::end_helpers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  ending_ = false;
}

// Compresses the first block that nobody has taken. False: there is none.
bool GzipBlocks::pack_next(std::unique_lock<std::mutex>& lock, LineDeflate& lines) {
  const auto next = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) { return !block.taken; });
  if (next == blocks_.end()) {
    return false;
  }
  Block& block = *next;  // stays where it is while others come and go
  block.taken = true;
  lock.unlock();
  pack(block, lines);
  lock.lock();
  block.done = true;
  changed_.notify_all();
  return true;
}

void GzipBlocks::help() {
  LineDeflate lines;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!pack_next(lock, lines)) {
      changed_.wait(lock);
    }
  }
}

// Hands on what is done until at most so many blocks are left.
void GzipBlocks::hand_on(std::size_t most) {
  std::unique_lock lock(mutex_);
  while (true) {
    while (!blocks_.empty() && blocks_.front().done) {
      Block block = std::move(blocks_.front());
      blocks_.pop_front();
      lock.unlock();
      out_(block.packed);
      block.text.size = 0;
      block.text.lines_count = 0;
      block.taken = block.done = false;
      spare_.push_back(std::move(block));
      lock.lock();
    }
    if (blocks_.size() <= most) {
      return;
    }
    if (!pack_next(lock, lines_)) {
      changed_.wait(lock, [this] { return blocks_.front().done; });
    }
  }
}

void GzipBlocks::hand_in() {
  begin_helpers();
  Block block = std::exchange(present_, {});
  if (!spare_.empty()) {
    present_ = std::move(spare_.back());
    spare_.pop_back();
  }
  begun_ = true;
  {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(block));
  }
  changed_.notify_all();
  hand_on(kAhead * (threads_.size() + 1));
}

void GzipBlocks::write(std::string_view text) {
  LineSink::Text& present = present_.text;
  if (present.bytes.size() < kBlock) {
    present.bytes.resize(kBlock);
  }
  while (!text.empty()) {
    const std::size_t count = std::min(text.size(), kBlock - present.size);
    std::memcpy(present.bytes.data() + present.size, text.data(), count);
    present.size += count;
    text.remove_prefix(count);
    if (present.size == kBlock) {
      hand_in();
      present.bytes.resize(std::max(present.bytes.size(), kBlock));
    }
  }
}

void GzipBlocks::take_lines(LineSink::Text& text) {
  if (present_.text.size != 0) {
    hand_in();
  }
  std::swap(present_.text, text);
  hand_in();
  std::swap(present_.text, text);
}

void GzipBlocks::finish() {
  if (present_.text.size != 0 || !begun_) {  // a file of nothing is a member of nothing
    hand_in();
  }
  hand_on(0);
}

}  // namespace heddle::os
