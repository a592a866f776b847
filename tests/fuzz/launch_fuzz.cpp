// libFuzzer target: no text may crash or hang the reader of LAUNCH.toml. Bad input must end in an InputError; anything
// else that is thrown, and every sanitizer report, is a finding. The text stands in a folder that holds k.ptx, k.cu and
// x.bin (16 bytes), so that texts which name these get past the check that files exist.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tb/launch/description.hpp"

namespace {

struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "launch-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      std::abort();
    }
    path = pattern;
    std::ofstream(path + "/k.ptx") << ".version 6.0\n.target sm_60\n.address_size 32\n";
    std::ofstream(path + "/k.cu") << "\n";
    std::ofstream(path + "/x.bin") << "0123456789abcdef";
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  try {
    const auto description =
        heddle::tb::launch::parse({reinterpret_cast<const char*>(data), size}, folder.path + "/fuzz.toml");
    static_cast<void>(description);
  } catch (const heddle::InputError&) {
  }
  return 0;
}
