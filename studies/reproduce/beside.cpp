#include "studies/reproduce/beside.hpp"

#include <boost/json.hpp>
#include <cstddef>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "studies/reproduce/reproduce.hpp"

namespace heddle::studies {

OtherReproduction read_reproduction(const std::string& path) {
  namespace json = boost::json;
  constexpr std::size_t kLargest = std::size_t{64} << 20U;
  const std::string text = read_input_file(path, kLargest);
  try {
    const json::object file = json::parse(text).as_object();
    if (file.at("schema").to_number<int>() != kReproductionSchema) {
      throw InputError({path}, "is of another schema", "make it anew with heddle reproduce");
    }
    OtherReproduction other;
    other.scaling = file.at("scaling").as_string().c_str();
    for (const json::value& entry : file.at("claims").as_array()) {
      const json::object& claim = entry.as_object();
      other.claims[claim.at("id").as_string().c_str()] = {claim.at("ours").as_string().c_str(),
                                                          claim.at("shape").as_string().c_str()};
    }
    return other;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({path}, std::string("is no reproduction: ") + error.what(),
                     "name the reproduction.json that heddle reproduce has written");
  }
}

}  // namespace heddle::studies
