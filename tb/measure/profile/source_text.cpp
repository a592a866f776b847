#include "tb/measure/profile/source_text.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <system_error>
#include <utility>

#include "base/embedded_file.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "cuda/compiler/embedded.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestSource = std::size_t{4} << 20U;

// JSON strings are UTF-8; the parser refuses everything else.
bool is_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    return false;
  }
  boost::json::error_code error;
  boost::json::parse(boost::json::serialize(boost::json::string(text)), error);
  return !error;
}

}  // namespace

void SourceFiles::allow_below(const std::string& folder) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder.empty() ? "." : folder, error);
  if (!error) {
    folders_.push_back(whole);
  }
}

void SourceFiles::allow(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code error;
    if (fs::path whole = fs::canonical(file, error); !error) {
      files_.insert(std::move(whole));
    }
  }
}

bool SourceFiles::allowed(const std::string& name) const {
  std::error_code error;
  const fs::path whole = fs::canonical(name, error);
  if (error) {
    return false;
  }
  for (const fs::path& folder : folders_) {
    const fs::path below = whole.lexically_relative(folder);
    // A hidden file or folder, and "..", begin with a dot.
    if (!below.empty() &&
        std::none_of(below.begin(), below.end(), [](const fs::path& part) { return part.string().starts_with('.'); })) {
      return true;
    }
  }
  return files_.count(whole) != 0;
}

std::optional<std::string> SourceFiles::text(const std::string& name) const {
  const std::string plain = name.starts_with("./") ? name.substr(2) : name;
  if (const auto text = OfferedFiles::text(plain)) {
    return std::string(*text);
  }
  for (const EmbeddedFile& file : cuda::device_headers()) {
    if (plain.ends_with(file.name)) {
      return std::string(file.text);
    }
  }
  if (!allowed(name)) {
    return std::nullopt;
  }
  try {
    std::string text = read_input_file(name, kLargestSource);
    return is_text(text) ? std::optional(std::move(text)) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace heddle::tb
