#include "hw/cache/l0_cache.hpp"

#include <algorithm>

namespace heddle::hw {

L0Cache::L0Cache(const sc_core::sc_module_name& name, const L0Parameters& parameters, unsigned line_bytes)
    : sc_core::sc_module(name),
      cpu("cpu"),
      beyond("beyond"),
      line_bytes_(line_bytes),
      ways_(parameters.ways),
      prefetch_(parameters.prefetch),
      lines_(parameters.bytes / line_bytes),
      sets_(lines_.size() / parameters.ways) {
  cpu.bind(*this);
  beyond.bind(*this);
}

void L0Cache::begin_launch(bool keeps_lines) {
  for (Line& line : lines_) {
    line.valid = line.valid && keeps_lines;
  }
  foreseen_.clear();
  to_ask_.clear();
  full_ = nullptr;
}

L0Cache::Line* L0Cache::find(std::uint64_t address) {
  const std::uint64_t number = number_of(address);
  Line*& last = found_[number % found_.size()];
  const auto holds = [&](const Line& line) { return line.valid && line.address == address; };
  if (last == nullptr || !holds(*last)) {
    Line* const set = lines_.data() + number % sets_ * ways_;
    Line* const found = std::find_if(set, set + ways_, holds);
    if (found == set + ways_) {
      return nullptr;
    }
    last = found;
  }
  return last;
}

// In the place of the line that has not been used for the longest time.
L0Cache::Line& L0Cache::install(std::uint64_t address, const std::byte* bytes) {
  Line* const set = lines_.data() + number_of(address) % sets_ * ways_;
  Line& line = *std::min_element(set, set + ways_, [](const Line& a, const Line& b) {
    return std::pair(a.valid, a.used) < std::pair(b.valid, b.used);
  });
  line.address = address;
  line.valid = true;
  line.used = ++uses_;
  line.bytes.assign(bytes, bytes + line_bytes_);
  return line;
}

L0Cache::Line* L0Cache::take_foreseen(std::uint64_t address) {
  const auto found =
      std::find_if(foreseen_.begin(), foreseen_.end(), [&](const Line& line) { return line.address == address; });
  if (found == foreseen_.end()) {
    return nullptr;
  }
  Line& line = install(address, found->bytes.data());
  foreseen_.erase(found);
  ++statistics_.prefetch_hits;
  foresee_next();
  return &line;
}

L0Cache::Fill* L0Cache::under_way(std::uint64_t address) {
  const auto found =
      std::find_if(fills_.begin(), fills_.end(), [&](const Fill& fill) { return fill.request.address == address; });
  return found == fills_.end() ? nullptr : &*found;
}

const std::byte* L0Cache::load_at_once(std::uint64_t line, bool repeats_miss) {
  Line* here = find(line);
  if (here == nullptr && (foreseen_.empty() || (here = take_foreseen(line)) == nullptr)) {
    return nullptr;
  }
  here->used = ++uses_;
  if (!repeats_miss) {
    ++statistics_.accesses;
    ++statistics_.hits;
  }
  return here->bytes.data();
}

::tlm::tlm_sync_enum L0Cache::ask(link::LineRequest& request) {
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  return beyond->nb_transport_fw(request, phase, delay);
}

::tlm::tlm_sync_enum L0Cache::nb_transport_fw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) {
  if (const std::byte* const here = load_at_once(request.address, request.repeats_miss)) {
    request.line = here;
    request.answer = link::LineRequest::Answer::hit;
    return ::tlm::TLM_COMPLETED;
  }
  return miss(request);
}

::tlm::tlm_sync_enum L0Cache::miss(link::LineRequest& request) {
  if (Fill* const coming = under_way(request.address)) {
    statistics_.prefetch_late += coming->prefetch && coming->waiting.empty() ? 1 : 0;
    coming->waiting.push_back(&request);
    request.answer = link::LineRequest::Answer::merged;
  } else {
    Fill& fill = fills_.emplace_back();
    fill.request = request;
    fill.request.repeats_miss = false;
    const ::tlm::tlm_sync_enum taken = ask(fill.request);
    if (taken != ::tlm::TLM_ACCEPTED) {
      const link::LineRequest answered = fill.request;
      fills_.pop_back();
      request.answer = answered.answer;
      request.busy = answered.busy;
      if (taken == ::tlm::TLM_UPDATED) {
        return taken;
      }
      request.line = install(request.address, answered.line).bytes.data();
      request.answer = link::LineRequest::Answer::hit;
    } else {
      fill.waiting.push_back(&request);
      request.answer = link::LineRequest::Answer::miss;
    }
    foresee_from(request);
  }
  if (!request.repeats_miss) {
    ++statistics_.accesses;
    ++statistics_.misses;
  }
  return request.answer == link::LineRequest::Answer::hit ? ::tlm::TLM_COMPLETED : ::tlm::TLM_ACCEPTED;
}

// -------------------------------------------------------------------------------------------------- ahead

void L0Cache::foresee_from(const link::LineRequest& missing) {
  if (prefetch_ == 0) {
    return;
  }
  foreseen_.clear();
  to_ask_.clear();
  full_ = nullptr;
  for (Fill& fill : fills_) {
    fill.dropped = fill.prefetch && fill.waiting.empty();
  }
  like_ = missing;
  last_foreseen_ = missing.address;
  for (unsigned ahead = 0; ahead != prefetch_; ++ahead) {
    foresee_next();
  }
}

void L0Cache::foresee_next() {
  last_foreseen_ += line_bytes_;
  to_ask_.push_back(last_foreseen_);
}

void L0Cache::waited(std::uint64_t cycles) {
  if (!to_ask_.empty() && full_ != nullptr) {
    full_->refused_again(cycles);
  }
}

void L0Cache::ask_again() {
  full_ = nullptr;
  while (!to_ask_.empty()) {
    const std::uint64_t address = to_ask_.front();
    if (Fill* const coming = under_way(address); coming != nullptr || find(address) != nullptr) {
      if (coming != nullptr) {
        coming->dropped = false;
      }
      to_ask_.pop_front();
      continue;
    }
    Fill& fill = fills_.emplace_back();
    fill.request = like_;
    fill.request.address = address;
    fill.request.repeats_miss = false;
    fill.prefetch = true;
    const ::tlm::tlm_sync_enum taken = ask(fill.request);
    if (taken == ::tlm::TLM_UPDATED) {
      fills_.pop_back();
      full_ = beyond_room_.of(beyond);
      return;
    }
    ++statistics_.prefetches;
    to_ask_.pop_front();
    if (taken == ::tlm::TLM_COMPLETED) {
      foreseen_.push_back({address, true, 0, {fill.request.line, fill.request.line + line_bytes_}});
      fills_.pop_back();
    }
  }
}

::tlm::tlm_sync_enum L0Cache::nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                              sc_core::sc_time& delay) {
  const auto fill =
      std::find_if(fills_.begin(), fills_.end(), [&](const Fill& each) { return &each.request == &request; });
  const std::vector<link::LineRequest*> waiting = std::move(fill->waiting);
  const bool prefetched = fill->prefetch;
  const bool dropped = fill->dropped;
  const bool failed = request.failed;
  const std::uint64_t address = request.address;
  const std::byte* bytes = request.line;
  if (!failed && !waiting.empty()) {
    bytes = install(address, bytes).bytes.data();
    if (prefetched) {
      foresee_next();
    }
  } else if (!failed && prefetched && !dropped) {
    foreseen_.push_back({address, true, 0, {bytes, bytes + line_bytes_}});
  }
  fills_.erase(fill);
  for (link::LineRequest* const one : waiting) {
    one->line = bytes;
    one->failed = failed;
    cpu->nb_transport_bw(*one, phase, delay);
  }
  return ::tlm::TLM_COMPLETED;
}

}  // namespace heddle::hw
