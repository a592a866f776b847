// Reads the messages of one thread (isa/print.hpp) and makes text of them, as C's printf does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "isa/print.hpp"

namespace heddle::isa {

struct Message {
  MessageKind kind = MessageKind::text32;
  std::string text;       // of printf; empty for an assertion
  std::string assertion;  // "'n > 0' in void k(int), k.cu:12"
};

// One conversion of a format, with the values of its stars.
struct Conversion {
  std::string raw;  // as it stands in the format
  std::string flags;
  std::optional<int> width;
  std::optional<int> precision;
  std::string length;  // h, hh, l, ll, ...
  char letter = '\0';
};

class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}
  // None: the end, or a message that is not complete.
  [[nodiscard]] std::optional<Message> next();

 private:
  enum class Step { more, end, cut };  // cut: the bytes end within the message
  [[nodiscard]] bool read_text(Message& message, bool wide);
  [[nodiscard]] bool read_assertion(Message& message);
  [[nodiscard]] Step read_conversion(std::string& out, bool wide);
  [[nodiscard]] Step read_argument(const Conversion& conversion, std::string& out, bool wide);
  [[nodiscard]] bool take(void* to, std::size_t count);
  [[nodiscard]] bool take_string(std::string& to);

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace heddle::isa
