#include "tests/support/gpu_programs.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace heddle::test {
namespace {

void write_whole(const std::string& path, const void* bytes, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  file.close();
  if (!file) throw std::runtime_error(path + " cannot be written");
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::string item_of(const GpuProgram& program, const std::string& file) {
  std::string text = "{\"name\": " + in_quotes(program.name) + ", \"group\": " + in_quotes(program.group) +
                     ", \"ptx\": \"" + file + ".ptx\", \"entry\": \"" + program.entry +
                     "\", \"grid\": " + std::to_string(program.grid) + ", \"block\": " + std::to_string(program.block) +
                     ", \"repetitions\": 1, \"buffers\": {\"in\": {\"file\": \"" + file +
                     ".in\"}, \"out\": {\"bytes\": " + std::to_string(program.output.size()) +
                     "}}, \"arguments\": [{\"buffer\": \"in\"}, {\"buffer\": \"out\"}";
  if (program.number) text += ", {\"u32\": " + std::to_string(*program.number) + "}";
  text += "], \"expect\": [{\"buffer\": \"out\", \"file\": \"" + file + ".out\"";
  std::string parts;
  for (const GpuProgram::Part& part : program.parts) {
    parts += (parts.empty() ? "" : ", ") + ("{\"name\": " + in_quotes(part.name)) +
             ", \"offset\": " + std::to_string(part.offset) + ", \"count\": " + std::to_string(part.count) +
             ", \"stride\": " + std::to_string(part.stride) + ", \"type\": \"" + part.type +
             "\", \"ulps\": " + std::to_string(part.ulps) + "}";
  }
  if (!parts.empty()) text += ", \"parts\": [" + parts + "]";
  return text + "}]}";
}

}  // namespace

std::optional<std::string> gpu_programs_folder() {
  const char* const folder = std::getenv("HEDDLE_GPU_PROGRAMS");
  return folder == nullptr || *folder == '\0' ? std::nullopt : std::optional<std::string>(folder);
}

void write_gpu_programs(const std::string& folder, const std::string& list, std::span<const GpuProgram> programs) {
  std::filesystem::create_directories(folder);
  std::string items;
  std::size_t number = 0;
  for (const GpuProgram& program : programs) {
    const std::string file = list + "-" + std::to_string(++number);
    const std::string path = folder + "/" + file;
    write_whole(path + ".ptx", program.ptx.data(), program.ptx.size());
    write_whole(path + ".in", program.input.data(), program.input.size());
    write_whole(path + ".out", program.output.data(), program.output.size());
    items += (items.empty() ? "" : ",\n") + item_of(program, file);
  }
  const std::string text = "{\"items\": [\n" + items + "\n]}\n";
  write_whole(folder + "/" + list + ".json", text.data(), text.size());
}

}  // namespace heddle::test
