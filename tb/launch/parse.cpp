// The reader of LAUNCH.toml (docs/launch-files.md): the file's frame, source and outputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/nearest.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/launch/reader.hpp"

namespace heddle::tb::launch {
namespace {

namespace fs = std::filesystem;

// The .address_size of a PTX file, which stands among its first directives; 32 when it has none.
unsigned address_size_of(const std::string& path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find("//")));
    std::string word;
    unsigned bits = 0;
    if (words >> word && word == ".address_size" && words >> bits) {
      return bits == 64 ? 64 : 32;
    }
  }
  return 32;
}

bool has_launch(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const Step& step) { return step.kind == Step::Kind::launch || has_launch(step.steps); });
}

void add_files(const Description& description, const std::vector<Step>& steps, std::vector<FillFile>& files) {
  for (const Step& step : steps) {
    if (const auto* const file = std::get_if<Fill::File>(&step.fill.contents)) {
      files.push_back({description.buffers[step.to.buffer].name, file->path});
    }
    add_files(description, step.steps, files);
  }
}

}  // namespace

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (unsigned i = 0; i < static_cast<unsigned>(isa::Type::pred); ++i) {
      made.emplace_back(isa::name_of(static_cast<isa::Type>(i)));
    }
    return made;
  }();
  return names;
}

std::optional<isa::Type> type_named(std::string_view name) {
  for (std::size_t i = 0; i < type_names().size(); ++i) {
    if (type_names()[i] == name) {
      return static_cast<isa::Type>(i);
    }
  }
  return std::nullopt;
}

std::vector<std::string> keys_with(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

std::vector<FillFile> fill_files(const Description& description) {
  std::vector<FillFile> files;
  for (const Buffer& buffer : description.buffers) {
    if (!buffer.fill) {
      continue;
    }
    if (const auto* const file = std::get_if<Fill::File>(&buffer.fill->contents)) {
      files.push_back({buffer.name, file->path});
    }
  }
  add_files(description, description.steps, files);
  return files;
}

Reader::Reader(const toml::table& root, const std::string& path)
    : path_(path),
      root_(
          root, path, "the launch file",
          {"cuda", "ptx", "address_bits", "architecture", "heap_bytes", "buffer", "launch", "copy", "fill", "output"}) {
  description_.path = path;
}

Description Reader::read() {
  read_source();
  description_.heap_bytes = root_.integer("heap_bytes", 0, isa::DeviceHeap::kMostLimit, description_.heap_bytes);
  const std::vector<const toml::table*> buffers = root_.tables("buffer");
  std::size_t number = 0;
  for (const toml::table* table : buffers) {
    read_buffer(*table, ++number);
  }
  // Pointers may go to buffers further down in the file.
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->contains("pointers")) {
      read_pointers(Section(*buffers[i], path_, fmt::format("[[buffer]] number {}", i + 1)), description_.buffers[i]);
    }
  }
  description_.steps = read_steps(root_, "", 0);
  if (!has_launch(description_.steps)) {
    throw InputError({path_}, "there is no [[launch]]", "say which kernel to run: see docs/launch-files.md");
  }
  number = 0;
  for (const toml::table* table : root_.tables("output")) {
    read_output(*table, ++number);
  }
  return std::move(description_);
}

std::string Reader::beside(const std::string& path) const {
  return (fs::path(path_).parent_path() / path).string();
}
std::string Reader::input_file(const Section& section, std::string_view key) const {
  const std::string named = section.string(key);
  std::string path = beside(named);
  std::error_code error;
  if (!fs::is_regular_file(path, error) || !std::ifstream(path)) {
    throw InputError(section.where(key), fmt::format("{}: cannot read the file '{}'", section.name(key), path),
                     "paths are relative to the launch file's folder");
  }
  return path;
}

void Reader::read_source() {
  description_.is_cuda = root_.has("cuda");
  if (root_.has("cuda") == root_.has("ptx")) {
    throw InputError(root_.has("ptx") ? root_.where("ptx") : SourceLocation{path_},
                     root_.has("ptx") ? "there are both 'cuda' and 'ptx'" : "there is neither 'cuda' nor 'ptx'",
                     "name one file that holds the kernels");
  }
  const char* key = description_.is_cuda ? "cuda" : "ptx";
  description_.source = input_file(root_, key);
  description_.source_where = root_.where(key);
  if (description_.is_cuda) {
    const std::uint64_t bits = root_.integer("address_bits", 32, 64, 32);
    if (bits != 32 && bits != 64) {
      throw InputError(root_.where("address_bits"), fmt::format("'address_bits' is {}", bits), "give 32 or 64");
    }
    description_.address_bits = static_cast<unsigned>(bits);
    if (root_.has("architecture")) {
      description_.architecture = cuda::read_architecture(root_.where("architecture"), root_.string("architecture"));
    }
  } else {
    if (root_.has("architecture")) {
      throw InputError(root_.where("architecture"), "'architecture' belongs to 'cuda'",
                       "a PTX file is what was made for one (.target)");
    }
    if (root_.has("address_bits")) {
      throw InputError(root_.where("address_bits"), "'address_bits' belongs to 'cuda'",
                       "a PTX file says it itself (.address_size)");
    }
    description_.address_bits = address_size_of(description_.source);
  }
}

std::size_t Reader::buffer_named(const Section& section, std::string_view key) const {
  const std::string name = section.string(key);
  if (const auto found = numbers_.find(name); found != numbers_.end()) {
    return found->second;
  }
  std::vector<std::string> names;
  for (const Buffer& buffer : description_.buffers) {
    names.push_back(buffer.name);
  }
  throw InputError(section.where(key), fmt::format("there is no buffer '{}'", excerpt(name)),
                   suggest(name, names, names.empty() ? "add a [[buffer]]" : "buffers: " + join(names)));
}

void Reader::read_output(const toml::table& table, std::size_t number) {
  const Section section(table, path_, fmt::format("[[output]] number {}", number),
                        {"buffer", "file", "expect", "tolerance"});
  Output output;
  output.where = section.where();
  output.buffer = buffer_named(section, "buffer");
  const Buffer& buffer = description_.buffers[output.buffer];
  if (!section.has("file") && !section.has("expect")) {
    throw InputError(section.where(), section.title() + " has neither 'file' nor 'expect'",
                     "say where the buffer goes, or what it must hold");
  }
  if (section.has("file")) {
    output.file = output_file(section);
  }
  if (section.has("expect")) {
    output.expect = input_file(section, "expect");
    const std::uint64_t bytes = fs::file_size(*output.expect);
    if (bytes != buffer.bytes()) {
      throw InputError(section.where("expect"), fmt::format("'{}' has {} bytes, but buffer '{}' has {}", *output.expect,
                                                            bytes, buffer.name, buffer.bytes()));
    }
  }
  if (section.has("tolerance")) {
    const Number tolerance = section.number("tolerance");
    if (!section.has("expect") || !is_float(buffer.type) || !std::isfinite(tolerance.real) || tolerance.real < 0) {
      throw InputError(section.where("tolerance"), section.name("tolerance") + " does not fit",
                       "it is a finite number, at least 0, beside 'expect', for buffers of f16, f32 or f64");
    }
    output.tolerance = tolerance.real;
  }
  description_.outputs.push_back(std::move(output));
}

// A name below the output directory, used once.
std::string Reader::output_file(const Section& section) {
  const fs::path path = fs::path(section.string("file")).lexically_normal();
  const bool leaves =
      path.is_absolute() || path.empty() || *path.begin() == ".." || !path.has_filename() || path == ".";
  if (leaves || !files_.insert(path.string()).second) {
    throw InputError(section.where("file"),
                     fmt::format("{}: '{}' {}", section.name("file"), path.string(),
                                 leaves ? "is not a file below the output directory" : "is written by another output"),
                     leaves ? "give a relative path without '..'" : "give each output a file of its own");
  }
  if (*path.begin() == "stats.json" || *path.begin() == "host.json") {
    throw InputError(
        section.where("file"),
        fmt::format("{}: heddle run writes its own '{}' there", section.name("file"), path.begin()->string()),
        "give another name");
  }
  return path.string();
}

Description parse(std::string_view text, const std::string& path) {
  const toml::table root = parse_toml(text, path, "see docs/launch-files.md");
  return Reader(root, path).read();
}

}  // namespace heddle::tb::launch
