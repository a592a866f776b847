#include "tb/device/block_talk.hpp"

#include <algorithm>

#include "isa/semantics.hpp"

namespace heddle::tb {

namespace {

constexpr std::uint64_t kPageBytes = isa::DeviceMemory::kPageBytes;

// Atomics whose result is the same in any order.
bool commutes(isa::AtomicOp op, isa::Type type) {
  switch (op) {
    case isa::AtomicOp::and_:
    case isa::AtomicOp::or_:
    case isa::AtomicOp::xor_:
      return true;
    case isa::AtomicOp::add:
    case isa::AtomicOp::min:
    case isa::AtomicOp::max:
      return type != isa::Type::f16 && type != isa::Type::f32 && type != isa::Type::f64;
    default:
      return false;
  }
}

}  // namespace

void BlockTalk::begins(std::uint64_t number) {
  self_ = static_cast<Who>(number + 1);
}

BlockTalk::Page& BlockTalk::page_of(std::uint64_t address) {
  const std::uint64_t number = address / kPageBytes;
  Latest& latest = latest_[number % latest_.size()];
  if (number != latest.number) {
    latest = {number, &pages_[number]};
    if (latest.page->words.empty()) {
      latest.page->words.resize(kPageBytes >> latest.page->shift);
    }
  }
  return *latest.page;
}

// What holds for a word holds for each of its bytes.
void BlockTalk::split(Page& page) {
  std::vector<Word> bytes;
  bytes.reserve(kPageBytes);
  for (const Word& word : page.words) {
    bytes.insert(bytes.end(), std::size_t{1} << page.shift, word);
  }
  page.words = std::move(bytes);
  page.shift = 0;
}

// Accesses are aligned to their size or, of texels, to 4 bytes at most: they stay in their page.
template <class Act>
void BlockTalk::each_word(std::uint64_t address, std::uint32_t bytes, bool writes, Act&& act) {
  Page& page = page_of(address);
  if (writes && bytes < 4 && page.shift != 0) {
    split(page);
  }
  const std::uint64_t first = address % kPageBytes;
  const std::uint64_t last = std::min(first + bytes, kPageBytes) - 1;
  for (std::uint64_t at = first >> page.shift; at <= last >> page.shift; ++at) {
    act(page.words[at]);
  }
}

void BlockTalk::tell(std::uint64_t address, bool writes, Who before, bool before_writes) {
  if (!talk_) {
    talk_ = Talk{std::uint64_t{self_} - 1, before == kSeveral ? std::nullopt : std::optional(std::uint64_t{before} - 1),
                 address, writes, before_writes};
  }
}

void BlockTalk::loads(std::uint64_t address, std::uint32_t bytes) {
  each_word(address, bytes, false, [&](Word& word) {
    if (word.change != kNothing && word.writer != self_) {
      tell(address, false, word.writer, true);
    }
    word.reader = with_self(word.reader);
  });
}

void BlockTalk::stores(std::uint64_t address, std::uint32_t bytes, bool changes) {
  each_word(address, bytes, true, [&](Word& word) {
    if (changes) {
      write(word, address, kAny);
      return;
    }
    // What is there was perhaps not there before another block wrote it.
    if (word.change != kNothing && others(word.reader)) {
      tell(address, true, word.reader, false);
    } else if (word.change >= kFirstSum && others(word.writer)) {
      tell(address, true, word.writer, true);
    }
    word.writer = with_self(word.writer);
  });
}

void BlockTalk::updates(std::uint64_t address, isa::AtomicOp op, isa::Type type, bool returns) {
  const std::uint32_t bytes = isa::size_of(type);
  if (returns) {
    loads(address, bytes);
  }
  const Change change = returns ? kAny : change_by(op, type);
  each_word(address, bytes, true, [&](Word& word) { write(word, address, change); });
}

BlockTalk::Change BlockTalk::change_by(isa::AtomicOp op, isa::Type type) {
  const bool is_signed = type == isa::Type::s32 || type == isa::Type::s64;
  const Change of_type = (isa::size_of(type) == 8 ? 2 : 0) + (is_signed ? 1 : 0);
  static_assert(kFirstSum + static_cast<Change>(isa::AtomicOp::add_halves) * 4 + 3 < 1U << kChangeBits);
  return commutes(op, type) ? kFirstSum + static_cast<Change>(op) * 4 + of_type : kAny;
}

void BlockTalk::write(Word& word, std::uint64_t address, Change change) {
  if (others(word.reader)) {
    tell(address, true, word.reader, false);
  } else if (others(word.writer) && (change == kAny || word.change != change)) {
    tell(address, true, word.writer, true);
  }
  word.change = word.writer == kNobody || word.change == change ? change : kAny;
  word.writer = with_self(word.writer);
}

}  // namespace heddle::tb
