#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "tb/measure/cost/cost.hpp"
#include "tb/measure/json_text.hpp"

namespace heddle::tb {
namespace {

std::string_view kind_text(CostLine::Kind kind) {
  switch (kind) {
    case CostLine::Kind::present:
      return "present";
    case CostLine::Kind::counted:
      return "counted";
    case CostLine::Kind::estimated:
      return "estimated";
    case CostLine::Kind::logic:
      break;
  }
  return "logic";
}

std::string byte_text(std::uint64_t bits) {
  return bits % 8 == 0 ? fmt::format("{}", grouped(bits / 8)) : fmt::format("{:.1f}", static_cast<double>(bits) / 8);
}

std::string share_text(std::uint64_t bits, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.3f} %", 100.0 * static_cast<double>(bits) / static_cast<double>(whole));
}

void add_row(TextTable& table, const StorageCost& cost, const std::string& name, const std::string& formula,
             std::uint64_t bits, const std::string& source) {
  table.add({name, formula, grouped(bits), byte_text(bits), share_text(bits, cost.register_file_bits), source});
}

}  // namespace

std::string cost_text(const StorageCost& cost) {
  using Align = TextTable::Align;
  std::string out =
      fmt::format("Storage of one core of {}, per core; shares are of the register file.\n", cost.machine);
  std::string mechanism;
  const auto flush = [&](TextTable& table, bool any) {
    if (any) {
      out += "\n" + mechanism + "\n\n" + table.text();
    }
  };
  const auto fresh = [] {
    return TextTable({{"what"},
                      {"bits", Align::left},
                      {"= bits", Align::right},
                      {"bytes", Align::right},
                      {"share", Align::right},
                      {"source"}});
  };
  TextTable table = fresh();
  for (const CostLine& line : cost.lines) {
    if (line.mechanism != mechanism) {
      flush(table, !mechanism.empty());
      mechanism = line.mechanism;
      table = fresh();
    }
    if (line.kind == CostLine::Kind::logic) {
      table.add({line.name, line.formula, "-", "-", "-", line.source});
    } else {
      add_row(
          table, cost, line.name, line.formula, line.bits,
          line.source + (line.kind == CostLine::Kind::estimated && line.source.find("own estimate") == std::string::npos
                             ? "; own estimate"
                             : ""));
    }
  }
  flush(table, !mechanism.empty());
  const std::uint64_t counted = cost.bits(CostLine::Kind::counted);
  const std::uint64_t estimated = cost.bits(CostLine::Kind::estimated);
  const auto total = [&](std::string_view what, std::uint64_t bits) {
    out += fmt::format("{}: {} bits = {} bytes, {} of the register file\n", what, grouped(bits), byte_text(bits),
                       share_text(bits, cost.register_file_bits));
  };
  out += "\n";
  total("Added, as the papers count", counted);
  if (estimated != 0) {
    total("Added, with own estimates ", counted + estimated);
  }
  return out;
}

std::string cost_json(const StorageCost& cost) {
  namespace json = boost::json;
  json::array lines;
  for (const CostLine& line : cost.lines) {
    json::array accesses;
    for (const hw::CostAccess& access : line.accesses) {
      accesses.push_back(json::object{{"counter", access.counter}, {"bits", access.bits}});
    }
    lines.push_back(json::object{{"kind", json::string(kind_text(line.kind))},
                                 {"mechanism", line.mechanism},
                                 {"name", line.name},
                                 {"formula", line.formula},
                                 {"bits", line.bits},
                                 {"source", line.source},
                                 {"accesses", std::move(accesses)}});
  }
  return json_text(json::object{{"schema", 1},
                                {"machine", cost.machine},
                                {"register_file_bits", cost.register_file_bits},
                                {"counted_bits", cost.bits(CostLine::Kind::counted)},
                                {"estimated_bits", cost.bits(CostLine::Kind::estimated)},
                                {"lines", std::move(lines)}});
}

}  // namespace heddle::tb
