#include "hw/gpu/global_pool.hpp"

#include <algorithm>
#include <utility>

#include "hw/state/block_home.hpp"

namespace heddle::hw {

void GlobalPool::clear() {
  waiting_.clear();
  full_.clear();
  fresh_.assign(fresh_.size(), {});
  fresh_warps_ = 0;
  threads_ = 0;
}

void GlobalPool::add(std::uint32_t pc, Traveller thread) {
  std::vector<Traveller>& there = waiting_[pc];
  there.push_back(std::move(thread));
  ++threads_;
  if (there.size() == width_) {
    full_.push_back(warp_of(Warp::Kind::full, pc, std::move(there)));
    waiting_.erase(pc);
  }
}

GlobalPool::Warp GlobalPool::warp_of(Warp::Kind kind, std::uint32_t pc, std::vector<Traveller> threads) {
  Warp warp{kind, pc, std::move(threads), nullptr};
  for (std::size_t lane = 0; lane != warp.threads.size(); ++lane) {
    warp.threads[lane].lane = static_cast<std::uint8_t>(lane);
  }
  return warp;
}

// An owner has no new warps, and others have.
void GlobalPool::steal(unsigned owner) {
  std::deque<ThreadHome*>& from = *std::max_element(
      fresh_.begin(), fresh_.end(), [](const auto& one, const auto& other) { return one.size() < other.size(); });
  const BlockHome* const block = from.back()->block;
  while (!from.empty() && from.back()->block == block) {
    fresh_[owner].push_front(from.back());
    from.pop_back();
  }
  ++stolen_blocks_;
}

std::optional<GlobalPool::Warp> GlobalPool::take(unsigned owner, bool more) {
  if (!full_.empty()) {
    Warp warp = std::move(full_.front());
    full_.pop_front();
    threads_ -= warp.threads.size();
    return warp;
  }
  if (fresh_warps_ != 0) {
    if (fresh_[owner].empty()) {
      steal(owner);
    }
    Warp warp{Warp::Kind::fresh, 0, {}, fresh_[owner].front()};
    fresh_[owner].pop_front();
    --fresh_warps_;
    return warp;
  }
  if (waiting_.empty() || more) {
    return std::nullopt;
  }
  const auto lowest = waiting_.begin();
  Warp warp = warp_of(Warp::Kind::incomplete, lowest->first, std::move(lowest->second));
  waiting_.erase(lowest);
  threads_ -= warp.threads.size();
  return warp;
}

}  // namespace heddle::hw
