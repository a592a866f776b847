// Where a program finds its simulator when nothing in its environment says so: sockets in the abstract namespace
// (unix(7)), named by the simulator's process. At one of them a run's program comes for the first time, at the other it
// comes again when it has closed its connection; at the third none answers: that the socket is there says that a run is
// under way. Each end asks the system who the other one is.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace heddle::cudart {

enum class Coming { first, again, behind };

struct DeviceAddress {
  sockaddr_un address{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

inline DeviceAddress device_address(pid_t simulator, Coming coming) {
  DeviceAddress out;
  out.address.sun_family = AF_UNIX;
  const std::string name = "heddle-device-" + std::to_string(simulator) +
                           (coming == Coming::first   ? ""
                            : coming == Coming::again ? "-again"
                                                      : "-run");
  std::memcpy(out.address.sun_path + 1, name.data(), name.size());  // a zero in front: the abstract namespace
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

// The process at the other end of a connected socket, or the one that listens there; -1: not known.
inline pid_t peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 ? peer.pid : -1;
}

// 0: not known.
inline pid_t parent_of(pid_t process) {
  std::FILE* const file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "re");
  if (file == nullptr) return 0;
  char text[512] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* const name_end = static_cast<const char*>(::memrchr(text, ')', size));  // behind it: " STATE PARENT"
  return name_end == nullptr || std::strlen(name_end) < 5 ? 0 : std::atoi(name_end + 4);
}

// Whether a process descends from another one.
inline bool descends(pid_t process, pid_t from) {
  constexpr int kMost = 1000;  // generations
  for (int i = 0; i != kMost && process > 0; ++i, process = parent_of(process)) {
    if (process == from) return true;
  }
  return false;
}

}  // namespace heddle::cudart
