// Directory MESI with a blocking home: after Sorin, Hill and Wood, A Primer on Memory Consistency and Cache Coherence,
// chapter 8 (tables 8.1 to 8.5: a directory protocol with E, PutS left out).
//
// The slices of an inclusive L2 are the lines' homes. A home knows of each line whether no cache has a copy (U), some
// may have one that none of them changes (S), or one cache owns it (X: it has it in E or M). It is busy with one
// request of a line at a time, others of the line wait in order. What an owner has changed goes to its home, and from
// there to who asks (four hops: no cache sends to another one).
//
// Differences from the book, each for simplicity:
// - Lines that are E leave by a put too, so that the home's owner is never without the line: a give_share or give_up
//   finds it, on its way to it, or leaving. Lines that are S leave silently.
// - Every own is answered with the line's bytes, also when the asking cache has had a copy (an upgrade): so that copy
//   is dropped, and there is no state in which it waits for permission only.
// - A store joins the MSHR of a load whose read has left (IS_M), and the line is asked for again when it comes as a
//   copy.
// - There are no forwarded requests to await answers of, so caches count no acknowledgements: the home does.
//
// Four networks without order among them carry requests, answers to requests, the home's messages and answers to
// messages. So an invalidation may overtake the copy that it is about (IS_I: what comes is used by who waits for it,
// and not kept; it was the line's value when they asked), and the home may ask an owner for a line that is still on its
// way to it (IS, IM with kStall). An owner's put may cross the home's message: the answer has the bytes (MI), and the
// put, when it comes to the home, is late (II).
#include <fmt/format.h>

#include <bit>

#include "base/error.hpp"
#include "hw/coherence/protocol.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::hw {

namespace {

namespace mesi {

enum : LineState { kI, kS, kE, kM, kISAsked, kIS, kISInvalidated, kISStore, kIMAsked, kIM, kMI, kII };

std::vector<LineStateInfo> line_states() {
  std::vector<LineStateInfo> states = {{"I", LinePlace::absent},
                                       {"S", LinePlace::here},
                                       {"E", LinePlace::here},
                                       {"M", LinePlace::here, true},
                                       {"IS_asked", LinePlace::asked},
                                       {"IS", LinePlace::coming},
                                       {"IS_I", LinePlace::coming},
                                       {"IS_M", LinePlace::coming, true},
                                       {"IM_asked", LinePlace::asked, true},
                                       {"IM", LinePlace::coming, true},
                                       {"MI", LinePlace::leaving},
                                       {"II", LinePlace::leaving}};
  states[kIMAsked].own = states[kIM].own = true;
  return states;
}

void add_stable_states(TransitionTable& table) {
  using enum LineEvent;
  table.on(kI, {load, bypass}, kFetch, kISAsked)
      .on(kI, {store, store_line, atomic}, kFetch, kIMAsked)
      .on(kI, {invalidate}, kAcknowledge, kI)
      .never(kI, {departed, fill, fill_own, fail, replace, recall, flush, give_share, give_up, put_done});
  table.on(kS, {load, bypass}, kAnswer, kS)
      .on(kS, {store, store_line, atomic}, kDrop | kFetch, kIMAsked)
      .on(kS, {replace}, 0, kI)
      .on(kS, {flush}, kDrop, kI)
      .on(kS, {invalidate}, kDrop | kAcknowledge, kI)
      .never(kS, {departed, fill, fill_own, fail, recall, give_share, give_up, put_done});
  for (const LineState owned : {kE, kM}) {
    table.on(owned, {load, bypass}, kAnswer, owned)
        .on(owned, {store, store_line}, kWrite, kM)
        .on(owned, {atomic}, kStep, kM)
        .on(owned, {replace}, kPut, kMI)
        .on(owned, {flush}, kPut | kDrop, kMI)
        .on(owned, {give_share}, kGive, kS)
        .on(owned, {give_up}, kGive | kDrop, kI)
        .never(owned, {departed, fill, fill_own, fail, recall, invalidate, put_done});
  }
}

void add_transient_states(TransitionTable& table) {
  using enum LineEvent;
  table.on(kISAsked, {load, bypass}, kMerge, kISAsked)
      .on(kISAsked, {store, store_line, atomic}, kMerge, kIMAsked)
      .on(kISAsked, {departed}, 0, kIS)
      .on(kISAsked, {invalidate}, kAcknowledge, kISAsked)
      .never(kISAsked, {fill, fill_own, fail, replace, recall, flush, give_share, give_up, put_done});
  table.on(kIS, {load, bypass}, kMerge, kIS)
      .on(kIS, {store, store_line, atomic}, kMerge, kISStore)
      .on(kIS, {fill}, kInstall, kS)
      .on(kIS, {fill_own}, kInstall, kE)
      .on(kIS, {fail}, 0, kI)
      .on(kIS, {invalidate}, kAcknowledge, kISInvalidated)
      .on(kIS, {give_share, give_up}, kStall, kIS)
      .never(kIS, {departed, replace, recall, flush, put_done});
  table.on(kISInvalidated, {load, bypass}, kWait, kISInvalidated)
      .on(kISInvalidated, {store, store_line, atomic}, kMerge, kISStore)
      .on(kISInvalidated, {fill}, 0, kI)
      .on(kISInvalidated, {fill_own}, kInstall, kE)  // what was invalidated was an older copy
      .on(kISInvalidated, {fail}, 0, kI)
      .on(kISInvalidated, {invalidate}, kAcknowledge, kISInvalidated)
      .on(kISInvalidated, {give_share, give_up}, kStall, kISInvalidated)
      .never(kISInvalidated, {departed, replace, recall, flush, put_done});
  // A request that joins comes behind the first store, and is served when this cache owns the line; requests before the
  // store take what comes, also when it was invalidated on its way, as they do in IS_I.
  table.on(kISStore, {load, bypass, store, store_line, atomic}, kMerge, kISStore)
      .on(kISStore, {fill}, kFetch, kIMAsked)
      .on(kISStore, {fill_own}, kInstall, kM)
      .on(kISStore, {fail}, 0, kI)
      .on(kISStore, {invalidate}, kAcknowledge, kISStore)
      .on(kISStore, {give_share, give_up}, kStall, kISStore)
      .never(kISStore, {departed, replace, recall, flush, put_done});
  table.on(kIMAsked, {load, bypass, store, store_line, atomic}, kMerge, kIMAsked)
      .on(kIMAsked, {departed}, 0, kIM)
      .on(kIMAsked, {invalidate}, kAcknowledge, kIMAsked)
      .never(kIMAsked, {fill, fill_own, fail, replace, recall, flush, give_share, give_up, put_done});
  table.on(kIM, {load, bypass, store, store_line, atomic}, kMerge, kIM)
      .on(kIM, {fill_own}, kInstall, kM)
      .on(kIM, {fail}, 0, kI)
      .on(kIM, {invalidate}, kAcknowledge, kIM)
      .on(kIM, {give_share, give_up}, kStall, kIM)
      .never(kIM, {departed, fill, replace, recall, flush, put_done});
  for (const LineState leaving : {kMI, kII}) {
    table.on(leaving, {load, bypass, store, store_line, atomic}, kWait, leaving)
        .on(leaving, {put_done}, 0, kI)
        .never(leaving, {departed, fill, fill_own, fail, replace, recall, flush, invalidate});
  }
  table.on(kMI, {give_share, give_up}, kGive, kII).never(kII, {give_share, give_up});
}

// The slice's lines, as the home reads and writes them (kTake is `store`).
TransitionTable slice_table() {
  using enum LineEvent;
  enum : LineState { kNotHere, kClean, kDirty, kAsked, kComing };
  TransitionTable table("mesi", "L2 slice",
                        {{"absent", LinePlace::absent},
                         {"clean", LinePlace::here},
                         {"dirty", LinePlace::here, true},
                         {"asked", LinePlace::asked},
                         {"coming", LinePlace::coming}});
  for (const LineState any : {kNotHere, kClean, kDirty, kAsked, kComing}) {
    table.never(any, {bypass, store_line, atomic, recall});
  }
  table.on(kNotHere, {load}, kFetch, kAsked).never(kNotHere, {store, departed, fill, fail, replace, flush});
  table.on(kClean, {load}, kAnswer, kClean)
      .on(kClean, {store}, kWrite, kDirty)
      .on(kClean, {replace}, 0, kNotHere)
      .on(kClean, {flush}, kDrop, kNotHere)
      .never(kClean, {departed, fill, fail});
  table.on(kDirty, {load}, kAnswer, kDirty)
      .on(kDirty, {store}, kWrite, kDirty)
      .on(kDirty, {replace}, kWriteBack, kNotHere)
      .on(kDirty, {flush}, kWriteBack | kDrop, kNotHere)
      .never(kDirty, {departed, fill, fail});
  table.on(kAsked, {load}, kMerge, kAsked)
      .on(kAsked, {departed}, 0, kComing)
      .never(kAsked, {store, fill, fail, replace, flush});
  table.on(kComing, {load}, kMerge, kComing)
      .on(kComing, {fill}, kInstall, kClean)
      .on(kComing, {fail}, 0, kNotHere)
      .never(kComing, {store, departed, replace, flush});
  return table.checked();
}

enum : HomeState { kU, kShared, kX, kReading, kInvalidating, kSharing, kTaking, kRecalling };

HomeTable home_table() {
  using enum HomeEvent;
  HomeTable table("mesi", {{"U"},
                           {"S"},
                           {"X"},
                           {"U_X", true},       // read for who will own it
                           {"S_U", true},       // copies go, for who will own it
                           {"X_S", true},       // the owner is to share it
                           {"X_U", true},       // the owner is to give it up, for who will own it
                           {"recall", true}});  // copies go, or the owner gives it up, for no other cache
  table.on(kU, {share, own}, kRead, kReading)
      .on(kU, {put_late}, kPutDone, kU)
      .on(kU, {recall}, 0, kU)
      .never(kU, {put, filled, failed, last_acked, kept, gone});
  table.on(kShared, {share}, kShare, kShared)
      .on(kShared, {own}, kInvalidate, kInvalidating)
      .on(kShared, {put_late}, kPutDone, kShared)
      .on(kShared, {recall}, kInvalidate, kRecalling)
      .never(kShared, {put, filled, failed, last_acked, kept, gone});
  table.on(kX, {share}, kAskOwner, kSharing)
      .on(kX, {own}, kTakeFromOwner, kTaking)
      .on(kX, {put}, kTake | kForget | kPutDone, kU)
      .on(kX, {put_late}, kPutDone, kX)
      .on(kX, {recall}, kTakeFromOwner, kRecalling)
      .never(kX, {filled, failed, last_acked, kept, gone});
  for (const HomeState busy : {kReading, kInvalidating, kSharing, kTaking, kRecalling}) {
    table.on(busy, {share, own, put_late, recall}, kHomeWait, busy);
  }
  table.on(kReading, {filled}, kOwner, kX).on(kReading, {failed}, 0, kU).never(kReading, {put, last_acked, kept, gone});
  table.on(kInvalidating, {last_acked}, kForget | kAgain, kU).never(kInvalidating, {put, filled, failed, kept, gone});
  table.on(kSharing, {put}, kHomeWait, kSharing)
      .on(kSharing, {kept}, kTake | kOwnerShares | kAgain, kShared)
      .on(kSharing, {gone}, kTake | kForget | kAgain, kU)
      .never(kSharing, {filled, failed, last_acked});
  table.on(kTaking, {put}, kHomeWait, kTaking)
      .on(kTaking, {gone}, kTake | kForget | kAgain, kU)
      .never(kTaking, {filled, failed, last_acked, kept});
  table.on(kRecalling, {put}, kHomeWait, kRecalling)
      .on(kRecalling, {last_acked}, kForget, kU)
      .on(kRecalling, {gone}, kTake | kForget, kU)
      .never(kRecalling, {filled, failed, kept});
  return table.checked();
}

class Mesi final : public CoherenceProtocol {
 public:
  static constexpr Traits traits{.coherent = true};
  explicit Mesi(const Setup&) {}

  [[nodiscard]] TransitionTable table(CacheRole role, Caching caching) const override {
    if (role == CacheRole::instruction) {  // instructions do not change
      return Registry<CoherenceProtocol>::instance().make("none", {})->table(role, caching);
    }
    if (caching != Caching::write_back) {
      throw InternalError("coherence protocol mesi: its data caches are write-back");
    }
    if (role == CacheRole::l2) {
      return slice_table();
    }
    TransitionTable table("mesi", "L1", line_states());
    add_stable_states(table);
    add_transient_states(table);
    return table.checked();
  }
  [[nodiscard]] std::optional<HomeTable> home() const override { return home_table(); }

  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    const auto refuse = [&found](const char* key, const std::string& why) {
      found.push_back({key, fmt::format("gpu.coherence = \"mesi\" {}", why)});
    };
    if (!machine.l1d.enabled) {
      refuse("l1d.enabled", "keeps L1 data caches coherent, and l1d.enabled is false; use gpu.coherence = \"none\"");
    }
    if (machine.l1d.write_policy != "write-back") {
      refuse("l1d.write_policy",
             fmt::format("has stores wait in the L1 that owns their line; l1d.write_policy (\"{}\") "
                         "must be \"write-back\"",
                         machine.l1d.write_policy));
    }
    if (!machine.l2.enabled) {
      refuse("l2.enabled", "has the slices of the L2 keep who has copies; set l2.enabled = true");
      return;
    }
    if (!machine.l2.inclusive) {
      refuse("l2.inclusive", "has the slices of the L2 keep who has copies; set l2.inclusive = true");
    }
    if (machine.l2.write_policy != "write-back") {
      refuse("l2.write_policy",
             fmt::format("gives lines that an L1 has changed to the L2; l2.write_policy (\"{}\") must "
                         "be \"write-back\"",
                         machine.l2.write_policy));
    }
    if (machine.l2.line_bytes != machine.l1d.line_bytes) {
      refuse("l2.line_bytes", fmt::format("keeps one owner of a line of the L2: l2.line_bytes ({}) must be "
                                          "l1d.line_bytes ({})",
                                          machine.l2.line_bytes, machine.l1d.line_bytes));
    }
    if (machine.gpu.cores > kMostCores) {
      refuse("gpu.cores", fmt::format("has a bit per core in its directory, for at most {} cores (gpu.cores is {})",
                                      kMostCores, machine.gpu.cores));
    }
  }

  static void cost(const CostShape& shape, CostLines& lines) {
    const L2Parameters& l2 = shape.machine.l2;
    const std::uint64_t frames = l2.bytes / l2.line_bytes;
    const std::uint64_t cores = shape.machine.gpu.cores;
    const std::uint64_t owner = std::bit_width(cores - 1);
    lines.add(CostLines::Kind::estimated, "directory of the L2, a core's part",
              fmt::format("l2.bytes / l2.line_bytes * (gpu.cores + owner {} + state 3 bits) / gpu.cores", owner),
              frames * (cores + owner + 3) / cores, "the model's own structures; states of docs/protocols.md");
    lines.add(CostLines::Kind::estimated, "lines on their way to their homes",
              "l1d.write_buffer * (l1d.line_bytes * 8 + address 32 + state 2 bits)",
              std::uint64_t{shape.machine.l1d.write_buffer} * (shape.machine.l1d.line_bytes * 8ULL + 32 + 2),
              "the model's own structures");
  }

 private:
  static constexpr unsigned kMostCores = 64;
};

}  // namespace mesi

const Register<CoherenceProtocol, mesi::Mesi> mesi_entry{
    "mesi", "directory MESI: the slices of an inclusive L2 know who has copies and who owns a line"};

}  // namespace

}  // namespace heddle::hw
