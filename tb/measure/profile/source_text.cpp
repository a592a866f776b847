#include "tb/measure/profile/source_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "tb/host/cuda/embedded.hpp"
#include "tb/workloads/kernels.hpp"

namespace heddle::tb {
namespace {

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

std::optional<std::string> source_text(const std::string& name) {
  const std::string plain = name.starts_with("./") ? name.substr(2) : name;
  for (const EmbeddedFile& file : kernel_sources()) {
    if (file.name == plain) {
      return std::string(file.text);
    }
  }
  for (const EmbeddedFile& file : device_headers()) {
    if (plain.ends_with(file.name)) {
      return std::string(file.text);
    }
  }
  try {
    std::string text = read_input_file(name, kLargestSource);
    return is_text(text) ? std::optional(std::move(text)) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace heddle::tb
