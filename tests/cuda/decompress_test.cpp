// What nvcc packs PTX with, and fat binaries as it lays them out.
#include "cuda/cudart/decompress.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <vector>

#include "cuda/cudart/device_code.hpp"
#include "packed_text.hpp"

namespace heddle::cudart {
namespace {

using ::testing::HasSubstr;

// What packed_text.hpp was made of: literals, matches near and far, runs of one character.
std::string text() {
  std::string out;
  std::uint32_t x = 1;
  for (unsigned i = 0; i < 400; ++i) {
    x = (x * 1103515245U + 12345U) & 0x7fffffffU;
    out += fmt::format("add.u32 %r{}, %r{}, {};\n", i % 37, x % 23, x >> 12U & 1023U);
    if (i % 50 == 0) out += std::string(i + 3, '.') + "\n";
  }
  return out;
}

TEST(Decompress, MakesTheTextThatWasPacked) {
  EXPECT_EQ(unpack_zstandard(kZstandard, text().size()), text());
  EXPECT_EQ(unpack_lz4(kLz4, text().size()), text());
}

TEST(Decompress, DamageIsFoundOrMakesAnotherTextAndNeverGoesBeyondTheData) {
  const std::size_t size = text().size();
  EXPECT_EQ(unpack_zstandard(kZstandard, size - 1), std::nullopt);
  EXPECT_EQ(unpack_zstandard(kZstandard, size + 1), std::nullopt);
  EXPECT_EQ(unpack_lz4(kLz4, size - 1), std::nullopt);
  for (std::size_t cut = 0; cut < std::size(kZstandard); cut += 7) {
    EXPECT_EQ(unpack_zstandard(std::span(kZstandard).first(cut), size), std::nullopt) << cut;
  }
  for (std::size_t cut = 0; cut < std::size(kLz4); cut += 7) {
    EXPECT_EQ(unpack_lz4(std::span(kLz4).first(cut), size), std::nullopt) << cut;
  }
  const auto spoil = [&](std::span<const std::uint8_t> packed, const auto& unpack) {
    for (std::size_t at = 0; at < packed.size(); at += 3) {
      std::vector<std::uint8_t> bytes(packed.begin(), packed.end());
      bytes[at] ^= static_cast<std::uint8_t>(1U << at % 8);
      if (const auto made = unpack(bytes, size)) {
        EXPECT_EQ(made->size(), size);
      }
    }
  };
  spoil(kZstandard, unpack_zstandard);
  spoil(kLz4, unpack_lz4);
}

// One entry of a container, padded as nvcc pads it.
std::string entry(std::uint16_t kind, std::uint32_t architecture, std::uint64_t flags, std::string_view data,
                  std::uint64_t whole) {
  using cudart::FatBinaryEntry;
  FatBinaryEntry head;
  head.kind = kind;
  head.architecture = architecture;
  head.flags = flags;
  head.header_bytes = sizeof head + 16;  // nvcc's own are longer than what is known of them
  head.compressed_bytes = whole == 0 ? 0 : static_cast<std::uint32_t>(data.size());
  head.whole_bytes = whole;
  head.bytes = (data.size() + 7) / 8 * 8;
  std::string out(sizeof head + 16, '\0');
  std::memcpy(out.data(), &head, sizeof head);
  out += data;
  out.resize(sizeof head + 16 + head.bytes, '\0');
  return out;
}

std::string container(const std::string& entries) {
  cudart::FatBinaryHeader header;
  header.bytes = entries.size();
  std::string out(sizeof header, '\0');
  std::memcpy(out.data(), &header, sizeof header);
  return out + entries;
}

std::string_view bytes_of(std::span<const std::uint8_t> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

TEST(DeviceCode, IsThePtxOfTheGpusArchitectureHoweverItIsPacked) {
  using cudart::device_code;
  using cudart::FatBinaryEntry;
  const std::string cubin = entry(2, 90, FatBinaryEntry::kWide, "machine code", 0);
  const std::string old = entry(1, 50, FatBinaryEntry::kWide, "old\n", 0);
  const std::string z =
      entry(1, 75, FatBinaryEntry::kWide | FatBinaryEntry::kCompressedZ, bytes_of(kZstandard), text().size());
  const std::string lz4 =
      entry(1, 80, FatBinaryEntry::kWide | FatBinaryEntry::kCompressed, bytes_of(kLz4), text().size());
  const auto taken = [](const std::string& entries, std::uint32_t architecture) {
    return device_code(container(entries).data()).ptx_for(architecture);
  };
  EXPECT_EQ(taken(cubin + old, 90), "old\n");
  EXPECT_EQ(taken(z + cubin + old, 75), text());
  EXPECT_EQ(taken(z + cubin + old, 74), "old\n");
  EXPECT_EQ(taken(old + lz4, 90), text());
  EXPECT_EQ(taken(old + lz4, 79), "old\n");
  EXPECT_EQ(taken(lz4 + old, 20), "old\n");  // nothing is old enough
  EXPECT_EQ(taken(lz4, 60), text());
  const std::string newer = entry(1, 75, FatBinaryEntry::kWide, "newer\n", 0);
  EXPECT_EQ(taken(old + newer + lz4, 79), "newer\n");
  EXPECT_EQ(taken("", 60), "");
  EXPECT_THAT(device_code(container(cubin).data()).refusal, HasSubstr("-gencode arch=compute_XX,code=compute_XX"));
  const std::string spoilt = entry(1, 75, FatBinaryEntry::kCompressedZ, "no frame at all", 100);
  EXPECT_THAT(device_code(container(cubin + spoilt).data()).refusal, HasSubstr("damaged"));
  EXPECT_EQ(device_code(container(spoilt + old).data()).refusal, "");
  EXPECT_THAT(device_code("0123456789abcdef").refusal, HasSubstr("in no form that is known"));
}

TEST(DeviceCode, KnowsWhatAPtxTextIsFor) {
  EXPECT_EQ(cudart::target_of(".version 7.0\n.target sm_80\n.address_size 64\n"), 80U);
  EXPECT_EQ(cudart::target_of(".version 8.6\n.target sm_100a, debug\n"), 100U);
  EXPECT_EQ(cudart::target_of(".version 7.0\n"), 0U);
}

}  // namespace
}  // namespace heddle::cudart
