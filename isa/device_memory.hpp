// Device memory: sparse storage of a 64-bit address space plus the table of allocations that bounds checks and fault
// messages use. No timing, no SystemC: interpreter, model and host side share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "isa/memory_map.hpp"
#include "isa/texture.hpp"

namespace heddle::isa {

class DeviceHeap;

struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // bytes
  std::string name;
  bool writable = true;
};

// Where allocate() puts buffers. Which rows, banks and sets two arrays share follows from it.
struct Placement {
  enum class Rule : std::uint8_t {
    gap,     // one behind the other, `gap` unused bytes between them
    page,    // buffers of kLarge bytes and more in pages of their own that have room for a header, too
    seeded,  // one behind the other, with gaps drawn at random from `seed`, below kMostRandomGap
  };
  // A C library gives large allocations pages of their own by mmap(), with a header before the data; allocations of a
  // power of two in size then lie a page off each other. glibc does so from 128 KiB on (malloc/malloc.c,
  // DEFAULT_MMAP_THRESHOLD) with a header of 16 bytes. Buffers here stay aligned as CUDA's are, so that the header is
  // counted but lies behind.
  static constexpr std::uint64_t kLarge = 128 * 1024;
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kMostRandomGap = 1 << 20;

  Rule rule = Rule::gap;
  std::uint64_t gap = 256;  // bytes, rounded up to whole kAlignment, at least one
  std::uint64_t seed = 1;
};

// Where storage comes from, for who wants it in a place of its own. Pages are of DeviceMemory::kPageBytes; page
// `number` begins at address number * kPageBytes.
class PageSource {
 public:
  virtual ~PageSource() = default;
  // Zero until written, and there until it is dropped. Null: the memory is to make this page itself.
  virtual std::byte* page(std::uint64_t number) = 0;
  // So many pages, of which some may never have been asked for, are wanted no longer; asked for again, they are zero.
  virtual void drop(std::uint64_t first, std::uint64_t count) = 0;
};

// Bytes outside every allocation can be read and written all the same (a host or a bus may); bounds are the caller's
// question to find().
class DeviceMemory {
 public:
  static constexpr std::size_t kPageBytes = 64 * 1024;  // storage is made when first touched

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Buffers lie kAlignment-aligned from kGlobalBase upwards with at least one unused kAlignment between two of them,
  // so that an overrun is seen. Addresses of released buffers are used again only when no fresh ones are left. Throws
  // InputError when the space below 4 GiB is asked for and exhausted, or that above it (up to kBuffersEnd).
  static constexpr std::uint64_t kAlignment = 256;
  // Of the allocations from now on.
  void set_placement(const Placement& placement);
  std::uint64_t allocate(std::string name, std::uint64_t size, bool below_4gib = true);
  // An allocation at a fixed place (code, module variables, local backing store); replaces one of the same address.
  // Allocations must not overlap.
  void place(std::string name, std::uint64_t address, std::uint64_t size, bool writable = true);
  // Of the allocations below 4 GiB, or above, where buffers lie.
  [[nodiscard]] std::uint64_t buffer_bytes(bool below_4gib) const { return buffer_bytes_[below_4gib ? 0 : 1]; }
  // Forgets the allocation that starts at the address, its generator and its contents. No-op when there is none.
  void release(std::uint64_t address);
  void clear();  // contents, allocations and textures

  // Pages come from `source` from now on; pages that there are move there. Only while no pointer of direct() is held.
  void take_pages_from(std::shared_ptr<PageSource> source);
  // Is told of every page that is there no longer, so that pointers to it are forgotten: its first address, and how
  // many bytes. Null: none is told.
  using Forget = std::function<void(std::uint64_t, std::uint64_t)>;
  void set_forget(Forget forget) { forget_ = std::move(forget); }

  // ---- what kernels allocate (isa/device_heap.hpp), which is none of the allocations above; clear() clears it too.
  [[nodiscard]] DeviceHeap& heap() { return *heap_; }
  [[nodiscard]] const DeviceHeap& heap() const { return *heap_; }
  // Programs with 32-bit addresses have it from DeviceHeap::kNarrowHeapBase on; buffers no more. Throws InputError when
  // one is there.
  void reserve_narrow_heap();

  // ---- textures. A descriptor lies in a read-only allocation of its own, whose address is the texture's handle;
  // release(handle) forgets both. Throws InputError with why_malformed()'s reason. Like allocations, they do not change
  // while a kernel runs, so that many may ask at once.
  std::uint64_t add_texture(std::string name, const TextureDescriptor& descriptor, bool below_4gib = true);
  // Null: the handle is no texture's.
  [[nodiscard]] const TextureDescriptor* texture(std::uint64_t handle) const;
  [[nodiscard]] const std::map<std::uint64_t, TextureDescriptor>& textures() const { return textures_; }

  void read(std::uint64_t address, std::span<std::byte> out) const;  // untouched bytes read as zero
  // Makes storage, but not for zeros where none is in_use(): an L2 may write back what has been released.
  void write(std::uint64_t address, std::span<const std::byte> in);
  // The page of this address has storage, or an allocation or a region has some of it.
  [[nodiscard]] bool in_use(std::uint64_t address) const;
  template <class T>
  [[nodiscard]] T get(std::uint64_t address) const {
    T value;
    read(address, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  template <class T>
  void put(std::uint64_t address, const T& value) {
    write(address, std::as_bytes(std::span(&value, 1)));
  }

  // Direct pointer to a byte and, in `length`, how many bytes follow it in storage. Makes the page. In a computed
  // region it points to a copy of a few bytes, at least as many as an aligned access of 16 has left, which the next
  // call overwrites.
  [[nodiscard]] std::byte* direct(std::uint64_t address, std::size_t& length);

  // For who reaches the source's pages by a way of its own: from now on storage is there for `size` bytes from
  // `address` on. No computed bytes.
  void touch(std::uint64_t address, std::uint64_t size);
  // How many bytes from the address on, `most` at the most, are alike: all in storage (`stored`), or all untouched.
  [[nodiscard]] std::uint64_t alike(std::uint64_t address, std::uint64_t most, bool& stored) const;

  // A region whose pages are filled by a generator when first touched. The generator gets the address of the first byte
  // and the bytes of one page that lie in the region; parts of pages that exist already are filled at once.
  using Generator = std::function<void(std::uint64_t, std::span<std::byte>)>;
  void fill_on_touch(std::uint64_t address, std::uint64_t size, Generator generator);

  // A region that is computed anew whenever it is read and takes no storage at all: the generator fills any part of it
  // that it is asked for. An allocation that starts there becomes read-only. Writing to it is an InternalError. The
  // region starts and ends at a multiple of kAlignment.
  void compute_on_read(std::uint64_t address, std::uint64_t size, Generator generator);
  // Some byte of [address, address + size) is computed: there is no storage to point to.
  [[nodiscard]] bool computed(std::uint64_t address, std::uint64_t size) const;

  // ---- bounds. find: the allocation that holds [address, address + size); nearest: the closest one, for messages.
  // Who asks often does so through an AllocationFinder of its own.
  [[nodiscard]] const Allocation* find(std::uint64_t address, std::uint64_t size) const;
  [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;
  [[nodiscard]] const std::map<std::uint64_t, Allocation>& allocations() const { return allocations_; }
  // Where an access lies with respect to the nearest allocation, for messages:
  // "4 bytes past the end of buffer 'y' (0x10000400, 1024 bytes)"
  [[nodiscard]] std::string describe(std::uint64_t address, std::uint64_t size) const;

  // Another number whenever allocations have changed: until then pointers to them stay valid.
  [[nodiscard]] std::uint64_t allocation_changes() const { return allocation_changes_; }

  [[nodiscard]] std::uint64_t touched_bytes() const;  // storage made so far

 private:
  struct Page {
    alignas(64) std::byte bytes[kPageBytes];
  };
  struct Region {
    std::uint64_t size = 0;
    Generator generator;
  };
  struct Stored {
    std::byte* bytes = nullptr;  // null: the source's, which has not been asked for it
    std::unique_ptr<Page> own;   // null: the source's
  };
  // The page that holds the address; null when it was never touched, is not to be made, and no generator covers it.
  [[nodiscard]] std::byte* page(std::uint64_t address, bool make) const;
  // The entry of a page; null when it was never touched, is not to be made, and no generator covers it.
  [[nodiscard]] Stored* entry(std::uint64_t number, bool make) const;
  [[nodiscard]] std::byte* bytes_of(std::uint64_t number, Stored& stored) const;
  [[nodiscard]] bool generated(std::uint64_t number) const;
  [[nodiscard]] static bool overlaps_page(std::uint64_t address, std::uint64_t size, std::uint64_t page_address);
  void generate(std::uint64_t page_address, std::byte* page) const;
  void erase_contents(std::uint64_t address, std::uint64_t size);
  void drop_pages(std::uint64_t first, std::uint64_t count);
  std::uint64_t allocate_between(std::uint64_t low, std::uint64_t high, std::uint64_t& next, std::uint64_t size);
  [[nodiscard]] std::uint64_t random_gap();

  mutable std::unordered_map<std::uint64_t, Stored> pages_;
  mutable std::uint64_t last_page_number_ = ~std::uint64_t{0};
  mutable std::byte* last_page_ = nullptr;
  // Modulo 2^64.
  void count_buffer(std::uint64_t address, std::uint64_t more) {
    if (address >= kGlobalBase && address < kBuffersEnd) {
      buffer_bytes_[address >> 32U == 0 ? 0 : 1] += more;
    }
  }

  std::map<std::uint64_t, Allocation> allocations_;
  std::array<std::uint64_t, 2> buffer_bytes_{};          // below 4 GiB, and above
  std::map<std::uint64_t, TextureDescriptor> textures_;  // by handle
  std::uint64_t allocation_changes_ = 0;
  // The computed region that holds the address, with how many of its bytes follow; else null, and how many bytes follow
  // that are not computed.
  [[nodiscard]] const Region* computed_at(std::uint64_t address, std::uint64_t& following) const;
  std::map<std::uint64_t, Region> regions_;
  std::map<std::uint64_t, Region> computed_;
  alignas(kAlignment) std::byte computed_bytes_[kAlignment];  // of direct()
  std::unique_ptr<DeviceHeap> heap_;
  Placement placement_;
  std::uint64_t random_state_ = 0;
  std::uint64_t next_low_;
  std::uint64_t next_high_;
  std::shared_ptr<PageSource> source_;  // null: none
  Forget forget_;
};

// One reader's look-ups of allocations. It remembers the latest answer, so that whoever stays in a buffer pays for a
// comparison only. Readers share nothing but the memory, which they do not change.
class AllocationFinder {
 public:
  // The memory outlives it. Null: nothing may be looked up.
  explicit AllocationFinder(const DeviceMemory* memory) : memory_(memory) {}

  // As DeviceMemory::find.
  [[nodiscard]] const Allocation* find(std::uint64_t address, std::uint64_t size) {
    if (changes_ == memory_->allocation_changes() && latest_ != nullptr) {
      const std::uint64_t offset = address - latest_->address;  // huge when before it
      if (offset < latest_->size && size <= latest_->size - offset) {
        return latest_;
      }
    }
    const Allocation* const found = memory_->find(address, size);
    if (found != nullptr) {
      latest_ = found;
      changes_ = memory_->allocation_changes();
    }
    return found;
  }

 private:
  const DeviceMemory* memory_;
  const Allocation* latest_ = nullptr;
  std::uint64_t changes_ = 0;  // when that was found
};

}  // namespace heddle::isa
