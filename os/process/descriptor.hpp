// File descriptors that close themselves, and whole texts through them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace heddle::os {

// One open descriptor, or none (-1).
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_;
};

// For a call of the system that has given none; `what` was to be made: "a pipe". Throws InputError at a limit of the
// host's, else InternalError.
[[noreturn]] void no_descriptor(const char* what);

// Neither end is passed on to another program. Throws as no_descriptor does.
struct Pipe {
  Descriptor reads;
  Descriptor writes;
};
[[nodiscard]] Pipe make_pipe();

// A file without a place in any folder; `name` shows in /proc only. Throws as no_descriptor does.
[[nodiscard]] Descriptor memory_file(const char* name);

// All of it, however often a signal comes in between. False: the system took no more (errno says why).
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes);
// Up to the end. Of a pipe: until every writer has closed it.
[[nodiscard]] std::string read_all(int descriptor);
// The whole file, wherever its writers have left its position.
[[nodiscard]] std::string file_text(int descriptor);

}  // namespace heddle::os
