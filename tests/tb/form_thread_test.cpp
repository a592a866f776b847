// A form that a thread of its own writes gets the same calls in the same order, and its errors come to who tells it.
#include "traces/form_thread.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace heddle::traces {
namespace {

class Calls final : public WaveForm {
 public:
  Calls(std::string& calls, std::size_t full) : calls_(calls), full_(full) {}
  void begin(const Head&) override { calls_ += "begin\n"; }
  void time(std::uint64_t time) override { calls_ += "#" + std::to_string(time) + "\n"; }
  void first_values(bool begin) override { calls_ += begin ? "first\n" : "over\n"; }
  void changes(std::span<const link::WaveLog::Change> changes) override {
    if (calls_.size() > full_) {
      throw InputError({"file"}, "is full");
    }
    for (const auto& change : changes) {
      calls_ += std::to_string(change.wave) + "=" + std::to_string(change.value) + "\n";
    }
  }
  void unknown(std::uint32_t wave) override { calls_ += "x" + std::to_string(wave) + "\n"; }
  void text(std::size_t variable, const std::string& value) override {
    calls_ += value + std::to_string(variable) + "\n";
  }
  void end() override { calls_ += "end\n"; }

 private:
  std::string& calls_;
  std::size_t full_;
};

// More than a few batches; `pauses`: all is written now and then, and no thread is left.
void tell(WaveForm& form, bool pauses) {
  const std::string version = "heddle test";
  const std::vector<std::string> comments;
  const std::vector<WaveForm::Variable> variables;
  const std::vector<std::uint32_t> waves;
  form.begin({version, comments, -9, variables, waves});
  form.time(3);
  form.first_values(true);
  const link::WaveLog::Change first{0, 5};
  form.changes({&first, 1});
  form.unknown(1);
  form.first_values(false);
  for (std::uint64_t time = 4; time != 150'000; ++time) {
    form.time(time);
    const link::WaveLog::Change changes[] = {{0, time}, {1, 2 * time}};
    form.changes({changes, time % 3});
    if (time % 20'000 == 0) {
      form.text(7, "1");
      if (pauses) {
        FormThread::pause_all();
      }
    }
  }
  form.time(200'000);
  form.end();
}

TEST(FormThread, WritesWhatIsToldInItsOrder) {
  constexpr std::size_t kNever = ~std::size_t{0};
  std::string plain;
  Calls form(plain, kNever);
  tell(form, false);
  for (const bool pauses : {false, true}) {
    std::string calls;
    FormThread thread(std::make_unique<Calls>(calls, kNever));
    tell(thread, pauses);
    EXPECT_TRUE(calls == plain);
  }
}

TEST(FormThread, ErrorsComeToWhoTellsIt) {
  for (const std::size_t full : {std::size_t{100}, std::size_t{1'000'000}, std::size_t{2'000'000}}) {
    std::string calls;
    FormThread thread(std::make_unique<Calls>(calls, full));
    try {
      tell(thread, false);
      ADD_FAILURE() << full;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "file: is full");
    }
  }
}

}  // namespace
}  // namespace heddle::traces
