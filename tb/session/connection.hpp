// The simulator's end of the socket to a CUDA program (cuda/cudart/protocol.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cuda/cudart/protocol.hpp"
#include "cuda/cudart/socket_end.hpp"
#include "tb/session/listener.hpp"

namespace heddle::tb::session {

class Connection {
 public:
  // Takes the descriptor over. While `interrupted` (may be null) is set, waiting for the program throws RunStopped.
  Connection(int socket, const std::atomic<bool>* interrupted);

  // Where the program comes again when it has closed its connection; without it such a program has ended.
  void expect_again();
  // The next question and the bytes behind it. False: the program has ended. Throws InputError for what the program's
  // library has not sent, and where something of it was lost.
  [[nodiscard]] bool next(cudart::Question& question, std::vector<std::byte>& bytes);
  // What the program asks from now on ends it.
  void close() {
    again_ = Listener();
    socket_.heed(-1);
    socket_.close();
  }
  // `text` is for the user, `printed` by kernels. A program that has ended does not hear it.
  void answer(cudart::Answer answer, std::span<const std::byte> bytes = {}, std::string_view text = {},
              std::string_view printed = {});

  // In front of an answer (Call::share); -1: none.
  void send_descriptor(int descriptor) { static_cast<void>(socket_.send_descriptor(descriptor)); }

  // Copies from and into the program's own memory. False: the system does not let this process do so, or there is no
  // memory at the address.
  [[nodiscard]] bool fetch(std::uint64_t address, std::span<std::byte> into) const;
  [[nodiscard]] bool put(std::uint64_t address, std::span<std::byte> from) const;

 private:
  struct Newer {
    int socket;
  };
  [[nodiscard]] bool receive(void* data, std::size_t size);
  [[nodiscard]] bool receive_question(cudart::Question& question, std::vector<std::byte>& bytes);
  void look();
  [[nodiscard]] int again() const;
  [[nodiscard]] int wait_for_newer();
  void go_on_with(int socket);

  cudart::SocketEnd socket_;
  Listener again_;
  int process_ = -1;            // of the program
  std::uint64_t received_ = 0;  // questions
  const std::atomic<bool>* interrupted_;
};

}  // namespace heddle::tb::session
