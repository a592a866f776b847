#include "cuda/compiler/ptx_parts.hpp"

#include <algorithm>
#include <charconv>

namespace heddle::cuda {
namespace {

// The name in ".visible .func  (.param .b32 func_retval0) name(" or ".entry name(".
std::string name_in(std::string_view header) {
  std::string_view rest = header;
  std::size_t from = rest.find(".entry ");
  from = from == std::string_view::npos ? rest.find(".func ") + 6 : from + 7;
  rest.remove_prefix(from);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with('(')) {  // the result
    rest.remove_prefix(std::min(rest.find(')') + 1, rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  return std::string(rest.substr(0, rest.find_first_of("( \n;")));
}

// The frame's address is in %SPL; those of variables in it are sums with constants.
bool goes_through_arrays(std::string_view body) {
  constexpr std::string_view kVariable = ", %SPL, ";
  std::set<std::string_view> variables{"%SPL"};
  for (std::size_t at = 0; at < body.size();) {
    const std::string_view line = first_line(body.substr(at));
    at += line.size();
    if (const std::size_t sum = line.find(kVariable); sum != std::string_view::npos) {
      const std::size_t reg = line.rfind('%', sum);
      if (line[sum + kVariable.size()] != '%') variables.insert(line.substr(reg, sum - reg));
    }
    if (line.find("ld.local") == std::string_view::npos && line.find("st.local") == std::string_view::npos) continue;
    const std::string_view place = line.substr(std::min(line.find('['), line.size() - 1) + 1);
    if (!variables.contains(place.substr(0, place.find_first_of("+]")))) return true;
  }
  return false;
}

}  // namespace

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
}

std::vector<PtxPart> ptx_parts(std::string_view ptx) {
  std::vector<PtxPart> parts;
  std::size_t between = 0;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::string_view line = first_line(ptx.substr(at));
    const bool header = line.starts_with('.') && (line.find(".entry ") != std::string_view::npos ||
                                                  line.find(".func ") != std::string_view::npos);
    if (!header) {
      at += line.size();
      continue;
    }
    const std::size_t brace = ptx.find("\n{\n", at);
    const std::size_t semicolon = ptx.find(';', at);
    const std::size_t end = brace == std::string_view::npos ? brace : ptx.find("\n}\n", brace);
    if (semicolon < brace || end == std::string_view::npos) {  // a declaration
      at += line.size();
      continue;
    }
    if (at != between) parts.push_back({ptx.substr(between, at - between), {}});
    parts.push_back({ptx.substr(at, end + 3 - at), name_in(line)});
    at = between = end + 3;
  }
  if (between != ptx.size()) parts.push_back({ptx.substr(between), {}});
  return parts;
}

std::string with_functions_of(std::string_view ptx, std::string_view other, const std::set<std::string>& names) {
  const std::vector<PtxPart> parts = ptx_parts(ptx), others = ptx_parts(other);
  const auto agree = [](const PtxPart& a, const PtxPart& b) {
    return a.name == b.name && (!a.name.empty() || a.text == b.text);
  };
  if (!std::equal(parts.begin(), parts.end(), others.begin(), others.end(), agree)) return std::string(other);
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) out += names.contains(parts[i].name) ? others[i].text : parts[i].text;
  return out;
}

std::map<std::string, std::uint64_t> local_arrays(std::string_view ptx) {
  constexpr std::string_view kFrame = "__local_depot";
  std::map<std::string, std::uint64_t> bytes;
  for (const PtxPart& part : ptx_parts(ptx)) {
    const std::size_t frame = part.name.empty() ? std::string_view::npos : part.text.find(kFrame);
    if (frame == std::string_view::npos) continue;
    const std::size_t count = std::min(part.text.find('[', frame), part.text.size() - 1) + 1;
    std::from_chars(part.text.data() + count, part.text.data() + part.text.size(), bytes[part.name]);
  }
  return bytes;
}

std::set<std::string> functions_through_arrays(std::string_view ptx) {
  std::set<std::string> names;
  for (const PtxPart& part : ptx_parts(ptx)) {
    if (!part.name.empty() && goes_through_arrays(part.text)) names.insert(part.name);
  }
  return names;
}

}  // namespace heddle::cuda
