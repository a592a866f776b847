// The simulator's end of a CUDA program's socket, from the other end: what a program's library may ask of it and what
// the usual one does not come to.
#include "tb/session/session.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cuda/cudart/socket_end.hpp"
#include "tb/device/device.hpp"

namespace heddle::tb::session {
namespace {

class Library {
 public:
  explicit Library(int socket) : socket_(socket) {}
  bool tell(cudart::Question question, const void* bytes) {
    question.mark = cudart::mark_of(++told_so_far_);
    return socket_.send({{{&question, sizeof question}, {bytes, question.bytes}, {}, {}}});
  }
  cudart::Answer ask(const cudart::Question& question, const void* bytes = nullptr) {
    cudart::Answer answer;
    told_.clear();
    if (!tell(question, bytes) || !socket_.receive(&answer, sizeof answer, [] {})) {
      answer.error = -1;
      return answer;
    }
    std::string text(answer.text + answer.printed, '\0');
    told_.resize(answer.bytes);
    if (!socket_.receive(text.data(), text.size(), [] {}) || !socket_.receive(told_.data(), told_.size(), [] {})) {
      answer.error = -1;
    }
    return answer;
  }
  bool send_raw(const std::vector<char>& bytes) { return socket_.send({{{bytes.data(), bytes.size()}, {}, {}, {}}}); }
  bool send_header(cudart::Question question) {
    question.mark = cudart::mark_of(++told_so_far_);
    return socket_.send({{{&question, sizeof question}, {}, {}, {}}});
  }
  // Call::share: the descriptor, or -1.
  int share(cudart::Answer& answer) {
    int descriptor = -1;
    answer.error = -1;
    if (tell({cudart::Call::share, 0, {}, 0}, nullptr) && socket_.receive_descriptor(descriptor)) {
      if (!socket_.receive(&answer, sizeof answer, [] {})) answer.error = -1;
    }
    return descriptor;
  }
  [[nodiscard]] const std::vector<unsigned char>& told() const { return told_; }

 private:
  cudart::SocketEnd socket_;
  std::uint64_t told_so_far_ = 0;  // questions
  std::vector<unsigned char> told_;
};

constexpr std::uint64_t kCopied = 1000000;

// Copies by address and by bytes, and what is said where there is no memory at an address.
void copy_both_ways(int socket) {
  Library library(socket);
  library.ask({cudart::Call::hello, 0, {cudart::kProtocolVersion}, 0});
  library.ask({cudart::Call::begin, 0, {}, 0});
  const std::uint64_t device = library.ask({cudart::Call::allocate, 0, {kCopied, 0}, 0}).words[0];
  std::vector<unsigned char> from(kCopied);
  std::iota(from.begin(), from.end(), 3);
  std::vector<unsigned char> to(kCopied);
  const auto address = [](const std::vector<unsigned char>& bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes.data());
  };
  const auto copy = [&](cudart::Call call, std::uint64_t at) {
    return library.ask({call, cudart::kByAddress, {device, 500000, 500000, 2, 0, at}, 0});
  };
  for (const cudart::Call call : {cudart::Call::write, cudart::Call::read}) {
    const cudart::Answer nowhere = copy(call, 8);
    EXPECT_EQ(nowhere.error, 0);
    EXPECT_EQ(nowhere.words[0], 1U);
  }
  EXPECT_EQ(library.ask({cudart::Call::write, 0, {device, kCopied, kCopied, 1, 0}, kCopied}, from.data()).error, 0);
  EXPECT_EQ(copy(cudart::Call::read, address(to)).words[0], 0U);
  EXPECT_EQ(to, from);
  std::reverse(from.begin(), from.end());
  EXPECT_EQ(copy(cudart::Call::write, address(from)).words[0], 0U);
  EXPECT_EQ(library.ask({cudart::Call::read, 0, {device, kCopied, kCopied, 1, 0}, 0}).error, 0);
  EXPECT_EQ(library.told(), from);
  // Past the end of what is allocated nothing is touched.
  EXPECT_NE(
      library.ask({cudart::Call::read, cudart::kByAddress, {device + 1, kCopied, kCopied, 1, 0, address(to)}, 0}).error,
      0);
  EXPECT_NE(to, from);
}

// The program copies itself: it is told where, and what it has not written takes no place.
void copy_in_the_file(int socket) {
  Library library(socket);
  library.ask({cudart::Call::hello, 0, {cudart::kProtocolVersion}, 0});
  library.ask({cudart::Call::begin, 0, {}, 0});
  cudart::Answer answer;
  const int file = library.share(answer);
  ASSERT_GE(file, 0);
  EXPECT_EQ(answer.error, 0);
  EXPECT_EQ(answer.words[0], std::uint64_t{1} << 32U);
  const std::uint64_t device = library.ask({cudart::Call::allocate, 0, {kCopied, 0}, 0}).words[0];
  const auto places = [&](cudart::Call call, std::uint64_t from, std::uint64_t size) {
    EXPECT_EQ(library.ask({call, cudart::kShared, {from, size, size, 1, 0}, 0}).words[0], 0U);
    std::vector<cudart::Place> places(library.told().size() / sizeof(cudart::Place));
    std::memcpy(places.data(), library.told().data(), library.told().size());
    return places;
  };
  const auto untouched = places(cudart::Call::read, device, kCopied);
  ASSERT_EQ(untouched.size(), 1U);
  EXPECT_EQ(untouched[0].offset, cudart::kNowhere);
  EXPECT_EQ(untouched[0].bytes, kCopied);
  const auto written = places(cudart::Call::write, device + 200000, 5);
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].bytes, 5U);
  EXPECT_EQ(::pwrite(file, "wefts", 5, static_cast<off_t>(written[0].offset)), 5);
  EXPECT_EQ(library.ask({cudart::Call::read, 0, {device + 199999, 7, 7, 1, 0}, 0}).error, 0);
  EXPECT_EQ(library.told(), (std::vector<unsigned char>{0, 'w', 'e', 'f', 't', 's', 0}));
  // Now there are places before it, of it, and behind it, all of the buffer together.
  const auto some = places(cudart::Call::read, device, kCopied);
  ASSERT_EQ(some.size(), 3U);
  EXPECT_EQ(some[0].offset, cudart::kNowhere);
  EXPECT_EQ(some[1].offset + 200000 - some[0].bytes, written[0].offset);
  EXPECT_EQ(some[2].offset, cudart::kNowhere);
  EXPECT_EQ(some[0].bytes + some[1].bytes + some[2].bytes, kCopied);
  // What the simulator writes is there.
  library.ask({cudart::Call::fill, 0, {device + 200002, 1, 1, 1, 0, 'l', 1}, 0});
  char word[6] = {};
  EXPECT_EQ(::pread(file, word, 5, static_cast<off_t>(written[0].offset)), 5);
  EXPECT_STREQ(word, "welts");
  // Not past the end, and not what has been released.
  EXPECT_NE(library.ask({cudart::Call::write, cudart::kShared, {device + 1, kCopied, kCopied, 1, 0}, 0}).error, 0);
  EXPECT_TRUE(library.told().empty());
  library.ask({cudart::Call::release, 0, {device}, 0});
  EXPECT_NE(library.ask({cudart::Call::read, cudart::kShared, {device, 5, 5, 1, 0}, 0}).error, 0);
  ::close(file);
}

constexpr std::string_view kStore = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry store(.param .u64 to, .param .u32 value)
{
  .reg .b64 %to;
  .reg .b32 %value;
  ld.param.u64 %to, [to];
  ld.param.u32 %value, [value];
  st.global.u32 [%to], %value;
  ret;
}
)";

struct StoreArguments {
  std::uint64_t to = 0;
  std::uint32_t value = 0;
};
constexpr std::size_t kStoreBytes = 12;
// As CUDA numbers them.
constexpr std::int32_t kInvalidConfiguration = 9;
constexpr std::int32_t kIllegalAddress = 700;

// Launches whose answer the program does not wait for, and what is told of them later.
void launch_without_answers(int socket) {
  Library library(socket);
  library.ask({cudart::Call::hello, 0, {cudart::kProtocolVersion}, 0});
  library.ask({cudart::Call::unit, 0, {0}, kStore.size()}, kStore.data());
  library.ask({cudart::Call::begin, 0, {}, 0});
  const std::string_view name = "store";
  const std::uint64_t kernel = library.ask({cudart::Call::function, 0, {0}, name.size()}, name.data()).words[0];
  const std::uint64_t device = library.ask({cudart::Call::allocate, 0, {4, 0}, 0}).words[0];
  const auto shape = [&](std::uint32_t flags, std::uint64_t threads) {
    return cudart::Question{
        cudart::Call::launch,
        flags,
        {kernel, 1 | std::uint64_t{1} << 32U, 1 | threads << 32U, 1 | std::uint64_t{1} << 32U, 0, 0},
        kStoreBytes};
  };
  const auto value = [&] {
    EXPECT_EQ(library.ask({cudart::Call::read, 0, {device, 4, 4, 1, 0}, 0}).error, 0);
    std::uint32_t value = 0;
    EXPECT_EQ(library.told().size(), sizeof value);
    std::memcpy(&value, library.told().data(), std::min(library.told().size(), sizeof value));
    return value;
  };
  StoreArguments arguments{device, 1};
  EXPECT_EQ(library.ask(shape(0, 1), &arguments).error, 0);
  EXPECT_EQ(value(), 1U);
  for (arguments.value = 2; arguments.value != 40; ++arguments.value) {
    EXPECT_TRUE(library.tell(shape(cudart::kUnanswered, 1), &arguments));
  }
  EXPECT_EQ(value(), 39U);
  // One that is refused: the next answer says so, once, beside what was asked.
  EXPECT_TRUE(library.tell(shape(cudart::kUnanswered, 5000), &arguments));
  EXPECT_TRUE(library.tell(shape(cudart::kUnanswered, 1), &arguments));
  const cudart::Answer refused = library.ask({cudart::Call::read, 0, {device, 4, 4, 1, 0}, 0});
  EXPECT_EQ(refused.error, kInvalidConfiguration);
  EXPECT_GT(refused.text, 0U);
  EXPECT_EQ(library.told().size(), 4U);
  EXPECT_EQ(value(), 40U);
  // A fault behind an answer, and behind none.
  arguments.to = 0x10;
  EXPECT_EQ(library.ask(shape(0, 1), &arguments).error, 0);
  EXPECT_TRUE(library.tell(shape(cudart::kUnanswered, 1), &arguments));
  EXPECT_EQ(library.ask({cudart::Call::memory, 0, {}, 0}).error, kIllegalAddress);
  EXPECT_EQ(library.ask(shape(0, 1), &arguments).error, kIllegalAddress);
}

// What is no question of a library's, and one that says what it must not: the session ends, and says why.
void send_what_is_no_question(int socket) {
  Library library(socket);
  library.ask({cudart::Call::hello, 0, {cudart::kProtocolVersion}, 0});
  library.ask({cudart::Call::begin, 0, {}, 0});
  const std::vector<char> garbage(10000, static_cast<char>(0xff));
  EXPECT_TRUE(library.send_raw(garbage));
  EXPECT_EQ(library.ask({cudart::Call::memory, 0, {}, 0}).error, -1);
}
void send_too_many_bytes(int socket) {
  Library library(socket);
  library.ask({cudart::Call::hello, 0, {cudart::kProtocolVersion}, 0});
  library.ask({cudart::Call::begin, 0, {}, 0});
  EXPECT_TRUE(library.send_header({cudart::Call::write, 0, {0, 1, 1, 1, 0}, cudart::kMostBytes + 1}));
  EXPECT_EQ(library.ask({cudart::Call::memory, 0, {}, 0}).error, -1);
}
void end_in_the_middle(int socket) {
  Library library(socket);
  library.ask({cudart::Call::hello, 0, {cudart::kProtocolVersion}, 0});
  library.ask({cudart::Call::begin, 0, {}, 0});
  EXPECT_TRUE(library.send_header(
      {cudart::Call::write, 0, {0, 1, 1, 1, 0}, cudart::kMostBytes}));  // and not what should follow
}

// A session with the other end of its socket in a thread of its own. Returns why it was stopped.
std::string serve(void (*library)(int)) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  std::string why;
  std::thread other(library, ends[0]);
  const hw::Machine machine;
  Session session(ends[1], machine, nullptr);
  isa::Module module = session.compile({});
  Device device(machine);
  device.load(std::move(module));
  try {
    session.serve(device);
  } catch (const SimulatedFault&) {
    EXPECT_NE(device.fault(), nullptr);
  } catch (const RunStopped& stop) {
    why = stop.what();
  }
  other.join();
  return why;
}

constexpr const char* kNotSent =
    "the program's connection to the simulator has brought what its library has not sent; it must not write to "
    "descriptors that it has not opened";

TEST(ProgramSession, EndsAtWhatIsNoQuestion) {
  EXPECT_EQ(serve(send_what_is_no_question), kNotSent);
}

TEST(ProgramSession, EndsAtAQuestionWithMoreBytesThanADeviceHas) {
  EXPECT_EQ(serve(send_too_many_bytes), kNotSent);
}

TEST(ProgramSession, EndsWithAProgramThatEndsInTheMiddle) {
  EXPECT_EQ(serve(end_in_the_middle), "");
}

TEST(ProgramSession, TellsWhereInTheFileBytesAre) {
  EXPECT_EQ(serve(copy_in_the_file), "");
}

TEST(ProgramSession, CopiesByAddressWhereItMayAndSaysWhereItMayNot) {
  EXPECT_EQ(serve(copy_both_ways), "");
}

TEST(ProgramSession, TellsOfLaunchesThatWantNoAnswerTheNextTime) {
  EXPECT_EQ(serve(launch_without_answers), "");
}

}  // namespace
}  // namespace heddle::tb::session
