#include "isa/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "isa/print_text.hpp"

namespace heddle::isa {

void PrintBuffer::begin_launch(const LaunchRequest& launch) {
  grid_ = launch.grid;
  block_ = launch.block;
  threads_per_block_ = launch.block.count();
  threads_.clear();
  size_ = 0;
  messages_ = 0;
  cut_.reset();
}

void PrintBuffer::put(std::uint64_t block, std::uint64_t thread, std::uint32_t value, std::uint32_t count) {
  const std::uint64_t key = block * threads_per_block_ + thread;
  messages_ += count == 0 ? 1 : 0;
  if (cut_ && key >= *cut_) {
    return;
  }
  Thread& speaker = threads_[key];
  speaker.messages += count == 0 ? 1 : 0;
  const unsigned bytes = count == 0 ? 1 : std::min(count, 4U);
  for (unsigned i = 0; i < bytes; ++i) {
    speaker.bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  size_ += bytes;
  if (size_ > limit_) {
    shorten();
  }
}

// Takes away from the end of the order. What is dropped can never come back into the first `limit_` bytes, since more
// can only be added before it.
void PrintBuffer::shorten() {
  while (size_ > limit_) {
    const auto last = std::prev(threads_.end());
    const std::size_t dropped = std::min(size_ - limit_, last->second.bytes.size());
    last->second.bytes.resize(last->second.bytes.size() - dropped);
    size_ -= dropped;
    cut_ = last->first;
    if (last->second.bytes.empty()) {
      threads_.erase(last);
    }
  }
}

std::string PrintBuffer::text() const {
  std::string out;
  std::uint64_t kept = 0;
  for (const auto& [key, thread] : threads_) {
    MessageReader reader(thread.bytes);
    while (const std::optional<Message> message = reader.next()) {
      ++kept;
      out += message->text;
    }
  }
  // Without a cut, what is missing are messages that a fault or a stop left unfinished.
  if (cut_ && kept < messages_) {
    out += fmt::format("{}[{} more printed messages of this launch are left out: they lie beyond {} bytes]\n",
                       out.empty() || out.back() == '\n' ? "" : "\n", messages_ - kept, limit_);
  }
  return out;
}

void PrintBuffer::explain(Fault& fault) const {
  if (fault.kind != Fault::Kind::trap) {
    return;
  }
  const auto linear = [](const Dim3& at, const Dim3& in) { return at.x + in.x * (at.y + std::uint64_t{in.y} * at.z); };
  const auto thread = threads_.find(linear(fault.block, grid_) * threads_per_block_ + linear(fault.thread, block_));
  if (thread == threads_.end()) {
    return;
  }
  std::optional<Message> last;
  MessageReader reader(thread->second.bytes);
  while (std::optional<Message> message = reader.next()) {
    last = std::move(message);
  }
  if (last && last->kind == MessageKind::assertion) {
    fault.kind = Fault::Kind::assertion;
    fault.detail = last->assertion;
  }
}

}  // namespace heddle::isa
