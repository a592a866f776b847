// The thread that writes blocks of waves in FST: what cannot be written reaches who tells changes, and who goes without
// an end leaves no thread behind.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "traces/fst_form.hpp"

namespace heddle::traces {
namespace {

// Has room for so many pieces.
class SmallSink final : public FstSink {
 public:
  explicit SmallSink(unsigned room) : room_(room) {}
  void write(std::string_view) override {
    if (room_-- == 0) {
      throw InputError({"waves.fst"}, "is full");
    }
  }
  void write_at_begin(std::string_view bytes) override { write(bytes); }

 private:
  unsigned room_;
};

constexpr std::size_t kBlock = 64;  // bytes of changes, about
constexpr std::uint64_t kTimes = 1000;

void tell(FstForm& form) {
  static const std::string version = "heddle test";
  static const std::vector<std::string> comments;
  static const std::vector<WaveForm::Variable> variables = {{"top.s", 32, WaveForm::Type::wire, true}};
  static const std::vector<std::uint32_t> waves = {0};
  form.begin({version, comments, -9, variables, waves});
  for (std::uint64_t time = 0; time != kTimes; ++time) {
    form.time(time);
    const link::WaveChange change{0, time * 0x9E3779B9U};
    form.changes({&change, 1});
  }
}

TEST(FstThread, WhatCannotBeWrittenReachesWhoTells) {
  unsigned full = 0;
  unsigned room = 0;
  for (bool whole = false; !whole; room = room < 8 ? room + 1 : room * 2) {
    SmallSink sink(room);
    FstForm form(sink, kBlock);
    try {
      tell(form);
      form.end();
      whole = true;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "waves.fst: is full");
      ++full;
    }
  }
  EXPECT_GT(full, 8U);
}

TEST(FstThread, EndsWithTheForm) {
  SmallSink sink(~0U);
  FstForm form(sink, kBlock);
  tell(form);
}

TEST(FstThread, GoesOnAfterAPause) {
  SmallSink sink(~0U);
  FstForm form(sink, kBlock);
  tell(form);
  PausingThread::pause_all();
  form.time(kTimes + 1);
  const link::WaveChange change{0, 1};
  form.changes({&change, 1});
  EXPECT_NO_THROW(form.end());
}

}  // namespace
}  // namespace heddle::traces
