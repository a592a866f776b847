// Miss status holding registers: which lines are on their way and who waits for each, in order. No timing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/coherence/transition_table.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/payload_pool.hpp"

namespace heddle::hw {

// One waiting request: a load to be answered, or a store to be merged into the line when it comes.
struct MissTarget {
  explicit MissTarget(link::LineRequest& waiting) : request(&waiting) {}
  explicit MissTarget(std::uint32_t buffer) : store(buffer) {}
  link::LineRequest* request = nullptr;  // loads and atomics
  std::uint32_t store = ~0U;             // stores: index of a store buffer
};

struct StoreBuffer {
  alignas(32) std::array<std::byte, link::kMaxLineBytes> data;
  alignas(32) std::array<std::uint8_t, link::kMaxLineBytes> enable;
};

// Sectors of a line, a bit each (hw/cache/cache_sectors.cpp).
using Sectors = std::uint8_t;

struct Mshr {
  std::uint64_t address = 0;
  bool used = false;
  bool open = false;          // further requests to the line may merge, and the line goes into the cache when it comes
  bool atomic = false;        // an atomic, not a line: never open
  bool drop = false;          // an inclusive L2 has given the line up: it goes on as soon as it has come
  LineState state = kAbsent;  // of the line, while it is open
  link::LinePayload* fetch = nullptr;  // its read
  std::uint32_t next = ~0U;
  std::vector<MissTarget> targets;
  // Of a cache whose lines have sectors: those that are on their way; those that were here when targets came that want
  // them; those that a target will change. The bytes that were here are in a buffer.
  Sectors sectors = 0;
  Sectors kept = 0;
  Sectors changes = 0;
  std::uint32_t buffer = ~0U;
  [[nodiscard]] Sectors covers() const { return sectors | kept; }
};

class MissFile {
 public:
  MissFile(unsigned entries, unsigned targets, unsigned line_bytes);

  static constexpr std::uint32_t kNone = ~0U;
  [[nodiscard]] bool full() const { return free_.empty(); }
  [[nodiscard]] bool empty() const { return used_ == 0; }
  [[nodiscard]] unsigned used() const { return used_; }
  // The open entry of a line, or kNone.
  [[nodiscard]] std::uint32_t find(std::uint64_t address) const { return from(buckets_[bucket(address)], address); }
  // Another open entry of that one's line, or kNone. Lines with sectors may have several.
  [[nodiscard]] std::uint32_t another(std::uint32_t index) const {
    return from(entries_[index].next, entries_[index].address);
  }
  [[nodiscard]] Mshr& operator[](std::uint32_t index) { return entries_[index]; }
  [[nodiscard]] const Mshr& operator[](std::uint32_t index) const { return entries_[index]; }

  // A new entry; open entries are found by address. Must not be full.
  [[nodiscard]] std::uint32_t allocate(std::uint64_t address, bool open);
  void close(std::uint32_t index);
  void close_all();
  void release(std::uint32_t index);

  [[nodiscard]] bool can_add_load(std::uint32_t index) const { return entries_[index].targets.size() < targets_; }
  void add_load(std::uint32_t index, link::LineRequest& request);
  // A store joins the buffer of a store directly before it; otherwise it takes a target of its own.
  [[nodiscard]] bool can_add_store(std::uint32_t index) const;
  // True: the store has taken a target of its own.
  bool add_store(std::uint32_t index, const std::byte* data, const std::uint8_t* enable);
  [[nodiscard]] const StoreBuffer& store(std::uint32_t buffer) const { return stores_[buffer]; }
  // Bytes that were here, none at first; stays with the entry.
  [[nodiscard]] StoreBuffer& bytes_here(std::uint32_t index);

 private:
  [[nodiscard]] std::uint32_t from(std::uint32_t index, std::uint64_t address) const;
  [[nodiscard]] std::uint32_t take_buffer();
  [[nodiscard]] std::size_t bucket(std::uint64_t address) const;

  unsigned targets_;
  unsigned line_bytes_;
  unsigned used_ = 0;
  std::vector<Mshr> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> buckets_;  // chains of open entries by address
  std::vector<StoreBuffer> stores_;
  std::vector<std::uint32_t> free_stores_;
};

}  // namespace heddle::hw
