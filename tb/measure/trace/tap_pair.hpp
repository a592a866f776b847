// Two taps in a row on one connection.
#pragma once

#include <memory>
#include <utility>

#include "tlm/channel_tap.hpp"

namespace heddle::tb {

class TapPair final : public link::Tap {
 public:
  // `first` is nearer to the connection's initiator.
  TapPair(const sc_core::sc_module_name& name, std::unique_ptr<link::Tap> first, std::unique_ptr<link::Tap> second)
      : link::Tap(name), first_(std::move(first)), second_(std::move(second)) {
    first_->initiator_end().bind(second_->target_end());
  }
  [[nodiscard]] ::tlm::tlm_target_socket<>& target_end() override { return first_->target_end(); }
  [[nodiscard]] ::tlm::tlm_initiator_socket<>& initiator_end() override { return second_->initiator_end(); }

 private:
  std::unique_ptr<link::Tap> first_;
  std::unique_ptr<link::Tap> second_;
};

}  // namespace heddle::tb
