#include "cuda/compiler/toolkit.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "os/process/child_process.hpp"

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;

// The first of the folders, seen from that of the program, that has the file.
std::optional<fs::path> folder_with(const char* file, std::initializer_list<const char*> folders) {
  const fs::path here = fs::path(os::own_program()).parent_path();
  for (const char* const place : folders) {
    std::error_code ignored;
    const fs::path folder = fs::weakly_canonical(here / place, ignored);
    if (fs::exists(folder / file, ignored)) return folder;
  }
  return std::nullopt;
}

}  // namespace

std::string runtime_library_folder() {
  if (const auto found = folder_with(kRuntimeLibrary, {".", "../lib", "../lib/x86_64-linux-gnu", "../lib64"})) {
    return found->string();
  }
  throw InputError({kRuntimeLibrary},
                   fmt::format("is neither beside {} nor in the library folder beside it", os::own_program()),
                   "build it (./heddle build), or install Heddle anew");
}

std::string toolkit_folder() {
  if (const auto found = folder_with(
          "bin/nvcc",
          {"toolkit", "../lib/heddle/toolkit", "../lib/x86_64-linux-gnu/heddle/toolkit", "../lib64/heddle/toolkit"})) {
    return found->string();
  }
  throw InputError({"toolkit"},
                   fmt::format("is neither beside {} nor in the library folder beside it", os::own_program()),
                   "build it (./heddle build), or install Heddle anew");
}

}  // namespace heddle::cuda
