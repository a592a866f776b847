#include "cuda/compiler/device_code.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "cuda/compiler/cast_alignment.hpp"
#include "cuda/compiler/copied_words.hpp"
#include "cuda/compiler/lock_loops.hpp"
#include "cuda/compiler/ptx_parts.hpp"
#include "cuda/compiler/whole_copies.hpp"

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;
using Words = DeviceCode::Words;

std::string text_in(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_text(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

// What follows `key` on a line of the module of that beginning, up to the closing quotation mark.
std::string quoted_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return std::string(rest.substr(0, rest.find('"')));
}

// clang's command that makes PTX of optimised intermediate code: what the file's options say about the machine and the
// code generator, and no more.
Words generation(const Words& words, const std::string& triple, const std::string& module, const std::string& ptx) {
  Words out{words[0], "--target=" + triple, "-Wno-unused-command-line-argument"};
  constexpr std::string_view kArchitecture = "--cuda-gpu-arch=";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with(kArchitecture)) out.push_back("-march=" + word.substr(kArchitecture.size()));
    if (word == "-S" || word.starts_with("-O")) out.push_back(word);
    if (i + 1 == words.size()) break;
    const std::string& next = words[i + 1];
    if (word == "-mllvm" || (word == "-Xclang" && (next == "-target-feature" || next.starts_with("+ptx")))) {
      out.insert(out.end(), {word, next});
    }
  }
  out.insert(out.end(), {"-Xclang", "-disable-llvm-passes", "-x", "ir", module, "-o", ptx});
  return out;
}

// clang's command that optimises intermediate code which none of its passes has seen.
Words optimisation(const Words& words, const std::string& triple, const std::string& raw, const std::string& module) {
  Words out = generation(words, triple, raw, module);
  const auto passes = std::find(out.begin(), out.end(), "-disable-llvm-passes");
  out.erase(passes - 1, passes + 1);
  out.insert(out.end(), {"-emit-llvm", "-Xclang", "-emit-llvm-uselists"});
  return out;
}

// "#pragma unroll 1" is a count of one to some versions of clang, whose PTX says nothing of it then. The loop is not to
// be unrolled, which .pragma "nounroll" tells whoever compiles the PTX, as nvcc has it.
std::string with_kept_loops(std::string module) {
  constexpr std::string_view kOnce = "!{!\"llvm.loop.unroll.count\", i32 1}";
  constexpr std::string_view kNever = "!{!\"llvm.loop.unroll.disable\"}";
  for (std::size_t at = module.find(kOnce); at != std::string::npos; at = module.find(kOnce, at + kNever.size())) {
    module.replace(at, kOnce.size(), kNever);
  }
  return module;
}

// The module, optimised with the alignments that casts promise; nothing where clang alone has them all.
std::optional<std::string> with_promised_alignments(const DeviceCode& code, const Words& words,
                                                    const std::string& triple, const std::string& text) {
  if (!has_narrow_accesses(text)) return std::nullopt;
  const std::string raw = (code.folder / "raw.ll").string();
  Words all = words;
  all.insert(all.end(), {"-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", raw});
  all.insert(all.end(), code.input.begin(), code.input.end());
  if (code.silent(all) != 0) return std::nullopt;
  const std::string before = text_in(raw);
  const std::string after = with_cast_alignments(before);
  if (after == before) return std::nullopt;
  write_text(raw, after);
  const std::string module = (code.folder / "aligned.ll").string();
  if (code.silent(optimisation(words, triple, raw, module)) != 0) return std::nullopt;
  return text_in(module);
}

// Compiles in two steps, between which the intermediate code is changed. A clang that does not read what it has written
// compiles the file again, at one go.
int compile_once(const DeviceCode& code, const Words& more, const std::string& ptx) {
  const std::string module = (code.folder / "device.ll").string();
  Words words = code.words;
  words.insert(words.end(), more.begin(), more.end());
  const auto with = [&](std::initializer_list<std::string> last) {
    Words all = words;
    all.insert(all.end(), last);
    all.insert(all.end(), code.input.begin(), code.input.end());
    return all;
  };
  // With the order of uses, which optimisations depend on.
  if (const int failed = code.run(with({"-emit-llvm", "-Xclang", "-emit-llvm-uselists", "-o", module})); failed != 0) {
    return failed;
  }
  std::string triple = "nvptx64-nvidia-cuda";
  if (!code.dry) {
    std::string text = text_in(module);
    triple = quoted_behind(text, "\ntarget triple = \"");
    if (std::optional<std::string> aligned = with_promised_alignments(code, words, triple, text)) text = *aligned;
    write_text(module, with_kept_loops(with_copied_words(with_whole_copies(text))));
  }
  if (code.silent(generation(words, triple, module, ptx)) == 0) return 0;
  return code.run(with({"-o", ptx}));
}

// How large loops may become that are unrolled to make registers of local arrays, by LLVM's count: the first is enough
// for most, the second is the most, and the others are between them. nvcc unrolls loops of 256 rounds for that and none
// of 512; where the rounds of a loop within a loop are enough, it leaves the outer one.
constexpr std::array kUnrolled = {200U, 3000U, 500U, 1000U, 1500U};

// Arrays of a thread's become registers where nvcc makes them so: once the loops are unrolled that go through them. Of
// those sizes that leave a function as little in local memory as the most does, it gets the smallest.
int compile_with_arrays(const DeviceCode& code, const std::string& ptx) {
  if (const int failed = compile_once(code, {}, ptx); failed != 0 || code.dry) return failed;
  std::string text = text_in(ptx);
  std::map<std::string, std::uint64_t> open = local_arrays(text);  // bytes of functions that may have fewer
  const std::set<std::string> through_arrays = functions_through_arrays(text);
  std::erase_if(open, [&](const auto& one) { return !through_arrays.contains(one.first); });
  if (open.empty()) return 0;
  const std::string other = (code.folder / "unrolled.ptx").string();
  const auto unrolled = [&](unsigned most) {
    DeviceCode again = code;
    again.run = code.silent;
    std::replace(again.words.begin(), again.words.end(), std::string("-unroll-threshold=1"),
                 "-unroll-threshold=" + std::to_string(most));
    return compile_once(again, {}, other) == 0 ? text_in(other) : std::string();
  };
  std::string at_most;
  std::map<std::string, std::uint64_t> least;
  const auto settle = [&](const std::string& tried) {
    std::map<std::string, std::uint64_t> left = local_arrays(tried);
    std::set<std::string> settled;
    for (const auto& [name, bytes] : open) {
      if (left[name] == least[name] && left[name] < bytes) settled.insert(name);
    }
    if (settled.empty()) return;
    text = with_functions_of(text, tried, settled);
    for (const std::string& name : settled) open.erase(name);
  };
  for (std::size_t i = 0; i != kUnrolled.size() && !open.empty(); ++i) {
    const std::string tried = unrolled(kUnrolled[i]);
    if (tried.empty()) return 0;
    if (i == 1) {
      at_most = tried;
      least = local_arrays(tried);
      std::erase_if(open, [&](const auto& one) { return least[one.first] >= one.second; });
    } else {
      settle(tried);
    }
  }
  settle(at_most);
  write_text(ptx, text);
  return 0;
}

// Locks that the source releases within the loop which takes them stay there.
int compile_with_locks(const DeviceCode& code, const std::string& ptx) {
  if (const int failed = compile_with_arrays(code, ptx); failed != 0 || code.dry) return failed;
  const std::string text = text_in(ptx);
  const std::set<std::string> suspects = functions_that_leave_with_a_lock(text);
  if (suspects.empty()) return 0;
  // With the attribute optforfuzzing, LLVM's SimplifyCFG leaves conditional branches as the source has them. The code
  // generator would give each way through the loop an end of its own, and put the loop's end before its beginning,
  // where machines that prefer the lowest PC always find the threads that wait for the lock. A function that takes its
  // lock out of the loop without all that has it so in the source.
  const Words careful_options = {"-Xclang", "-fsanitize=fuzzer-no-link", "-mllvm", "-disable-early-taildup",
                                 "-mllvm",  "-disable-block-placement"};
  const std::string careful = (code.folder / "careful.ptx").string();
  DeviceCode again = code;
  again.run = code.silent;
  if (compile_once(again, careful_options, careful) != 0) return 0;
  const std::string other = text_in(careful);
  std::set<std::string> mended = suspects;
  for (const std::string& name : functions_that_leave_with_a_lock(other)) mended.erase(name);
  if (!mended.empty()) write_text(ptx, with_functions_of(text, other, mended));
  return 0;
}

}  // namespace

int compile_device_code(const DeviceCode& code, const std::string& ptx) {
  DeviceCode for_architecture = code;
  const Words words = architecture_words(code.architecture);
  for_architecture.words.insert(for_architecture.words.end(), words.begin(), words.end());
  if (const int failed = compile_with_locks(for_architecture, ptx); failed != 0 || code.dry) return failed;
  write_text(ptx, with_target(text_in(ptx), code.architecture));
  return 0;
}

}  // namespace heddle::cuda
