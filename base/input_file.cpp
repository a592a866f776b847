#include "base/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

std::string last_error() {
  return std::generic_category().message(errno != 0 ? errno : EIO);
}

}  // namespace

std::optional<std::string> unreadable_reason(const std::string& path) {
  std::error_code error;
  switch (fs::status(path, error).type()) {
    case fs::file_type::regular:
      break;
    case fs::file_type::directory:
      return "it is a directory";
    case fs::file_type::fifo:
      return "it is a pipe";
    case fs::file_type::character:
    case fs::file_type::block:
      return "it is a device";
    case fs::file_type::socket:
      return "it is a socket";
    default:
      return error.message();
  }
  errno = 0;
  if (!std::ifstream(path, std::ios::binary)) {
    return last_error();
  }
  return std::nullopt;
}

std::string read_input_file(const std::string& path, std::size_t most, const std::string& what) {
  const auto refuse = [&](const std::string& why) {
    throw InputError({path}, fmt::format("the {} cannot be read: {}", what, why), "check its name and permissions");
  };
  if (const auto reason = unreadable_reason(path)) {
    refuse(*reason);
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 65'536> chunk{};
  while (text.size() <= most && (file.read(chunk.data(), chunk.size()), file.gcount() > 0)) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    refuse(last_error());
  }
  if (text.size() > most) {
    throw InputError({path}, fmt::format("the {} is larger than {} bytes", what, most), "is it the right one?");
  }
  return text;
}

}  // namespace heddle
