#include "os/files/noted_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

namespace heddle::os {
namespace {

struct Noted {
  std::array<char, PATH_MAX> path{};
  std::atomic<bool> used{false};  // set when the path is whole
};
static_assert(std::atomic<bool>::is_always_lock_free, "read by a signal handler");

constexpr std::size_t kMost = 32;  // a command has a handful at a time
std::array<Noted, kMost> noted;

}  // namespace

void note_file(const std::string& path) {
  for (Noted& one : noted) {
    if (!one.used && path.size() < one.path.size()) {
      std::memcpy(one.path.data(), path.c_str(), path.size() + 1);
      one.used = true;
      return;
    }
  }
}

void forget_file(const std::string& path) {
  for (Noted& one : noted) {
    if (one.used && path == one.path.data()) {
      one.used = false;
    }
  }
}

void remove_noted_files() {
  for (const Noted& one : noted) {
    if (one.used) {
      ::unlink(one.path.data());
    }
  }
}

}  // namespace heddle::os
