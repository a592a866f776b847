#include "traces/request_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.hpp"

namespace heddle::traces {

namespace {

constexpr std::size_t kBuffer = 1 << 16;
constexpr std::size_t kWords = 4;  // more than any line may have

bool blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r' || letter == ',';
}

std::optional<std::uint64_t> number(std::string_view word) {
  int base = 10;
  if (word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
    word.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc() || last != word.data() + word.size()) {
    return std::nullopt;
  }
  return value;
}

// What kind of access a word names.
bool operation(std::string_view word, TraceRequest& request) {
  std::array<char, 6> letters{};
  if (word.empty() || word.size() >= letters.size()) {
    return false;
  }
  std::transform(word.begin(), word.end(), letters.begin(),
                 [](char letter) { return static_cast<char>(std::toupper(static_cast<unsigned char>(letter))); });
  std::string_view name(letters.data(), word.size());
  request.write = name == "W" || name == "WR" || name == "ST" || name == "S" || name == "WRITE";
  if (request.write) {
    return true;
  }
  request.hint = name.back() == 'H';
  if (request.hint) {
    name.remove_suffix(1);
  }
  return name == "R" || name == "RD" || name == "LD" || name == "L" || name == "READ";
}

// As much of a user's text as a message can show.
std::string shown(std::string_view text) {
  std::string out;
  for (const char letter : text.substr(0, 40)) {
    out += std::isprint(static_cast<unsigned char>(letter)) != 0 ? letter : '?';
  }
  return out + (text.size() > 40 ? "..." : "");
}

}  // namespace

RequestTrace::RequestTrace(std::istream& in, std::string name) : in_(in), name_(std::move(name)), buffer_(kBuffer) {}

void RequestTrace::refuse(const std::string& message, const std::string& hint) const {
  throw InputError({name_, static_cast<unsigned>(line_)}, message, hint);
}

bool RequestTrace::next_line(std::string_view& line) {
  while (true) {
    const auto* const newline = static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
    if (newline != nullptr || (ended_ && begin_ != end_)) {
      ++line_;
      const char* const first = buffer_.data() + begin_;
      const std::size_t length = newline != nullptr ? static_cast<std::size_t>(newline - first) : end_ - begin_;
      line = {first, length};
      begin_ += length + (newline != nullptr ? 1 : 0);
      return true;
    }
    if (ended_) {
      return false;
    }
    if (begin_ == 0 && end_ == buffer_.size()) {
      ++line_;
      refuse(fmt::format("a line of more than {} bytes", buffer_.size()), "is this a text file?");
    }
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    in_.read(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
    end_ += static_cast<std::size_t>(in_.gcount());
    if (in_.bad()) {
      throw InputError({name_}, "cannot be read");
    }
    ended_ = !in_;
  }
}

// False: nothing on this line.
bool RequestTrace::parse(std::string_view line, TraceRequest& request) {
  std::array<std::string_view, kWords> words;
  std::size_t count = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (blank(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#' || (line[at] == '/' && at + 1 < line.size() && line[at + 1] == '/')) {
      break;
    }
    std::size_t end = at;
    while (end < line.size() && !blank(line[end]) && line[end] != '#') {
      ++end;
    }
    if (count == kWords) {
      refuse("more than four words on a line", "expected: address and R or W, such as '0x12345680 R'");
    }
    words[count++] = line.substr(at, end - at);
    at = end;
  }
  if (count == 0) {
    return false;
  }
  static constexpr const char* kForms = "expected '0x12345680 R', 'LD 0x12345680', or numbers: wait, load, store";
  request = TraceRequest{};
  request.line = line_;
  if (count == 1) {
    refuse(fmt::format("'{}' alone is no request", shown(words[0])), kForms);
  }
  const auto first = number(words[0]);
  const auto second = number(words[1]);
  if (first && second) {
    request.wait = *first;
    request.address = *second;
    if (count > 3) {
      refuse("more than three numbers", kForms);
    }
    if (count == 3) {
      const auto third = number(words[2]);
      if (!third) {
        refuse(fmt::format("'{}' is no address", shown(words[2])), kForms);
      }
      has_store_ = true;
      store_ = TraceRequest{};
      store_.line = line_;
      store_.address = *third;
      store_.write = true;
    }
    return true;
  }
  const std::string_view kind = first ? words[1] : words[0];
  if (!operation(kind, request)) {
    refuse(fmt::format("'{}' is neither a read (R, RD, LD) nor a write (W, WR, ST)", shown(kind)), kForms);
  }
  if (!first && !second) {
    refuse(fmt::format("'{}' is no address", shown(words[1])), "addresses are decimal, or hex behind 0x");
  }
  request.address = first ? *first : *second;
  if (count > 2) {
    const auto cycle = number(words[2]);
    request.has_cycle = cycle.has_value();
    request.cycle = cycle.value_or(0);
  }
  return true;
}

bool RequestTrace::next(TraceRequest& request) {
  if (has_store_) {
    has_store_ = false;
    request = store_;
    return true;
  }
  std::string_view line;
  while (next_line(line)) {
    if (parse(line, request)) {
      return true;
    }
  }
  return false;
}

}  // namespace heddle::traces
