// The requests that wait in a DRAM controller, in order of arrival, all of them and by bank. Entries are
// pooled and linked through each other, so that a scheduler may take one from the middle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hw/map/address_map.hpp"
#include "tlm/cycle.hpp"

namespace tlm {
class tlm_generic_payload;
}
namespace heddle::link {
struct MemoryExtension;
}

namespace heddle::hw {

using link::Cycle;
using link::kNever;

struct DramRequest {
  ::tlm::tlm_generic_payload* payload = nullptr;
  const link::MemoryExtension* extension = nullptr;  // none: a request from elsewhere
  DramLocation location;
  bool write = false;
  bool atomic = false;
  bool row_hint = false;         // row-buffer hint bit (thesis 7.2)
  bool row_hit = false;          // decided when it starts
  bool row_empty = false;        // no row of its bank was open then
  Cycle begin = 0;               // cycle of its first step
  Cycle arrival = 0;             // cycle in which the controller has it
  Cycle data = 0;                // cycle in which its data is complete; known when it starts
  unsigned slots = 1;            // bus slots that it occupies
  unsigned bytes = 0;            // that a slot moves, whole sectors and bursts; 0: the line
  std::uint64_t serial = 0;      // of this controller's requests; tells a reused entry from the one remembered
  bool waiting = false;          // it is in the queue
  bool first_step = true;        // no step was taken for it yet
  bool urgent = false;           // a younger request to its line waits for it
  std::uint32_t warp = ~0U;      // the scheduler's own: place of its warp among the warps that wait; none
  unsigned warp_misses = 0;      // the scheduler's own, for waves: waiting misses of its warp when it was chosen, or 0
  bool committed = false;        // its row was opened for it, or part of it has been transferred (write drain only)
  unsigned bursts = 0;           // JEDEC: column commands done
  DramRequest* after = nullptr;  // must start first: an older request to its line (hw/dram/write_drain.hpp)
  std::uint64_t after_serial = 0;
  DramRequest* previous = nullptr;
  DramRequest* next = nullptr;
  DramRequest* previous_of_bank = nullptr;
  DramRequest* next_of_bank = nullptr;
};

class RequestQueue {
 public:
  class Iterator {
   public:
    explicit Iterator(DramRequest* at) : at_(at) {}
    DramRequest& operator*() const { return *at_; }
    DramRequest* operator->() const { return at_; }
    Iterator& operator++() {
      at_ = at_->next;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    DramRequest* at_;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] Iterator end() const { return Iterator(nullptr); }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] DramRequest& front() const { return *first_; }

  // The banks that requests wait for, in no particular order; each with its requests, linked by next_of_bank.
  struct Bank {
    DramRequest* first = nullptr;
    DramRequest* last = nullptr;
    std::size_t place = 0;  // in the list of banks
  };
  [[nodiscard]] const std::vector<unsigned>& banks() const { return waited_for_; }
  // Of a bank that some request has waited for.
  [[nodiscard]] const Bank& bank(unsigned index) const { return banks_[index]; }
  // The youngest of a bank; none: null.
  [[nodiscard]] DramRequest* last_of(unsigned bank) const { return bank < banks_.size() ? banks_[bank].last : nullptr; }

  void push_back(DramRequest& request) {
    request.waiting = true;
    request.previous = last_;
    request.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &request;
    last_ = &request;
    ++size_;
    join(request);
  }
  void erase(DramRequest& request) {
    request.waiting = false;
    (request.previous != nullptr ? request.previous->next : first_) = request.next;
    (request.next != nullptr ? request.next->previous : last_) = request.previous;
    --size_;
    leave(request);
  }

 private:
  void join(DramRequest& request) {
    const unsigned index = request.location.bank;
    if (index >= banks_.size()) {
      banks_.resize(index + 1);
    }
    Bank& bank = banks_[index];
    if (bank.first == nullptr) {
      bank.place = waited_for_.size();
      waited_for_.push_back(index);
    }
    request.previous_of_bank = bank.last;
    request.next_of_bank = nullptr;
    (bank.last != nullptr ? bank.last->next_of_bank : bank.first) = &request;
    bank.last = &request;
  }
  void leave(DramRequest& request) {
    Bank& bank = banks_[request.location.bank];
    (request.previous_of_bank != nullptr ? request.previous_of_bank->next_of_bank : bank.first) = request.next_of_bank;
    (request.next_of_bank != nullptr ? request.next_of_bank->previous_of_bank : bank.last) = request.previous_of_bank;
    if (bank.first == nullptr) {
      banks_[waited_for_.back()].place = bank.place;
      waited_for_[bank.place] = waited_for_.back();
      waited_for_.pop_back();
    }
  }

  std::vector<Bank> banks_;
  std::vector<unsigned> waited_for_;
  DramRequest* first_ = nullptr;
  DramRequest* last_ = nullptr;
  std::size_t size_ = 0;
};

// Storage of requests, reused.
class RequestPool {
 public:
  [[nodiscard]] DramRequest& acquire() {
    if (free_.empty()) {
      made_.push_back(std::make_unique<DramRequest>());
      free_.push_back(made_.back().get());
    }
    DramRequest& request = *free_.back();
    free_.pop_back();
    request = DramRequest{};
    request.serial = ++serial_;
    return request;
  }
  void release(DramRequest& request) {
    request.serial = 0;
    free_.push_back(&request);
  }

 private:
  std::vector<std::unique_ptr<DramRequest>> made_;
  std::vector<DramRequest*> free_;
  std::uint64_t serial_ = 0;
};

}  // namespace heddle::hw
