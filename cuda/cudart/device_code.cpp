#include "cuda/cudart/device_code.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "cuda/cudart/decompress.hpp"

namespace heddle::cudart {
namespace {

std::optional<std::string> text_of(const FatBinaryEntry& entry, const char* body) {
  std::optional<std::string> text;
  if ((entry.flags & (FatBinaryEntry::kCompressed | FatBinaryEntry::kCompressedZ)) == 0) {
    text.emplace(body, entry.bytes);
  } else if (entry.compressed_bytes <= entry.bytes) {
    const std::span<const std::uint8_t> packed(reinterpret_cast<const std::uint8_t*>(body), entry.compressed_bytes);
    text = (entry.flags & FatBinaryEntry::kCompressedZ) != 0 ? cudart::unpack_zstandard(packed, entry.whole_bytes)
                                                             : cudart::unpack_lz4(packed, entry.whole_bytes);
  }
  if (!text) return std::nullopt;
  text->resize(std::min(text->find('\0'), text->size()));
  if (text->empty() || text->back() != '\n') *text += '\n';
  return text;
}

}  // namespace

DeviceCode device_code(const void* data) {
  FatBinaryHeader header;
  std::memcpy(&header, data, sizeof header);
  if (header.magic != kFatBinaryMagic || header.header_bytes < sizeof header) {
    return {{}, false, "its device code is in no form that is known here"};
  }
  const char* at = static_cast<const char*>(data) + header.header_bytes;
  const char* const end = at + header.bytes;
  DeviceCode found{{}, false, "its device code has no PTX; add it by nvcc's -gencode arch=compute_XX,code=compute_XX"};
  while (end - at >= static_cast<std::ptrdiff_t>(sizeof(FatBinaryEntry))) {
    FatBinaryEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.header_bytes < sizeof entry || entry.bytes > static_cast<std::uint64_t>(end - at) - entry.header_bytes) {
      break;
    }
    const char* const body = at + entry.header_bytes;
    at = body + entry.bytes;
    if (entry.kind != FatBinaryEntry::kPtx) continue;
    std::optional<std::string> text = text_of(entry, body);
    if (!text) {
      if (found.versions.empty()) {
        found.refusal = "its compressed PTX is damaged; build it anew, or by nvcc's --no-compress";
      }
      continue;
    }
    found.refusal.clear();
    found.relocatable = found.relocatable || (entry.flags & FatBinaryEntry::kRelocatable) != 0;
    const auto place = std::lower_bound(
        found.versions.begin(), found.versions.end(), entry.architecture,
        [](const DeviceCode::Version& one, std::uint32_t architecture) { return one.architecture < architecture; });
    if (place != found.versions.end() && place->architecture == entry.architecture) {
      place->ptx = std::move(*text);
    } else {
      found.versions.insert(place, {entry.architecture, std::move(*text)});
    }
  }
  return found;
}

const std::string& DeviceCode::ptx_for(std::uint32_t architecture) const {
  static const std::string kNone;
  if (versions.empty()) return kNone;
  const auto newer = std::find_if(versions.begin(), versions.end(),
                                  [architecture](const Version& one) { return one.architecture > architecture; });
  return newer == versions.begin() ? newer->ptx : std::prev(newer)->ptx;
}

std::uint32_t target_of(std::string_view ptx) {
  constexpr std::string_view kTarget = ".target sm_";
  std::uint32_t architecture = 0;
  if (const std::size_t at = ptx.find(kTarget); at != std::string_view::npos) {
    const char* const number = ptx.data() + at + kTarget.size();
    std::from_chars(number, ptx.data() + ptx.size(), architecture);
  }
  return architecture;
}

}  // namespace heddle::cudart
