#include "studies/reproduce/beside.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "studies/reproduce/reproduce.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/version.hpp"

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
      const auto text = [&](const char* key) {
        return claim.contains(key) ? std::string(claim.at(key).as_string()) : std::string();
      };
      other.claims[claim.at("id").as_string().c_str()] = {
          claim.at("ours").as_string().c_str(), claim.at("shape").as_string().c_str(), text("date"), text("heddle")};
    }
    return other;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({path}, std::string("is no reproduction: ") + error.what(),
                     "name the reproduction.json that heddle reproduce has written");
  }
}

OtherReproduction with_verdicts(const std::optional<OtherReproduction>& kept, const Reproduction& reproduction,
                                const std::string& date) {
  OtherReproduction all;
  all.scaling = scaling_text(reproduction.scaling);
  if (kept) {
    all.claims = kept->claims;
  }
  for (const ReproducedClaim& claim : reproduction.claims) {
    if (claim.shape != Shape::not_measured && claim.finding.measured == claim.finding.wanted) {
      all.claims[claim.id] = {claim.finding.ours, std::string(shape_text(claim.shape)), date,
                              std::string(tb::version())};
    }
  }
  return all;
}

std::string verdicts_json(const OtherReproduction& verdicts) {
  namespace json = boost::json;
  json::array claims;
  for (const auto& [id, verdict] : verdicts.claims) {
    claims.push_back(json::object{{"id", id},
                                  {"ours", verdict.ours},
                                  {"shape", verdict.shape},
                                  {"date", verdict.date},
                                  {"heddle", verdict.version}});
  }
  return tb::json_text(
      json::object{{"schema", kReproductionSchema}, {"scaling", verdicts.scaling}, {"claims", std::move(claims)}});
}

}  // namespace heddle::studies
