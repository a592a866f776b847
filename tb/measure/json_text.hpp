// JSON as text, deterministic: keys in the order in which they were put in, numbers in their shortest form that reads
// back exactly, two spaces of indentation, arrays of numbers on one line.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

namespace heddle::tb {

[[nodiscard]] std::string json_text(const boost::json::value& value);

}  // namespace heddle::tb
