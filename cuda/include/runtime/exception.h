/* Of NVIDIA's code samples, from release 5 on: exceptions that know where they come from (docs/cuda.md). C++ alone. */
#ifndef COMMON_EXCEPTION_H_
#define COMMON_EXCEPTION_H_

#include <stdlib.h>

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
    text << "exception in file '" << file << "' in line " << line << "\ndetailed description: " << detail << "\n";
    throw Exception(text.str());
  }
  static void throw_it(const char* file, const int line, const std::string& detail) {
    throw_it(file, line, detail.c_str());
  }
};
typedef Exception<std::runtime_error> Runtime_Exception;
typedef Exception<std::range_error> Range_Exception;
typedef Exception<std::logic_error> Logic_Exception;

/* Says what is wrong, and ends the program. */
template <class Standard>
void handleException(const Standard& exception) {
  std::cerr << exception.what() << std::endl;
  exit(EXIT_FAILURE);
}

#define RUNTIME_EXCEPTION(text) Runtime_Exception::throw_it(__FILE__, __LINE__, text)
#define LOGIC_EXCEPTION(text) Logic_Exception::throw_it(__FILE__, __LINE__, text)
#define RANGE_EXCEPTION(text) Range_Exception::throw_it(__FILE__, __LINE__, text)

#endif
