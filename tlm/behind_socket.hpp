// The module behind an initiator socket, where the socket is bound directly to a module of a known class.
//
// A call through a socket is a virtual one into the module's base class; between stages that are advanced in every
// cycle that is much of what they do. Who knows what class the module has asks for it once, and calls it:
//
//   if (Target* const target = behind_.of(socket)) {
//     target->take(payload);                  // what its nb_transport_fw would do
//   } else {
//     socket->nb_transport_fw(payload, ...);  // a tap, a test's stub, a model from elsewhere
//   }
//
// The sockets stay what modules are joined by: whatever else is bound there is heard as ever.
#pragma once

namespace heddle::link {

template <class Module>
class BehindSocket {
 public:
  // Null: it is no Module. From the end of elaboration on, when bindings do not change any more.
  template <class Socket>
  [[nodiscard]] Module* of(Socket& socket) {
    if (!looked_) [[unlikely]] {
      looked_ = true;
      module_ = dynamic_cast<Module*>(socket.operator->());
    }
    return module_;
  }

 private:
  Module* module_ = nullptr;
  bool looked_ = false;
};

}  // namespace heddle::link
