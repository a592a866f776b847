#include "os/files/gzip_blocks.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <set>
#include <utility>

#include "os/files/quick_deflate.hpp"

namespace heddle::os {

namespace {

constexpr std::size_t kAhead = 4;  // blocks that wait, for each thread
constexpr unsigned kMostHelpers = 4;

// Those that live; of the main thread alone.
std::set<GzipBlocks*>& living() {
  static std::set<GzipBlocks*> all;
  return all;
}

void append_number(std::string& out, std::uint32_t number) {
  for (unsigned byte = 0; byte != 4; ++byte) {
    out += static_cast<char>((number >> (8 * byte)) & 0xffU);
  }
}

}  // namespace

unsigned GzipBlocks::usual_helpers() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMostHelpers);
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

void GzipBlocks::pack(Block& block) {
  QuickDeflate deflate;
  block.packed = deflate.pack(block.text, block.begin);
  const std::string_view own = std::string_view(block.text).substr(block.begin);
  block.check =
      static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(own.data()), static_cast<uInt>(own.size())));
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
bool GzipBlocks::pack_next(std::unique_lock<std::mutex>& lock) {
  const auto next = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) { return !block.taken; });
  if (next == blocks_.end()) {
    return false;
  }
  Block& block = *next;  // stays where it is while others come and go
  block.taken = true;
  lock.unlock();
  pack(block);
  lock.lock();
  block.done = true;
  changed_.notify_all();
  return true;
}

void GzipBlocks::help() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!pack_next(lock)) {
      changed_.wait(lock);
    }
  }
}

// Hands on what is done until at most so many blocks are left.
void GzipBlocks::hand_on(std::size_t most) {
  std::unique_lock lock(mutex_);
  while (true) {
    while (!blocks_.empty() && blocks_.front().done) {
      const Block block = std::move(blocks_.front());
      blocks_.pop_front();
      lock.unlock();
      const std::size_t size = block.text.size() - block.begin;
      check_ = static_cast<std::uint32_t>(::crc32_combine(check_, block.check, static_cast<z_off_t>(size)));
      size_ += static_cast<std::uint32_t>(size);
      out_(block.packed);
      lock.lock();
    }
    if (blocks_.size() <= most) {
      return;
    }
    if (!pack_next(lock)) {
      changed_.wait(lock, [this] { return blocks_.front().done; });
    }
  }
}

void GzipBlocks::hand_in() {
  begin_helpers();
  Block block;
  const std::size_t kept = std::min(present_.size(), QuickDeflate::kWindow);
  std::string next;
  next.reserve(kept + kBlock);
  next.assign(present_, present_.size() - kept, kept);
  block.text = std::exchange(present_, std::move(next));
  block.begin = std::exchange(begin_, kept);
  {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(block));
  }
  changed_.notify_all();
  if (!begun_) {
    begun_ = true;
    // Deflate; no name, no date, nothing of the system that it was made on.
    constexpr std::array<char, 10> kHeader = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff'};
    out_({kHeader.data(), kHeader.size()});
  }
  hand_on(kAhead * (threads_.size() + 1));
}

void GzipBlocks::write(std::string_view text) {
  while (!text.empty()) {
    const std::size_t count = std::min(text.size(), begin_ + kBlock - present_.size());
    present_.append(text.substr(0, count));
    text.remove_prefix(count);
    if (present_.size() == begin_ + kBlock) {
      hand_in();
    }
  }
}

void GzipBlocks::finish() {
  hand_in();  // also when nothing was written
  hand_on(0);
  std::string end("\x03\x00", 2);  // an empty last block
  append_number(end, check_);
  append_number(end, size_);
  out_(end);
}

}  // namespace heddle::os
