#include "tlm/calendar/turn_team.hpp"

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace heddle::link {

namespace {

// Some hundreds of microseconds: longer than a part of a large machine takes whose cores run on, shorter than a
// scheduler's time slice. To wake a thread that sleeps takes about as long as such a part.
constexpr unsigned kSpins = 8000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

TurnTeam::TurnTeam(unsigned members, std::function<void(unsigned)> work) : work_(std::move(work)) {
  // Signals are for the thread that runs the simulation.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (unsigned number = 1; number < members; ++number) {
      members_.push_back(std::make_unique<Member>());
      members_.back()->thread = std::thread([this, number, &member = *members_.back()] { serve(member, number); });
    }
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    stop();
    throw InputError({}, "this process cannot have " + std::to_string(members) + " host threads: " + error.what(),
                     "use fewer (--threads)");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TurnTeam::~TurnTeam() {
  stop();
}

void TurnTeam::stop() {
  for (const auto& member : members_) {
    member->state.store(stopping, std::memory_order_release);
    member->state.notify_one();
  }
  for (const auto& member : members_) {
    if (member->thread.joinable()) {
      member->thread.join();
    }
  }
}

void TurnTeam::run() {
  for (const auto& member : members_) {
    offer(*member);
  }
  work_(0);
  for (unsigned number = 1; number <= members_.size(); ++number) {
    if (take_back(*members_[number - 1])) {
      work_(number);
    }
  }
  for (const auto& member : members_) {
    join(*member);
  }
}

void TurnTeam::offer(Member& member) {
  if (member.state.exchange(offered, std::memory_order_acq_rel) == asleep) {
    member.state.notify_one();
  }
}

bool TurnTeam::take_back(Member& member) {
  std::uint32_t expected = offered;
  return member.state.compare_exchange_strong(expected, idle, std::memory_order_acq_rel);
}

void TurnTeam::join(Member& member) {
  const auto under_way = [&] { return member.state.load(std::memory_order_acquire) == running; };
  for (unsigned spin = 0; spin != kSpins && under_way(); ++spin) {
    relax();
  }
  std::uint32_t expected = running;
  if (member.state.compare_exchange_strong(expected, awaited, std::memory_order_acq_rel)) {
    member.state.wait(awaited, std::memory_order_acquire);
  }
}

void TurnTeam::serve(Member& member, unsigned number) {
  unsigned spins = 0;
  for (;;) {
    std::uint32_t state = member.state.load(std::memory_order_acquire);
    if (state == stopping) {
      return;
    }
    if (state == offered) {
      if (member.state.compare_exchange_strong(state, running, std::memory_order_acq_rel)) {
        work_(number);
        if (member.state.exchange(idle, std::memory_order_acq_rel) == awaited) {
          member.state.notify_one();
        }
        spins = 0;
      }
      continue;
    }
    if (++spins < kSpins) {
      relax();
      continue;
    }
    spins = 0;
    state = idle;
    if (member.state.compare_exchange_strong(state, asleep, std::memory_order_acq_rel)) {
      member.state.wait(asleep, std::memory_order_acquire);
    }
  }
}

}  // namespace heddle::link
