// Long: one class: a model of caches and home, whose events call each other.
#include "protocol_search.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::hw::test {

namespace {

constexpr unsigned kCaches = 3;
constexpr unsigned kLines = 2;
constexpr std::uint8_t kNobody = 0xff;

enum Request : std::uint8_t { kNoRequest, kShareRequest, kOwnRequest, kPutRequest };
enum Reply : std::uint8_t { kNoReply, kCopyReply, kOwnReply, kFailReply, kPutReply };
enum Probe : std::uint8_t { kNoProbe, kInvalidateProbe, kShareProbe, kUpProbe };

// All of it is bytes without gaps, so that states can be compared as such.
struct CacheLine {
  LineState state = kAbsent;
  std::uint8_t latest = 0;   // of the bytes here or leaving
  std::uint8_t changed = 0;  // the home lacks them
  std::uint8_t loads = 0;    // some load waits for the line
  std::uint8_t stores = 0;
  Probe stalled = kNoProbe;
  // Under way.
  Request request = kNoRequest;
  std::uint8_t request_latest = 0, request_data = 0;
  Reply reply = kNoReply;
  std::uint8_t reply_latest = 0;
  Probe probe = kNoProbe;
  std::uint8_t answer = 0;  // 1: acknowledged an invalidation; 2: of an owner
  std::uint8_t answer_latest = 0, answer_data = 0, answer_keeps = 0;
};

struct Waiting {
  std::uint8_t cache = kNobody;
  Request request = kNoRequest;
  std::uint8_t latest = 0, data = 0;
};

struct HomeLine {
  HomeState state = kNoCopies;
  std::uint8_t latest = 1;
  std::uint8_t owner = kNobody;
  std::uint8_t sharers = 0;
  std::uint8_t awaited = 0;
  Waiting present;
  std::array<Waiting, kCaches> waiting;  // the first is next
};

struct State {
  std::array<std::array<CacheLine, kLines>, kCaches> cache{};
  std::array<HomeLine, kLines> home{};
};
static_assert(std::has_unique_object_representations_v<State>);

std::string_view bytes_of(const State& state) {
  return {reinterpret_cast<const char*>(&state), sizeof state};
}

struct Hash {
  std::size_t operator()(const State& state) const { return std::hash<std::string_view>()(bytes_of(state)); }
};
struct Same {
  bool operator()(const State& a, const State& b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
};

class Found : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void expect(bool holds, const char* what) {
  if (!holds) {
    throw Found(what);
  }
}

class Searcher {
 public:
  Searcher(const TransitionTable& cache, const HomeTable& home, const SearchSystem& system)
      : cache_(cache), home_(home), system_(system) {}

  SearchResult run() {
    try {
      reach(State{});
      for (std::size_t index = 0; index != states_.size() && states_.size() < system_.most_states; ++index) {
        from_ = index;
        expand(*states_[index]);
      }
      expect(states_.size() < system_.most_states, "more states than the search has room for");
      check_ends();
    } catch (const std::exception& error) {
      result_.problem = error.what();
    }
    result_.states = states_.size();
    return std::move(result_);
  }

 private:
  // ---- the graph
  std::uint32_t reach(const State& state) {
    const auto [place, is_new] = number_.try_emplace(state, static_cast<std::uint32_t>(states_.size()));
    if (is_new) {
      states_.push_back(&place->first);
      quiet_.push_back(is_quiet(state));
    }
    return place->second;
  }
  // A step that comes by itself; else it is a core's or the slice's wish.
  template <class Step>
  void step(const State& state, bool by_itself, Step&& take) {
    State next = state;
    if (!take(next)) {
      return;
    }
    check(next);
    const std::uint32_t number = reach(next);
    if (by_itself && number != from_) {
      edges_.emplace_back(static_cast<std::uint32_t>(from_), number);
    }
  }
  // From every state the system comes to rest when no cache wants anything new.
  void check_ends() {
    std::vector<std::uint32_t> begin(states_.size() + 1, 0);
    for (const auto& edge : edges_) {
      ++begin[edge.second];
    }
    for (std::size_t i = 1; i <= states_.size(); ++i) {
      begin[i] += begin[i - 1];
    }
    std::vector<std::uint32_t> into(edges_.size());
    for (const auto& edge : edges_) {
      into[--begin[edge.second]] = edge.first;
    }
    std::vector<bool> ends = quiet_;
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i != states_.size(); ++i) {
      if (ends[i]) {
        left.push_back(i);
      }
    }
    while (!left.empty()) {
      const std::uint32_t to = left.back();
      left.pop_back();
      for (std::uint32_t at = begin[to]; at != begin[to + 1]; ++at) {
        if (!ends[into[at]]) {
          ends[into[at]] = true;
          left.push_back(into[at]);
        }
      }
    }
    for (std::size_t i = 0; i != states_.size(); ++i) {
      expect(ends[i], "deadlock");
    }
  }

  bool is_quiet(const State& state) const {
    for (unsigned line = 0; line != system_.lines; ++line) {
      if (home_.info(state.home[line].state).busy || state.home[line].waiting[0].cache != kNobody) {
        return false;
      }
      for (unsigned c = 0; c != system_.caches; ++c) {
        const CacheLine& at = state.cache[c][line];
        const LinePlace place = cache_.info(at.state).place;
        if ((place != LinePlace::absent && place != LinePlace::here) || at.stalled || at.request || at.reply ||
            at.probe || at.answer) {
          return false;
        }
      }
    }
    return true;
  }

  void check(const State& state) const {
    for (unsigned line = 0; line != system_.lines; ++line) {
      unsigned here = 0;
      bool owned = false;
      for (unsigned c = 0; c != system_.caches; ++c) {
        const LineState at = state.cache[c][line].state;
        if (cache_.info(at).place == LinePlace::here) {
          ++here;
          owned = owned || cache_.can_happen(at, LineEvent::give_up);
        }
      }
      expect(!owned || here == 1, "an owner, and another one that has a copy");
    }
  }

  const Transition& row(LineState state, LineEvent event) {
    const Transition& transition = cache_.at(state, event);
    result_.line_rows.emplace(state, event);
    return transition;
  }
  const HomeTransition& row(HomeState state, HomeEvent event) {
    const HomeTransition& transition = home_.at(state, event);
    result_.home_rows.emplace(state, event);
    return transition;
  }

  // ---- all steps from a state
  void expand(const State& state) {
    for (unsigned line = 0; line != system_.lines; ++line) {
      for (unsigned c = 0; c != system_.caches; ++c) {
        const CacheLine& at = state.cache[c][line];
        for (const LineEvent event :
             {LineEvent::load, LineEvent::bypass, LineEvent::store, LineEvent::store_line, LineEvent::atomic}) {
          if (!as_another(at.state, event)) {
            step(state, false, [&](State& next) { return ask(next, c, line, event); });
          }
        }
        if (cache_.info(at.state).place == LinePlace::here) {
          step(state, false, [&](State& next) { return evict(next, c, line, LineEvent::replace); });
          if (row(at.state, LineEvent::flush).next != row(at.state, LineEvent::replace).next) {
            step(state, false, [&](State& next) { return evict(next, c, line, LineEvent::flush); });
          }
        }
        if (cache_.info(at.state).place == LinePlace::asked) {
          step(state, true, [&](State& next) { return depart(next, c, line); });
        }
        if (at.request != kNoRequest && places(state) < system_.queue) {
          step(state, true, [&](State& next) { return arrive(next, c, line, true); });
          step(state, true, [&](State& next) { return arrive(next, c, line, false); });
        }
        if (at.reply != kNoReply) {
          step(state, true, [&](State& next) { return reply(next, c, line); });
        }
        if (at.probe != kNoProbe) {
          step(state, true, [&](State& next) {
            const Probe probe = std::exchange(next.cache[c][line].probe, kNoProbe);
            return obey(next, c, line, probe);
          });
        }
        if (at.answer != 0) {
          step(state, true, [&](State& next) { return hear(next, c, line); });
        }
      }
      const HomeLine& home = state.home[line];
      if (!home_.info(home.state).busy && home.waiting[0].cache != kNobody) {
        for (const bool hit : {true, false}) {
          step(state, true, [&](State& next) { return resume(next, line, hit); });
        }
      }
      if (home_.can_happen(home.state, HomeEvent::filled)) {
        step(state, true, [&](State& next) { return filled(next, line, HomeEvent::filled); });
        if (system_.failures) {
          step(state, true, [&](State& next) { return filled(next, line, HomeEvent::failed); });
        }
      }
      if (system_.recalls && home.waiting[0].cache == kNobody) {
        step(state, false, [&](State& next) {
          change(next, line, HomeEvent::recall, nullptr, {});
          return true;
        });
      }
    }
  }

  // Another event has the same effect: the row of `event` is looked up, and leads nowhere else.
  bool as_another(LineState state, LineEvent event) {
    const Transition& transition = row(state, event);
    LineEvent other = LineEvent::store;
    if (event == LineEvent::bypass) {
      other = LineEvent::load;
    } else if (event == LineEvent::load || event == LineEvent::store) {
      return false;
    }
    const auto actions = [](const Transition& one) { return one.actions & ~(one.does(kStep) ? kStep : kWrite); };
    const Transition& same = cache_.at(state, other);
    return same.next == transition.next && actions(same) == actions(transition);
  }

  // Of the home's queue, requests that the home is busy with or that wait.
  unsigned places(const State& state) const {
    unsigned used = 0;
    for (unsigned line = 0; line != system_.lines; ++line) {
      const HomeLine& home = state.home[line];
      used += home.present.cache != kNobody && !home_.can_happen(home.state, HomeEvent::filled) ? 1 : 0;
      for (const Waiting& waiting : home.waiting) {
        used += waiting.cache != kNobody ? 1 : 0;
      }
    }
    return used;
  }

  // ---- caches
  static void written(State& state, unsigned c, unsigned line) {
    for (auto& cache : state.cache) {
      CacheLine& at = cache[line];
      at.latest = at.request_latest = at.reply_latest = at.answer_latest = 0;
    }
    HomeLine& home = state.home[line];
    home.latest = home.present.latest = 0;
    for (Waiting& waiting : home.waiting) {
      waiting.latest = 0;
    }
    state.cache[c][line].latest = 1;
    state.cache[c][line].changed = 1;
  }

  bool ask(State& state, unsigned c, unsigned line, LineEvent event) {
    CacheLine& at = state.cache[c][line];
    const Transition& transition = row(at.state, event);
    const bool load = event == LineEvent::load || event == LineEvent::bypass;
    if (transition.does(kWait)) {
      return false;
    }
    if (transition.does(kFetch)) {
      unsigned mshrs = 0;
      unsigned puts = 0;
      for (unsigned other = 0; other != system_.lines; ++other) {
        const LinePlace place = cache_.info(state.cache[c][other].state).place;
        mshrs += place == LinePlace::asked || place == LinePlace::coming ? 1 : 0;
        puts += place == LinePlace::leaving ? 1 : 0;
      }
      if (mshrs == system_.mshrs || puts >= system_.puts) {
        return false;
      }
    }
    if (transition.does(kAnswer)) {
      expect(at.latest != 0, "a load of an old value");
    }
    // Behind a store for which the line is asked for again, it is the next reply's.
    const bool again =
        cache_.can_happen(at.state, LineEvent::fill) && cache_.at(at.state, LineEvent::fill).does(kFetch);
    if (transition.does(kMerge) && load && !again && at.reply != kNoReply && at.reply != kFailReply) {
      expect(at.reply_latest != 0, "a load joined a line that was old");
    }
    if (transition.does(kDrop)) {
      at.latest = at.changed = 0;
    }
    if (transition.does(kMerge | kFetch)) {
      (load ? at.loads : at.stores) = 1;
    }
    at.state = transition.next;
    if (transition.does(kWrite | kStep)) {
      expect(at.latest != 0, "a store or atomic on an old value");
      check(state);
      written(state, c, line);
    }
    return true;
  }

  bool evict(State& state, unsigned c, unsigned line, LineEvent event) {
    CacheLine& at = state.cache[c][line];
    const Transition& transition = row(at.state, event);
    if (transition.does(kPut)) {
      expect(at.request == kNoRequest, "two requests of one line");
      at.request = kPutRequest;
      at.request_data = at.changed;
      at.request_latest = at.latest;
    } else {
      at.latest = at.changed = 0;
    }
    at.state = transition.next;
    return true;
  }

  bool depart(State& state, unsigned c, unsigned line) {
    CacheLine& at = state.cache[c][line];
    at.state = row(at.state, LineEvent::departed).next;
    expect(at.request == kNoRequest, "two requests of one line");
    at.request = cache_.info(at.state).own ? kOwnRequest : kShareRequest;
    return true;
  }

  bool reply(State& state, unsigned c, unsigned line) {
    CacheLine& at = state.cache[c][line];
    const Reply reply = std::exchange(at.reply, kNoReply);
    const std::uint8_t latest = std::exchange(at.reply_latest, std::uint8_t{0});
    if (reply == kPutReply) {
      at.state = row(at.state, LineEvent::put_done).next;
      at.latest = at.changed = 0;
      return true;
    }
    const Transition& transition = row(at.state, reply == kFailReply  ? LineEvent::fail
                                                 : reply == kOwnReply ? LineEvent::fill_own
                                                                      : LineEvent::fill);
    at.state = transition.next;
    const bool stores = at.stores != 0;
    at.loads = at.stores = 0;
    if (transition.does(kInstall)) {
      expect(latest != 0, "an old line is kept");
      at.latest = 1;
      check(state);
      if (stores) {
        written(state, c, line);
      }
    } else if (transition.does(kFetch)) {
      expect(stores, "a line is asked for again for nobody");
      at.stores = 1;
    } else {
      expect(!stores || reply == kFailReply, "a store is lost");
    }
    const Probe stalled = std::exchange(at.stalled, kNoProbe);
    return stalled == kNoProbe || obey(state, c, line, stalled);
  }

  bool obey(State& state, unsigned c, unsigned line, Probe probe) {
    CacheLine& at = state.cache[c][line];
    const Transition& transition = row(at.state, probe == kInvalidateProbe ? LineEvent::invalidate
                                                 : probe == kShareProbe    ? LineEvent::give_share
                                                                           : LineEvent::give_up);
    if (transition.does(kStall)) {
      at.stalled = probe;
      return true;
    }
    expect(transition.does(kGive | kAcknowledge), "a home's message is not answered");
    expect(at.answer == 0, "two answers of one line");
    at.answer = probe == kInvalidateProbe ? 1 : 2;
    at.answer_keeps = cache_.info(transition.next).place == LinePlace::here ? 1 : 0;
    if (transition.does(kGive)) {
      at.answer_data = at.changed;
      at.answer_latest = at.latest;
      at.changed = 0;
    }
    if (transition.does(kDrop)) {
      at.latest = at.changed = 0;
    }
    at.state = transition.next;
    return true;
  }

  // ---- the home
  HomeEvent event_of(const HomeLine& home, const Waiting& request) const {
    return request.request == kShareRequest ? HomeEvent::share
           : request.request == kOwnRequest ? HomeEvent::own
           : home.owner == request.cache    ? HomeEvent::put
                                            : HomeEvent::put_late;
  }

  bool arrive(State& state, unsigned c, unsigned line, bool hit) {
    CacheLine& at = state.cache[c][line];
    HomeLine& home = state.home[line];
    const Waiting request{static_cast<std::uint8_t>(c), at.request, at.request_latest, at.request_data};
    at.request = kNoRequest;
    at.request_latest = at.request_data = 0;
    const HomeTransition& transition = row(home.state, event_of(home, request));
    if (home.waiting[0].cache != kNobody || transition.does(kHomeWait)) {
      push(home, request, false);
      return hit;
    }
    return look(state, line, request, hit);
  }

  static void push(HomeLine& home, const Waiting& request, bool first) {
    expect(home.waiting.back().cache == kNobody, "more requests of one line than caches");
    std::size_t place = home.waiting.size() - 1;
    for (; place != 0 && (first || home.waiting[place - 1].cache == kNobody); --place) {
      home.waiting[place] = home.waiting[place - 1];
    }
    home.waiting[place] = request;
  }

  bool resume(State& state, unsigned line, bool hit) {
    HomeLine& home = state.home[line];
    const Waiting request = home.waiting[0];
    for (std::size_t i = 0; i + 1 != home.waiting.size(); ++i) {
      home.waiting[i] = home.waiting[i + 1];
    }
    home.waiting.back() = Waiting{};
    return look(state, line, request, hit);
  }

  // False: what is not a read does not hit.
  bool look(State& state, unsigned line, const Waiting& request, bool hit) {
    HomeLine& home = state.home[line];
    const HomeEvent event = event_of(home, request);
    const bool reads = home_.at(home.state, event).does(kRead);
    if (!reads && !hit) {
      return false;
    }
    change(state, line, event, &request, request);
    return reads && hit ? filled(state, line, HomeEvent::filled) : true;
  }

  bool filled(State& state, unsigned line, HomeEvent event) {
    const Waiting request = state.home[line].present;
    change(state, line, event, &request, {});
    answer(state, request.cache, line, event == HomeEvent::failed ? kFailReply : kOwnReply);
    return true;
  }

  void answer(State& state, unsigned c, unsigned line, Reply reply) {
    CacheLine& at = state.cache[c][line];
    expect(at.reply == kNoReply, "two replies of one line");
    at.reply = reply;
    if (reply == kCopyReply || reply == kOwnReply) {
      expect(state.home[line].latest != 0, "the home gives an old value");
      at.reply_latest = 1;
    }
  }

  bool hear(State& state, unsigned c, unsigned line) {
    CacheLine& at = state.cache[c][line];
    HomeLine& home = state.home[line];
    const Waiting came{static_cast<std::uint8_t>(c), kNoRequest, at.answer_latest, at.answer_data};
    const bool acknowledged = at.answer == 1;
    const bool keeps = at.answer_keeps != 0;
    at.answer = at.answer_latest = at.answer_data = at.answer_keeps = 0;
    expect(home.awaited != 0, "an answer that nobody waits for");
    --home.awaited;
    const Waiting present = home.present;
    if (!acknowledged) {
      change(state, line, keeps ? HomeEvent::kept : HomeEvent::gone, &present, came);
    } else if (home.awaited == 0) {
      change(state, line, HomeEvent::last_acked, &present, {});
    }
    return true;
  }

  void tell(State& state, unsigned line, unsigned c, Probe probe) {
    CacheLine& at = state.cache[c][line];
    expect(at.probe == kNoProbe && at.stalled == kNoProbe && at.answer == 0, "two messages of one line");
    at.probe = probe;
    ++state.home[line].awaited;
  }

  // `request`: null for a recall; `bytes`: that came with the event.
  void change(State& state, unsigned line, HomeEvent event, const Waiting* request, const Waiting& bytes) {
    HomeLine& home = state.home[line];
    const HomeTransition& transition = row(home.state, event);
    if (transition.does(kHomeWait)) {
      return;
    }
    const bool was_busy = home_.info(home.state).busy;
    const Waiting asking = request != nullptr ? *request : Waiting{};
    if (transition.does(kTake) && bytes.data != 0) {
      home.latest = bytes.latest;
    }
    if (transition.does(kAskOwner | kTakeFromOwner)) {
      expect(home.owner != kNobody && home.owner != asking.cache, "the owner asks for its line");
      tell(state, line, home.owner, transition.does(kAskOwner) ? kShareProbe : kUpProbe);
    }
    unsigned told = 0;
    for (unsigned c = 0; c != system_.caches && transition.does(kInvalidate); ++c) {
      if (((home.sharers >> c) & 1U) != 0 && c != asking.cache) {
        tell(state, line, c, kInvalidateProbe);
        ++told;
      }
    }
    if (transition.does(kForget)) {
      home.sharers = 0;
      home.owner = kNobody;
    }
    if (transition.does(kOwnerShares)) {
      home.sharers = static_cast<std::uint8_t>(1U << home.owner);
      home.owner = kNobody;
    }
    if (transition.does(kShare)) {
      home.sharers = static_cast<std::uint8_t>(home.sharers | (1U << asking.cache));
      answer(state, asking.cache, line, kCopyReply);
    }
    if (transition.does(kOwner)) {
      home.owner = asking.cache;
    }
    if (transition.does(kPutDone)) {
      answer(state, asking.cache, line, kPutReply);
    }
    const Waiting present = home.present;
    const bool is_busy = home_.info(transition.next).busy;
    home.present = !is_busy ? Waiting{} : was_busy ? present : asking;
    home.state = transition.next;
    if (transition.does(kAgain)) {
      push(home, present, true);
    }
    if (transition.does(kInvalidate) && told == 0) {
      const Waiting again = home.present;
      change(state, line, HomeEvent::last_acked, &again, {});
    }
  }

  const TransitionTable& cache_;
  const HomeTable& home_;
  const SearchSystem system_;
  SearchResult result_;
  std::unordered_map<State, std::uint32_t, Hash, Same> number_;
  std::vector<const State*> states_;
  std::vector<bool> quiet_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::size_t from_ = 0;
};

}  // namespace

SearchResult search(const TransitionTable& cache, const HomeTable& home, const SearchSystem& system) {
  return Searcher(cache, home, system).run();
}

}  // namespace heddle::hw::test
