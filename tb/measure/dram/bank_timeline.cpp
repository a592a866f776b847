#include "tb/measure/dram/bank_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/error.hpp"
#include "tb/measure/json_text.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, BankTimeline::kKinds> kKindNames = {"hit", "conflict", "hold", "lost",
                                                                           "transfer"};

std::string_view name_of(BankTimeline::Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string timeline_json(const BankTimeline& timeline) {
  json::array panels;
  for (const BankTimeline::Panel& panel : timeline.panels) {
    json::array spans;
    for (const BankTimeline::Span& span : panel.spans) {
      spans.push_back(json::object{{"kind", json::string(name_of(span.kind))},
                                   {"bank", span.bank},
                                   {"begin", span.begin},
                                   {"end", span.end},
                                   {"row", span.row}});
    }
    panels.push_back(json::object{{"label", panel.label}, {"banks", panel.banks}, {"spans", std::move(spans)}});
  }
  return json_text(json::object{{"schema", 1},
                                {"title", timeline.title},
                                {"begin", timeline.begin},
                                {"end", timeline.end},
                                {"panels", std::move(panels)}});
}

BankTimeline read_timeline(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw InputError({path}, "is missing or cannot be read");
  }
  try {
    const json::value root = json::parse(std::string{std::istreambuf_iterator<char>(in), {}});
    BankTimeline timeline;
    timeline.title = root.at("title").as_string().c_str();
    timeline.begin = root.at("begin").to_number<std::uint64_t>();
    timeline.end = root.at("end").to_number<std::uint64_t>();
    for (const json::value& one : root.at("panels").as_array()) {
      BankTimeline::Panel panel{one.at("label").as_string().c_str(), one.at("banks").to_number<unsigned>(), {}};
      for (const json::value& span : one.at("spans").as_array()) {
        const json::string& name = span.at("kind").as_string();
        const auto kind = std::find(kKindNames.begin(), kKindNames.end(), std::string_view(name));
        if (kind == kKindNames.end()) {
          throw InputError({path}, fmt::format("there is no kind '{}'", std::string_view(name)));
        }
        panel.spans.push_back({static_cast<BankTimeline::Kind>(kind - kKindNames.begin()),
                               span.at("bank").to_number<unsigned>(), span.at("begin").to_number<std::uint64_t>(),
                               span.at("end").to_number<std::uint64_t>(), span.at("row").to_number<std::uint64_t>()});
      }
      timeline.panels.push_back(std::move(panel));
    }
    return timeline;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({path}, fmt::format("does not hold a timeline: {}", error.what()));
  }
}

}  // namespace heddle::tb
