// Host threads that do the parts of a job together, again and again: the turns of a calendar's cycle, say. No SystemC.
//
//   TurnTeam(members, work)   work(m), 0 <= m < members, is one part; members - 1 threads are started
//   run()                     every part is done once, part 0 by the caller; returns when all are over
//
// What the caller has written before run() every part sees, and the caller sees what the parts have written when it
// returns: one hand-over by an atomic word per part in each direction, and nothing else that is shared.
//
// A part that its thread has not begun when the caller's own is over is done by the caller: a thread that sleeps, or
// that the host has given no processor, delays no other. Threads wait for the next job spinning, some microseconds, and
// then asleep. Which thread does a part is up to the host, so it must not matter.
//
// `work` must not throw. All signals are blocked in the threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace heddle::link {

class TurnTeam {
 public:
  // InputError: the host does not let the process have so many threads.
  TurnTeam(unsigned members, std::function<void(unsigned member)> work);
  ~TurnTeam();
  TurnTeam(const TurnTeam&) = delete;
  TurnTeam& operator=(const TurnTeam&) = delete;

  void run();

 private:
  // What becomes of a part, in this order; the caller and the part's thread change it.
  enum State : std::uint32_t {
    idle,      // nothing to do; the thread spins
    asleep,    // likewise; it is to be woken
    offered,   // by the caller; whoever comes first does it
    running,   // in its thread
    awaited,   // likewise, and the caller sleeps until it is over
    stopping,  // the thread is to end
  };
  static constexpr std::size_t kHostLine = 64;
  struct alignas(kHostLine) Member {
    std::atomic<std::uint32_t> state{idle};
    std::thread thread;
  };
  void stop();
  void serve(Member& member, unsigned number);
  static void offer(Member& member);
  [[nodiscard]] static bool take_back(Member& member);
  static void join(Member& member);

  const std::function<void(unsigned)> work_;
  std::vector<std::unique_ptr<Member>> members_;  // without the caller: member m is members_[m - 1]
};

}  // namespace heddle::link
