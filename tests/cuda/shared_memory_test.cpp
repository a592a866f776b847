// Device memory that simulator and program share: the file's pages, and the program's copies into and out of them.
#include "cuda/cudart/shared_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "tb/session/shared_pages.hpp"

namespace heddle::tb::session {
namespace {

using cudart::SharedMemory;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kPage = isa::DeviceMemory::kPageBytes;
constexpr std::uint64_t kPart = SharedMemory::kPart;

Bytes random_bytes(std::size_t size, std::mt19937& random) {
  std::vector<std::uint32_t> words((size + 3) / 4);
  std::generate(words.begin(), words.end(), std::ref(random));
  Bytes bytes(size);
  std::memcpy(bytes.data(), words.data(), size);
  return bytes;
}

TEST(SharedPages, LieWhereTheirAddressesSayAndTakeMemoryWhenTouched) {
  const auto pages = SharedPages::make();
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(pages->resident_bytes(), 0U);
  std::byte* const third = pages->page(3);
  EXPECT_EQ(pages->page(4), third + kPage);
  EXPECT_EQ(pages->page(SharedPages::kBytes / kPage - 1), third + (SharedPages::kBytes - 4 * kPage));
  EXPECT_EQ(pages->page(SharedPages::kBytes / kPage), nullptr);
  EXPECT_LE(pages->resident_bytes(), 3 * kPage);
  third[kPage + 9] = std::byte{7};
  std::byte read{};
  ASSERT_EQ(::pread(pages->descriptor(), &read, 1, 4 * kPage + 9), 1);
  EXPECT_EQ(read, std::byte{7});
}

TEST(SharedPages, AreZeroAndTakeNoMemoryOnceDropped) {
  const auto pages = SharedPages::make();
  ASSERT_NE(pages, nullptr);
  for (std::uint64_t number = 10; number != 20; ++number) std::memset(pages->page(number), 1, kPage);
  EXPECT_EQ(pages->resident_bytes(), 10 * kPage);
  pages->drop(11, 8);
  EXPECT_EQ(pages->resident_bytes(), 2 * kPage);
  EXPECT_EQ(pages->page(10)[kPage - 1], std::byte{1});
  EXPECT_EQ(pages->page(11)[0], std::byte{0});
  EXPECT_EQ(pages->page(18)[kPage - 1], std::byte{0});
  EXPECT_EQ(pages->page(19)[0], std::byte{1});
  pages->drop(SharedPages::kBytes / kPage, 5);  // beyond the pages: drops nothing
  pages->drop(0, SharedPages::kBytes / kPage + 5);
  EXPECT_EQ(pages->resident_bytes(), 0U);
}

TEST(SharedPages, CannotBeTakenAwayByWhoHasTheFile) {
  const auto pages = SharedPages::make();
  ASSERT_NE(pages, nullptr);
  EXPECT_NE(::ftruncate(pages->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(pages->descriptor(), SharedPages::kBytes + 1), 0);
}

TEST(SharedPages, AreNotMadeUnderALimitThatWouldEndTheProcess) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = SharedPages::kBytes - 1;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(SharedPages::make(), nullptr);
  small.rlim_cur = SharedPages::kBytes;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_NE(SharedPages::make(), nullptr);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

// The program's side of such a file.
class SharedMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(pages_, nullptr);
    descriptor_ = ::fcntl(pages_->descriptor(), F_DUPFD_CLOEXEC, 0);
    ASSERT_TRUE(memory_.open(descriptor_, SharedPages::kBytes));
  }
  // What the simulator sees.
  [[nodiscard]] Bytes seen(std::uint64_t offset, std::size_t size) const {
    Bytes bytes(size);
    EXPECT_EQ(::pread(pages_->descriptor(), bytes.data(), size, static_cast<off_t>(offset)),
              static_cast<ssize_t>(size));
    return bytes;
  }
  void write(std::uint64_t offset, const Bytes& bytes) {
    const cudart::Place place{offset, bytes.size()};
    memory_.write({{&place, 1}, bytes.size(), bytes.size(), 1}, bytes.data(), bytes.size());
  }
  std::shared_ptr<SharedPages> pages_ = SharedPages::make();
  SharedMemory memory_;
  int descriptor_ = -1;
  std::mt19937 random_{4711};
};

TEST_F(SharedMemoryTest, CopiesOfAnySizeArriveByEitherWay) {
  const std::uint64_t begin = 5 * kPart - 1000;
  Bytes known(3 * kPart);
  write(begin, known);
  bool mapped = false;
  for (int round = 0; round < 60; ++round) {
    const std::size_t first = random_() % known.size();
    const std::size_t size = 1 + random_() % std::min(known.size() - first, round % 2 == 0 ? known.size() : 5000);
    const Bytes bytes = random_bytes(size, random_);
    write(begin + first, bytes);
    std::copy(bytes.begin(), bytes.end(), known.begin() + static_cast<std::ptrdiff_t>(first));
    Bytes out(known.size());
    const cudart::Place place{begin, out.size()};
    memory_.read({{&place, 1}, out.size(), out.size(), 1}, out.data(), out.size());
    ASSERT_EQ(out, known) << round;
    ASSERT_EQ(seen(begin, known.size()), known) << round;
    mapped = mapped || memory_.uses_mapping(begin + 1000);
  }
  EXPECT_TRUE(mapped);
}

TEST_F(SharedMemoryTest, TheMappingIsUsedWhereCopiesComeByOftenAndNowhereElse) {
  const Bytes part = random_bytes(kPart, random_);
  for (std::uint64_t times = 0; times != SharedMemory::kTimes; ++times) {
    EXPECT_FALSE(memory_.uses_mapping(3 * kPart));
    write(3 * kPart, part);
  }
  EXPECT_TRUE(memory_.uses_mapping(3 * kPart));
  EXPECT_TRUE(memory_.uses_mapping(4 * kPart - 1));
  EXPECT_FALSE(memory_.uses_mapping(4 * kPart));
  EXPECT_FALSE(memory_.uses_mapping(3 * kPart - 1));
  // Small ones count more than their bytes: it is the calls that cost.
  for (int i = 0; i < 2048; ++i) {
    EXPECT_FALSE(memory_.uses_mapping(9 * kPart));
    write(9 * kPart + 64, Bytes(10));
  }
  EXPECT_TRUE(memory_.uses_mapping(9 * kPart));
}

TEST_F(SharedMemoryTest, RowsGoToTheirPlacesAndTheirGapsStay) {
  // Two places in the file with one between them that was never written.
  const std::vector<cudart::Place> places = {{100, 350}, {cudart::kNowhere, 300}, {7000, 400}};
  constexpr std::size_t kWidth = 120, kDevicePitch = 130, kHostPitch = 125, kHeight = 8;
  static_assert((kHeight - 1) * kDevicePitch + kWidth <= 1050);
  const Bytes first = random_bytes(350, random_);
  const Bytes last = random_bytes(400, random_);
  write(100, first);
  write(7000, last);
  Bytes device(first);
  device.resize(650);
  device.insert(device.end(), last.begin(), last.end());
  Bytes to(kHostPitch * kHeight, std::byte{9});
  memory_.read({places, kDevicePitch, kWidth, kHeight}, to.data(), kHostPitch);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t x = i % kHostPitch;
    EXPECT_EQ(to[i], x < kWidth ? device[i / kHostPitch * kDevicePitch + x] : std::byte{9}) << i;
  }
  EXPECT_EQ(pages_->resident_bytes(), 2 * 4096U);
  const std::vector<cudart::Place> whole = {{100, 350}, {450, 300}, {7000, 400}};
  const Bytes from = random_bytes(kHostPitch * kHeight, random_);
  memory_.write({whole, kDevicePitch, kWidth, kHeight}, from.data(), kHostPitch);
  for (std::size_t i = 0; i < (kHeight - 1) * kDevicePitch + kWidth; ++i) {
    const std::size_t x = i % kDevicePitch;
    const std::byte is = i < 650 ? seen(100 + i, 1)[0] : seen(7000 + i - 650, 1)[0];
    EXPECT_EQ(is, x < kWidth ? from[i / kDevicePitch * kHostPitch + x] : device[i]) << i;
  }
}

TEST_F(SharedMemoryTest, AFileThatTookOverTheDescriptorStaysAsItIs) {
  const Bytes bytes = random_bytes(3 * kPage, random_);
  write(kPart, bytes);
  const int other = ::open("/tmp", O_TMPFILE | O_RDWR, 0600);
  ASSERT_GE(other, 0);
  ASSERT_EQ(::dup2(other, descriptor_), descriptor_);
  ::close(other);
  const Bytes later = random_bytes(3 * kPage, random_);
  write(kPart, later);
  EXPECT_EQ(seen(kPart, later.size()), later);
  struct stat facts {};
  ASSERT_EQ(::fstat(descriptor_, &facts), 0);
  EXPECT_EQ(facts.st_size, 0);
}

TEST(SharedMemoryFile, ThatIsTooSmallOrNoneIsRefused) {
  SharedMemory none;
  EXPECT_FALSE(none.open(-1, 4096));
  SharedMemory small;
  const int file = ::open("/tmp", O_TMPFILE | O_RDWR, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, 4095), 0);
  EXPECT_FALSE(small.open(file, 4096));
}

}  // namespace
}  // namespace heddle::tb::session
