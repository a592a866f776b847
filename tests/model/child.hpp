// A run in a process of its own: SystemC elaborates once per process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string>

namespace heddle::test {

// What `make_text()` returns in a child; "refused: " and the message when it throws.
template <class MakeText>
[[nodiscard]] std::string in_child(MakeText make_text) {
  int ends[2];
  if (pipe(ends) != 0) {
    return "no pipe";
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string text;
    try {
      text = make_text();
    } catch (const std::exception& error) {
      text = std::string("refused: ") + error.what();
    }
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = write(ends[1], text.data() + sent, text.size() - sent);
      if (count <= 0) {
        break;
      }
      sent += static_cast<std::size_t>(count);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : "the child died";
}

}  // namespace heddle::test
