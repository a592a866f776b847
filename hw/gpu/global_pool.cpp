#include "hw/gpu/global_pool.hpp"

#include <utility>

namespace heddle::hw {

void GlobalPool::clear() {
  waiting_.clear();
  full_.clear();
  fresh_.clear();
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

std::optional<GlobalPool::Warp> GlobalPool::take() {
  if (!full_.empty()) {
    Warp warp = std::move(full_.front());
    full_.pop_front();
    threads_ -= warp.threads.size();
    return warp;
  }
  if (!fresh_.empty()) {
    Warp warp{Warp::Kind::fresh, 0, {}, fresh_.front()};
    fresh_.pop_front();
    return warp;
  }
  if (waiting_.empty()) {
    return std::nullopt;
  }
  const auto lowest = waiting_.begin();
  Warp warp = warp_of(Warp::Kind::incomplete, lowest->first, std::move(lowest->second));
  waiting_.erase(lowest);
  threads_ -= warp.threads.size();
  return warp;
}

}  // namespace heddle::hw
