// No coherence among the cores' caches, as on the GPUs of the papers: a core sees another one's stores when they have
// reached memory and its own copy has gone. Loads that must see memory bypass the cache, atomics are performed behind
// it: by a write-back L2 slice on its line, else by the memory partition.
//
// Write-back: a store that misses fetches its line, and is merged when it has come. Write-through: it updates a line
// that is here or under way, and goes to memory. Requests to one line leave in the order in which they were accepted:
// so a bypass load joins a read that is still to leave, and whatever must go to memory itself waits for the read of a
// line with merged stores.
//
// The protocol "launch" has the tables of "none". Its write-back L1s may be those of several cores, as the caches of
// GPGPU-Sim 2.x are (warp-size study, section 2): they meet when a launch ends, and the machine sees to it that no
// core needs another one's stores before (hw/state/launch_bytes.hpp). Lines are written back by their dirty bytes, so
// that cores may write different bytes of one line.
//
// Without merge_reads (Setup) a load of a line that an L1 has asked for already, and that no store of the core has
// changed meanwhile, reads the line by itself, and what it gets is not kept: MSHRs without merging between warps, the
// warp-size study's conventional machines (section 4.1).
#include "base/error.hpp"
#include "hw/coherence/protocol.hpp"

namespace heddle::hw {

namespace {

namespace no_coherence {

using enum LineEvent;

// The states; kDirty and the states after it exist in write-back caches only.
enum : LineState { kNotHere, kClean, kAsked, kComing, kDirty, kAskedDirty, kComingDirty };

std::vector<LineStateInfo> states_of(bool write_back) {
  std::vector<LineStateInfo> states = {{"absent", LinePlace::absent, false},
                                       {"clean", LinePlace::here, false},
                                       {"asked", LinePlace::asked, false},
                                       {"coming", LinePlace::coming, false}};
  if (write_back) {
    states.push_back({"dirty", LinePlace::here, true});
    states.push_back({"asked_dirty", LinePlace::asked, true});
    states.push_back({"coming_dirty", LinePlace::coming, true});
  }
  return states;
}

// What is the same whatever becomes of stores: reads and their lines, and how lines leave. `sharers`: what a directory
// does beside it when it answers a load, and when a line goes.
struct Sharers {
  LineActions note = 0;
  LineActions recall = 0;
};

void add_reads(TransitionTable& table, Sharers sharers, bool merge = true) {
  table.on(kNotHere, {load, bypass}, kFetch, kAsked)
      .on(kNotHere, {recall}, 0, kNotHere)
      .never(kNotHere, {departed, fill, fail, replace, flush});
  table.on(kClean, {load}, kAnswer | sharers.note, kClean)
      .on(kClean, {bypass}, kDrop | sharers.recall | kFetch, kAsked)
      .on(kClean, {replace}, sharers.recall, kNotHere)
      .on(kClean, {recall, flush}, kDrop, kNotHere)
      .never(kClean, {departed, fill, fail});
  table.on(kAsked, {load}, merge ? kMerge : kFetchOnce, kAsked)
      .on(kAsked, {bypass}, kMerge, kAsked)
      .on(kAsked, {recall}, kMark, kAsked)
      .on(kAsked, {departed}, 0, kComing)
      .never(kAsked, {fill, fail, replace, flush});
  table.on(kComing, {load}, merge ? kMerge : kFetchOnce, kComing)
      .on(kComing, {bypass}, kClose | kFetch, kAsked)  // what comes may be older than what this load must see
      .on(kComing, {recall}, kMark, kComing)
      .on(kComing, {fill}, kInstall, kClean)
      .on(kComing, {fail}, 0, kNotHere)
      .never(kComing, {departed, replace, flush});
}

void add_reads_of_dirty(TransitionTable& table, Sharers sharers) {
  table.on(kDirty, {load}, kAnswer | sharers.note, kDirty)
      .on(kDirty, {bypass}, kWriteBack | kDrop | sharers.recall | kFetch, kAsked)
      .on(kDirty, {replace}, kWriteBack | sharers.recall, kNotHere)
      .on(kDirty, {recall, flush}, kWriteBack | kDrop, kNotHere)
      .never(kDirty, {departed, fill, fail});
  table.on(kAskedDirty, {load, bypass}, kMerge, kAskedDirty)
      .on(kAskedDirty, {recall}, kMark, kAskedDirty)
      .on(kAskedDirty, {departed}, 0, kComingDirty)
      .never(kAskedDirty, {fill, fail, replace, flush});
  table.on(kComingDirty, {load}, kMerge, kComingDirty)
      .on(kComingDirty, {bypass}, kWait, kComingDirty)
      .on(kComingDirty, {recall}, kMark, kComingDirty)
      .on(kComingDirty, {fill}, kInstall, kDirty)
      .on(kComingDirty, {fail}, 0, kNotHere)
      .never(kComingDirty, {departed, replace, flush});
}

void add_stores_back(TransitionTable& table) {
  table.on(kNotHere, {store}, kFetch, kAskedDirty).on(kNotHere, {store_line}, kInstall, kDirty);
  for (const LineState here : {kClean, kDirty}) {
    table.on(here, {store, store_line}, kWrite, kDirty);
  }
  for (const LineState asked : {kAsked, kAskedDirty}) {
    table.on(asked, {store, store_line}, kMerge, kAskedDirty);
  }
  for (const LineState coming : {kComing, kComingDirty}) {
    table.on(coming, {store, store_line}, kMerge, kComingDirty);
  }
}

void add_stores_through(TransitionTable& table) {
  table.on(kNotHere, {store, store_line}, kWriteThrough, kNotHere)
      .on(kClean, {store, store_line}, kWrite | kWriteThrough, kClean);
  for (const LineState under_way : {kAsked, kComing}) {  // what comes lacks this store
    table.on(under_way, {store, store_line}, kMerge | kWriteThrough, under_way);
  }
}

// Atomics go on to memory, and no copy is kept.
void add_atomics_beyond(TransitionTable& table, bool write_back, Sharers sharers) {
  table.on(kNotHere, {atomic}, kForward, kNotHere).on(kClean, {atomic}, kDrop | sharers.recall | kForward, kNotHere);
  for (const LineState under_way : {kAsked, kComing}) {  // it fetches the line as it was before
    table.on(under_way, {atomic}, kClose | kForward, kNotHere);
  }
  if (write_back) {
    table.on(kDirty, {atomic}, kWriteBack | kDrop | sharers.recall | kForward, kNotHere);
    for (const LineState under_way : {kAskedDirty, kComingDirty}) {
      table.on(under_way, {atomic}, kWait, under_way);
    }
  }
}

// Atomics are performed where the line is: here, or here as soon as it has come.
void add_atomics_here(TransitionTable& table) {
  table.on(kNotHere, {atomic}, kFetch, kAskedDirty);
  for (const LineState here : {kClean, kDirty}) {
    table.on(here, {atomic}, kStep, kDirty);
  }
  for (const LineState asked : {kAsked, kAskedDirty}) {
    table.on(asked, {atomic}, kMerge, kAskedDirty);
  }
  for (const LineState coming : {kComing, kComingDirty}) {
    table.on(coming, {atomic}, kMerge, kComingDirty);
  }
}

class NoCoherence final : public CoherenceProtocol {
 public:
  static constexpr Traits traits{.separate_reads = true};
  explicit NoCoherence(const Setup& setup) : merge_reads_(setup.merge_reads) {}

  [[nodiscard]] TransitionTable table(CacheRole role, Caching caching) const override {
    if (caching == Caching::none) {
      return uncached(role);
    }
    if (role == CacheRole::instruction) {
      TransitionTable table("none", "instruction cache", states_of(false));
      add_reads(table, {});
      for (const LineState state : {kNotHere, kClean, kAsked, kComing}) {
        table.never(state, {store, store_line, atomic});
      }
      return table.checked();
    }
    const bool back = caching == Caching::write_back;
    const bool l2 = role == CacheRole::l2;
    TransitionTable table("none", std::string(l2 ? "L2 slice" : "L1") + (back ? ", write-back" : ", write-through"),
                          states_of(back));
    const Sharers sharers = l2 ? Sharers{kNoteSharer, kRecallSharers} : Sharers{};
    add_reads(table, sharers, role != CacheRole::l1 || merge_reads_);
    if (back) {
      add_reads_of_dirty(table, sharers);
      add_stores_back(table);
    } else {
      add_stores_through(table);
    }
    if (l2 && back) {
      add_atomics_here(table);
    } else {
      add_atomics_beyond(table, back, sharers);
    }
    return table.checked();
  }

 private:
  static TransitionTable uncached(CacheRole role) {
    if (role == CacheRole::l2) {
      throw InternalError("coherence protocol none: an L2 slice that keeps nothing");
    }
    TransitionTable table("none", role == CacheRole::instruction ? "no instruction cache" : "no L1",
                          {{"absent", LinePlace::absent, false}});
    table.on(kNotHere, {load, bypass}, kFetchOnce, kNotHere)
        .on(kNotHere, {recall}, 0, kNotHere)
        .never(kNotHere, {departed, fill, fail, replace, flush});
    if (role == CacheRole::instruction) {
      table.never(kNotHere, {store, store_line, atomic});
    } else {
      table.on(kNotHere, {store, store_line}, kWriteThrough, kNotHere).on(kNotHere, {atomic}, kForward, kNotHere);
    }
    return table.checked();
  }

  const bool merge_reads_;
};

class MeetsAtEnd final : public CoherenceProtocol {
 public:
  static constexpr Traits traits{.meets_at_end = true, .separate_reads = true};
  explicit MeetsAtEnd(const Setup& setup) : tables_(setup) {}
  [[nodiscard]] TransitionTable table(CacheRole role, Caching caching) const override {
    return tables_.table(role, caching);
  }

 private:
  const NoCoherence tables_;
};

}  // namespace no_coherence

const Register<CoherenceProtocol, no_coherence::NoCoherence> no_coherence_entry{
    "none", "caches keep lines on their own; bypass loads and atomics go behind them"};
const Register<CoherenceProtocol, no_coherence::MeetsAtEnd> meets_at_end_entry{
    "launch", "as none; write-back L1s of several cores too, which meet when a launch ends"};

}  // namespace

}  // namespace heddle::hw
