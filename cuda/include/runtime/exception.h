/* Of NVIDIA's code samples, from release 5 on: exceptions that know where they come from (docs/cuda.md). C++ alone. */
#if __has_include_next(<exception.h>)
#include_next <exception.h> /* a program's own, in a folder that is named behind this one */
#elif !defined(COMMON_EXCEPTION_H_)
#define COMMON_EXCEPTION_H_

#include <stdlib.h>

#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

template <class Standard>
class Exception : public Standard {
 public:
  explicit Exception(const std::string& text) : Standard(text) {}
  static void throw_it(const char* file, const int line, const char* detail = "-") {
    std::ostringstream text;
    text << "Exception in file '" << file << "' in line " << line << "\nDetailed description: " << detail << "\n";
    throw Exception(text.str());
  }
  static void throw_it(const char* file, const int line, const std::string& detail) {
    throw_it(file, line, detail.c_str());
  }
};

/* Says what is wrong, and ends the program. */
template <class Standard>
void handleException(const Standard& exception) {
  std::cerr << exception.what() << std::endl;
  exit(EXIT_FAILURE);
}

#define RUNTIME_EXCEPTION(text) Exception<std::runtime_error>::throw_it(__FILE__, __LINE__, text)
#define LOGIC_EXCEPTION(text) Exception<std::logic_error>::throw_it(__FILE__, __LINE__, text)
#define RANGE_EXCEPTION(text) Exception<std::range_error>::throw_it(__FILE__, __LINE__, text)

#endif
