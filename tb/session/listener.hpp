// A socket at which programs come to a run that is theirs.
#pragma once

#include <sys/types.h>

#include "cuda/cudart/device_address.hpp"

namespace heddle::tb::session {

class Listener {
 public:
  Listener() = default;
  // At a path; number() is -1 where no socket can be made, and errno says why.
  explicit Listener(const char* path);
  // At the name of this process in the abstract namespace. Without it, who looks there finds nothing.
  explicit Listener(cudart::Coming coming);
  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) noexcept;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] int number() const { return number_; }
  // Who waits and is a process that `welcome` takes; others are turned away. -1: there is none.
  template <class Welcome>
  [[nodiscard]] int accept(Welcome welcome) const {
    for (int one = next(); one >= 0; one = next()) {
      if (welcome(cudart::peer_of(one))) return one;
      ::close(one);
    }
    return -1;
  }

 private:
  void listen(const cudart::DeviceAddress& address);
  [[nodiscard]] int next() const;
  int number_ = -1;
};

}  // namespace heddle::tb::session
