#include "os/checkpoint/notes.hpp"

#include <cstring>

#include "base/error.hpp"

namespace heddle::checkpoint {

namespace {

struct Writer {
  std::string& out;

  void operator()(std::uint64_t number) { out.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void operator()(const std::string& text) {
    (*this)(std::uint64_t{text.size()});
    out += text;
  }
  template <class Part>
  void operator()(const std::vector<Part>& parts) {
    (*this)(std::uint64_t{parts.size()});
    for (const Part& part : parts) {
      Part::describe(part, *this);
    }
  }
};

struct Reader {
  std::string_view left;

  std::string_view take(std::uint64_t bytes) {
    if (bytes > left.size()) {
      throw InternalError("the notes of a checkpoint end too early");
    }
    const std::string_view part = left.substr(0, bytes);
    left.remove_prefix(bytes);
    return part;
  }
  void operator()(std::uint64_t& number) { std::memcpy(&number, take(sizeof number).data(), sizeof number); }
  void operator()(std::string& text) {
    std::uint64_t bytes = 0;
    (*this)(bytes);
    text = take(bytes);
  }
  template <class Part>
  void operator()(std::vector<Part>& parts) {
    std::uint64_t count = 0;
    (*this)(count);
    for (; count != 0; --count) {
      Part::describe(parts.emplace_back(), *this);
    }
  }
};

}  // namespace

std::string bytes_of(const Notes& notes) {
  std::string bytes;
  Notes::describe(notes, Writer{bytes});
  return bytes;
}

Notes notes_of(std::string_view bytes) {
  Notes notes;
  Reader reader{bytes};
  Notes::describe(notes, reader);
  if (!reader.left.empty()) {
    throw InternalError("the notes of a checkpoint have bytes too many");
  }
  return notes;
}

}  // namespace heddle::checkpoint
