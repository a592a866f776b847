#include "isa/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "isa/print_text.hpp"

namespace heddle::isa {

PrintBuffer::PrintBuffer(std::size_t limit) : limit_(limit) {
  share_among(1);
}

void PrintBuffer::clear(Share& share) const {
  share = Share();
  share.limit_ = limit_;
  share.threads_per_block_ = block_.count();
}

void PrintBuffer::share_among(unsigned count) {
  while (shares_.size() < count) {
    clear(shares_.emplace_back());
  }
}

void PrintBuffer::begin_launch(const LaunchRequest& launch) {
  grid_ = launch.grid;
  block_ = launch.block;
  for (Share& share : shares_) {
    clear(share);
  }
}

void PrintBuffer::Share::put(std::uint64_t block, std::uint64_t thread, std::uint32_t value, std::uint32_t count) {
  const std::uint64_t key = block * threads_per_block_ + thread;
  messages_ += count == 0 ? 1 : 0;
  if (cut_ && key >= cut_at_) {
    return;
  }
  std::string& said = threads_[key];
  const unsigned bytes = count == 0 ? 1 : std::min(count, 4U);
  for (unsigned i = 0; i < bytes; ++i) {
    said.push_back(static_cast<char>(value >> (8 * i)));
  }
  size_ += bytes;
  if (size_ > limit_) {
    shorten();
  }
}

// Takes away from the end of the order. What is dropped can never come back into the first `limit_` bytes, since more
// can only be added before it.
void PrintBuffer::Share::shorten() {
  while (size_ > limit_) {
    const auto last = std::prev(threads_.end());
    const std::size_t dropped = std::min(size_ - limit_, last->second.size());
    last->second.resize(last->second.size() - dropped);
    size_ -= dropped;
    cut_ = true;
    cut_at_ = last->first;
    if (last->second.empty()) {
      threads_.erase(last);
    }
  }
}

// Each share holds the first `limit_` bytes of its threads, so that the first of all are among them.
PrintBuffer::Joined PrintBuffer::joined() const {
  Joined all;
  for (const Share& share : shares_) {
    all.messages += share.messages_;
    all.cut = all.cut || share.cut_;
    all.threads.insert(all.threads.end(), share.threads_.begin(), share.threads_.end());
  }
  std::stable_sort(all.threads.begin(), all.threads.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  std::size_t left = limit_;
  for (auto& [key, bytes] : all.threads) {
    all.cut = all.cut || bytes.size() > left;
    bytes = bytes.substr(0, left);
    left -= bytes.size();
  }
  return all;
}

std::string PrintBuffer::text() const {
  const Joined all = joined();
  std::string out;
  std::uint64_t kept = 0;
  for (const auto& [key, bytes] : all.threads) {
    MessageReader reader(bytes);
    while (const std::optional<Message> message = reader.next()) {
      ++kept;
      out += message->text;
    }
  }
  // Without a cut, what is missing are messages that a fault or a stop left unfinished.
  if (all.cut && kept < all.messages) {
    out += fmt::format("{}[{} more printed messages of this launch are left out: they lie beyond {} bytes]\n",
                       out.empty() || out.back() == '\n' ? "" : "\n", all.messages - kept, limit_);
  }
  return out;
}

void PrintBuffer::explain(Fault& fault) const {
  if (fault.kind != Fault::Kind::trap) {
    return;
  }
  const auto linear = [](const Dim3& at, const Dim3& in) { return at.x + in.x * (at.y + std::uint64_t{in.y} * at.z); };
  const std::uint64_t key = linear(fault.block, grid_) * block_.count() + linear(fault.thread, block_);
  const Joined all = joined();
  std::optional<Message> last;
  for (const auto& [speaker, bytes] : all.threads) {
    MessageReader reader(speaker == key ? bytes : std::string_view());
    while (std::optional<Message> message = reader.next()) {
      last = std::move(message);
    }
  }
  if (last && last->kind == MessageKind::assertion) {
    fault.kind = Fault::Kind::assertion;
    fault.detail = last->assertion;
  }
}

}  // namespace heddle::isa
