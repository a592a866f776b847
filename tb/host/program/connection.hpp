// The simulator's end of the socket to a CUDA program (tb/cudart/protocol.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tb/cudart/protocol.hpp"

namespace heddle::tb::program {

class Connection {
 public:
  // Takes the descriptor over. While `interrupted` (may be null) is set, waiting for the program throws RunStopped.
  Connection(int socket, const std::atomic<bool>* interrupted) : socket_(socket), interrupted_(interrupted) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The next question and the bytes behind it. False: the program has ended.
  [[nodiscard]] bool next(Question& question, std::vector<std::byte>& bytes);
  // What the program asks from now on ends it.
  void close();
  // A program that has ended does not hear it.
  void answer(Answer answer, std::span<const std::byte> bytes = {}, std::string_view text = {});

 private:
  [[nodiscard]] bool receive(void* data, std::size_t size);
  [[nodiscard]] bool send(const void* data, std::size_t size);

  int socket_;
  const std::atomic<bool>* interrupted_;
};

}  // namespace heddle::tb::program
