#include "reference_cache.hpp"

#include <algorithm>

namespace heddle::hw::test {

ReferenceCache::ReferenceCache(const DataCacheParameters& parameters, bool atomics_here, std::uint64_t base,
                               std::vector<std::byte>& contents)
    : parameters_(parameters),
      through_(!parameters.enabled || parameters.write_policy == "write-through"),
      atomics_here_(atomics_here),
      line_bytes_(parameters.line_bytes),
      base_(base),
      contents_(contents),
      sets_(parameters.bytes / parameters.ways / parameters.line_bytes) {}

ReferenceCache::Line* ReferenceCache::find(std::uint64_t line) {
  for (Line& one : set_of(line)) {
    if (one.address == line) {
      return &one;
    }
  }
  return nullptr;
}

ReferenceCache::Line* ReferenceCache::touch(std::uint64_t line) {
  Set& set = set_of(line);
  const auto place = std::find_if(set.begin(), set.end(), [line](const Line& one) { return one.address == line; });
  set.splice(set.begin(), set, place);
  return &set.front();
}

ReferenceCache::Mshr* ReferenceCache::open_mshr(std::uint64_t line) {
  for (auto& [id, mshr] : mshrs_) {
    if (mshr.open && mshr.address == line) {
      return &mshr;
    }
  }
  return nullptr;
}

unsigned ReferenceCache::allocate(std::uint64_t line, bool open, Command command) {
  const unsigned id = next_mshr_++;
  Mshr& mshr = mshrs_[id];
  mshr.address = line;
  mshr.open = open;
  mshr.atomic = command == Command::atomic;
  sent.push_back({command, line, {}, {}, id});
  return id;
}

void ReferenceCache::add_dirty(Line& line, const Mask& enable) {
  line.dirty.resize(line_bytes_, 0);
  for (unsigned i = 0; i != line_bytes_; ++i) {
    line.dirty[i] |= enable[i];
  }
}

void ReferenceCache::send_write(std::uint64_t line, const Mask& enable, unsigned waits) {
  const auto first = contents_.begin() + static_cast<std::ptrdiff_t>(line - base_);
  sent.push_back({Command::write, line, enable, {first, first + line_bytes_}, waits});
  ++writes_;
}

void ReferenceCache::write_back(const Line& line) {
  send_write(line.address, line.dirty);
  ++write_backs;
}

// The copy must be in memory; false: not now.
bool ReferenceCache::give_up(std::uint64_t line) {
  const Line* const copy = find(line);
  if (copy == nullptr) {
    return true;
  }
  if (!copy->dirty.empty()) {
    if (!room()) {
      return false;
    }
    write_back(*copy);
  }
  set_of(line).remove_if([line](const Line& one) { return one.address == line; });
  return true;
}

bool ReferenceCache::make_room(std::uint64_t line) {
  Set& set = set_of(line);
  if (set.size() < parameters_.ways) {
    return true;
  }
  if (!set.back().dirty.empty()) {
    if (!room()) {
      return false;
    }
    write_back(set.back());
  }
  set.pop_back();
  ++evictions;
  return true;
}

// -------------------------------------------------------------------------------------------------- from memory

ReferenceCache::Sent ReferenceCache::take() {
  Sent first = sent.front();
  sent.pop_front();
  if (first.command == Command::read) {
    mshrs_.at(first.mshr).sent = true;
  }
  return first;
}

void ReferenceCache::answered(bool write, unsigned mshr, Cycle visible) {
  (write ? acknowledgements_ : fills_).push_back({visible, mshr});
}

std::vector<unsigned> ReferenceCache::cycle(Cycle now) {
  now_ = now;
  ports_used_ = 0;
  banks_used_.clear();
  std::vector<unsigned> answers;
  for (; !acknowledgements_.empty() && acknowledgements_.front().visible <= now; acknowledgements_.pop_front()) {
    --writes_;
    if (acknowledgements_.front().what != 0) {
      answers.push_back(static_cast<unsigned>(acknowledgements_.front().what - 1));
    }
  }
  while (!fills_.empty() && fills_.front().visible <= now &&
         fill(static_cast<unsigned>(fills_.front().what), answers)) {
    fills_.pop_front();
  }
  for (; !invalidated_.empty() && invalidated_.front().visible <= now; invalidated_.pop_front()) {
    invalidate_now(invalidated_.front().what);
  }
  for (; !delayed_.empty() && delayed_.front().visible <= now; delayed_.pop_front()) {
    answers.push_back(static_cast<unsigned>(delayed_.front().what));
  }
  return answers;
}

bool ReferenceCache::fill(unsigned id, std::vector<unsigned>& answers) {
  const Mshr& mshr = mshrs_.at(id);
  if (mshr.open) {
    if (!make_room(mshr.address)) {
      return false;
    }
    ++fills;
    Set& set = set_of(mshr.address);
    set.push_front({mshr.address, {}});
    for (const Target& target : mshr.targets) {
      if (!through_ && !target.writes.empty()) {
        add_dirty(set.front(), target.writes);
      }
    }
  }
  for (const Target& target : mshr.targets) {
    if (target.answer) {
      answers.push_back(target.number);
    }
  }
  if (mshr.open && mshr.drop) {
    invalidate_now(mshr.address);
  }
  mshrs_.erase(id);
  return true;
}

void ReferenceCache::invalidate_now(std::uint64_t line) {
  if (const Line* const copy = find(line); copy != nullptr) {
    if (!copy->dirty.empty()) {
      write_back(*copy);
    }
    set_of(line).remove_if([line](const Line& one) { return one.address == line; });
  }
  if (Mshr* const open = open_mshr(line); open != nullptr) {
    open->drop = true;
  }
}

// --------------------------------------------------------------------------------------------- from the requester

ReferenceCache::Result ReferenceCache::offer(unsigned number, Kind kind, std::uint64_t line, const Mask& enable) {
  if (ports_used_ == parameters_.ports) {
    return Result::refused;
  }
  const std::uint64_t bank = parameters_.banks == 0 ? 0 : line / line_bytes_ % parameters_.banks;
  if (std::find(banks_used_.begin(), banks_used_.end(), bank) != banks_used_.end()) {
    return Result::refused;
  }
  const std::uint64_t hits_before = hits;
  Result result = Result::refused;
  switch (kind) {
    case Kind::load:
      result = load(number, line);
      break;
    case Kind::bypass:
      result = parameters_.enabled ? bypass(number, line) : load(number, line);
      break;
    case Kind::store:
    case Kind::waiting_store:
      result = (this->*(through_ ? &ReferenceCache::store_through : &ReferenceCache::store_back))(
          number, line, enable, kind == Kind::waiting_store);
      break;
    case Kind::atomic:
      result = atomics_here_ ? atomic_here(number, line, enable) : atomic(number, line);
      break;
  }
  if (result != Result::refused) {
    ++ports_used_;
    if (parameters_.banks != 0) {
      banks_used_.push_back(bank);
    }
    misses += hits == hits_before ? 1 : 0;
  }
  return result;
}

ReferenceCache::Result ReferenceCache::hit(unsigned number) {
  ++hits;
  if (parameters_.hit_latency == 1) {
    return Result::done;
  }
  delayed_.push_back({now_ + parameters_.hit_latency - 1, number});
  return Result::pending;
}

ReferenceCache::Result ReferenceCache::load(unsigned number, std::uint64_t line) {
  bool again = false;  // a read of its own beside the one that is under way
  if (parameters_.enabled) {
    if (find(line) != nullptr) {
      touch(line);
      return hit(number);
    }
    Mshr* const open = open_mshr(line);
    again = open != nullptr && !parameters_.merge_reads && !open->dirty;
    if (open != nullptr && !again) {
      if (open->targets.size() >= parameters_.mshr_targets) {
        return Result::refused;
      }
      open->targets.push_back({true, number, {}});
      ++merged;
      return Result::pending;
    }
  }
  if (mshrs_full()) {
    return Result::refused;
  }
  mshrs_[allocate(line, parameters_.enabled && !again, Command::read)].targets.push_back({true, number, {}});
  return Result::pending;
}

ReferenceCache::Result ReferenceCache::bypass(unsigned number, std::uint64_t line) {
  Mshr* const open = open_mshr(line);
  if (open != nullptr && !open->sent) {
    if (open->targets.size() >= parameters_.mshr_targets) {
      return Result::refused;
    }
    open->targets.push_back({true, number, {}});
    ++merged;
    return Result::pending;
  }
  if ((open != nullptr && open->dirty) || mshrs_full() || !give_up(line)) {
    return Result::refused;
  }
  if (open != nullptr) {
    open->open = false;
  }
  mshrs_[allocate(line, true, Command::read)].targets.push_back({true, number, {}});
  return Result::pending;
}

ReferenceCache::Result ReferenceCache::store_back(unsigned number, std::uint64_t line, const Mask& enable, bool waits) {
  if (find(line) != nullptr) {
    add_dirty(*touch(line), enable);
    if (waits) {
      return hit(number);
    }
    ++hits;
    return Result::done;
  }
  const Result under_way = waits ? Result::pending : Result::done;
  if (Mshr* const open = open_mshr(line); open != nullptr) {
    const bool joins = !waits && last_is_store(*open);
    if (open->targets.size() >= parameters_.mshr_targets && !joins) {
      return Result::refused;
    }
    if (joins) {
      for (unsigned i = 0; i != line_bytes_; ++i) {
        open->targets.back().writes[i] |= enable[i];
      }
    } else {
      open->targets.push_back({waits, number, enable});
    }
    open->dirty = true;
    ++merged;
    return under_way;
  }
  if (std::all_of(enable.begin(), enable.end(), [](std::uint8_t byte) { return byte != 0; })) {
    if (!make_room(line)) {
      return Result::refused;
    }
    set_of(line).push_front({line, enable});
    return Result::done;
  }
  if (mshrs_full()) {
    return Result::refused;
  }
  Mshr& mshr = mshrs_[allocate(line, true, Command::read)];
  mshr.dirty = true;
  mshr.targets.push_back({waits, number, enable});
  return under_way;
}

ReferenceCache::Result ReferenceCache::store_through(unsigned number, std::uint64_t line, const Mask& enable,
                                                     bool waits) {
  if (!room()) {
    return Result::refused;
  }
  if (parameters_.enabled && find(line) != nullptr) {
    touch(line);
    ++hits;
  } else if (Mshr* const open = parameters_.enabled ? open_mshr(line) : nullptr; open != nullptr) {
    if (open->targets.size() >= parameters_.mshr_targets && !last_is_store(*open)) {
      return Result::refused;
    }
    if (!last_is_store(*open)) {
      open->targets.push_back({false, 0, enable});
    }
    ++merged;
  }
  send_write(line, enable, waits ? number + 1 : 0);
  return waits ? Result::pending : Result::done;
}

ReferenceCache::Result ReferenceCache::atomic(unsigned number, std::uint64_t line) {
  Mshr* const open = open_mshr(line);
  if ((open != nullptr && open->dirty) || mshrs_full() || !give_up(line)) {
    return Result::refused;
  }
  if (open != nullptr) {
    open->open = false;
  }
  mshrs_[allocate(line, false, Command::atomic)].targets.push_back({true, number, {}});
  return Result::pending;
}

ReferenceCache::Result ReferenceCache::atomic_here(unsigned number, std::uint64_t line, const Mask& enable) {
  if (find(line) != nullptr) {
    add_dirty(*touch(line), enable);
    return hit(number);
  }
  Mshr* open = open_mshr(line);
  if (open != nullptr) {
    if (open->targets.size() >= parameters_.mshr_targets) {
      return Result::refused;
    }
    ++merged;
  } else if (mshrs_full()) {
    return Result::refused;
  } else {
    open = &mshrs_[allocate(line, true, Command::read)];
  }
  open->dirty = true;
  open->targets.push_back({true, number, enable});
  return Result::pending;
}

}  // namespace heddle::hw::test
