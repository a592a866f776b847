// What a module is told, to be acted upon in a later cycle. No SystemC.
//
//   Inbox<T>
//
// What is put in cycle t counts from cycle t + 1 on, so that it does not matter whether its reader has had its turn in
// cycle t. Entries are taken in the order in which they were put; one that was put for a later cycle than the entry
// behind it (`at` may lie ahead) stays where it is until its own has come. After a short warm-up it allocates nothing.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "tlm/cycle.hpp"

namespace heddle::link {

template <class T>
class Inbox {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  // Told in cycle `at`: taken in cycle at + 1 at the earliest.
  void put(Cycle at, T value) { entries_.emplace_back(at, std::move(value)); }

  // Calls use(T&&, at) for every entry that was put before cycle `now`. What `use` puts into this inbox stays in it.
  template <class Use>
  void take(Cycle now, Use use) {
    const std::size_t count = entries_.size();
    if (count == 1 && entries_[0].at < now) {  // usual
      const Cycle at = entries_[0].at;
      T value = std::move(entries_[0].value);
      entries_.clear();
      use(std::move(value), at);
      return;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i != count; ++i) {
      if (entries_[i].at >= now) {
        if (kept != i) {
          entries_[kept] = std::move(entries_[i]);
        }
        ++kept;
        continue;
      }
      const Cycle at = entries_[i].at;
      T value = std::move(entries_[i].value);  // `use` may put, and the entries may move
      use(std::move(value), at);
    }
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(kept),
                   entries_.begin() + static_cast<std::ptrdiff_t>(count));
  }

 private:
  // Made where it stays: the copy of one made elsewhere would be read as a whole before its parts are written.
  struct Entry {
    Entry(Cycle put_at, T&& told) : at(put_at), value(std::move(told)) {}
    Cycle at;
    T value;
  };
  std::vector<Entry> entries_;
};

}  // namespace heddle::link
