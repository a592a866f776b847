#include "ptx/parse/types.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/nearest.hpp"

namespace heddle::ptx {

namespace {

using isa::Special;
using isa::Type;

constexpr std::array<std::pair<std::string_view, Type>, 19> kTypeNames{
    {{"u8", Type::u8},
     {"s8", Type::s8},
     {"u16", Type::u16},
     {"s16", Type::s16},
     {"u32", Type::u32},
     {"s32", Type::s32},
     {"u64", Type::u64},
     {"s64", Type::s64},
     {"f16", Type::f16},
     {"f32", Type::f32},
     {"f64", Type::f64},
     {"b8", Type::b8},
     {"b16", Type::b16},
     {"b32", Type::b32},
     {"b64", Type::b64},
     {"pred", Type::pred},
     {"f16x2", Type::b32},
     // Variables that hold the handle of a texture or surface.
     {"texref", Type::b64},
     {"surfref", Type::b64}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kRefusedTypes{
    {{"b128", "128-bit values are not supported; use two .b64"},
     {"bf16", "the machine has no bfloat16; use .f32, or .b16 for the bits"},
     {"bf16x2", "the machine has no bfloat16; use .f32, or .b32 for the bits"},
     {"tf32", "the machine has no tensor operations; use .f32"},
     {"e4m3", "the machine has no 8-bit floats; use .f32"},
     {"e5m2", "the machine has no 8-bit floats; use .f32"},
     {"e4m3x2", "the machine has no 8-bit floats; use .f32"},
     {"e5m2x2", "the machine has no 8-bit floats; use .f32"},
     {"u16x2", "packed 16-bit integers are not supported; use .b32"},
     {"s16x2", "packed 16-bit integers are not supported; use .b32"},
     {"f32x2", "packed floats are not supported; use .v2 .f32"},
     {"u128", "128-bit values are not supported; use two .u64"},
     {"s128", "128-bit values are not supported; use two .s64"},
     {"samplerref", "a texture's handle says how it is sampled; use the unified mode"},
     {"tex", "the space .tex is of old; use .global .texref"},
     {"surf", "the space .surf is of old; use .global .surfref"},
     {"ue8m0x2", "the machine has no 8-bit floats; use .f32"},
     {"sreg", "special registers are predefined; use their names"}}};

constexpr std::array<std::pair<std::string_view, Special>, 40> kSpecials{
    {{"%tid.x", Special::tid_x},
     {"%tid.y", Special::tid_y},
     {"%tid.z", Special::tid_z},
     {"%ntid.x", Special::ntid_x},
     {"%ntid.y", Special::ntid_y},
     {"%ntid.z", Special::ntid_z},
     {"%ctaid.x", Special::ctaid_x},
     {"%ctaid.y", Special::ctaid_y},
     {"%ctaid.z", Special::ctaid_z},
     {"%nctaid.x", Special::nctaid_x},
     {"%nctaid.y", Special::nctaid_y},
     {"%nctaid.z", Special::nctaid_z},
     {"%laneid", Special::laneid},
     {"%warpid", Special::warpid},
     {"%nwarpid", Special::nwarpid},
     {"%smid", Special::smid},
     {"%nsmid", Special::nsmid},
     {"%gridid", Special::gridid},
     {"%clock", Special::clock},
     {"%clock_hi", Special::clock_hi},
     {"%clock64", Special::clock64},
     // Nanoseconds: a cycle counts for one, since a machine's description has cycles only.
     {"%globaltimer", Special::clock64},
     {"%globaltimer_lo", Special::clock},
     {"%globaltimer_hi", Special::clock_hi},
     {"%lanemask_eq", Special::lanemask_eq},
     {"%lanemask_le", Special::lanemask_le},
     {"%lanemask_lt", Special::lanemask_lt},
     {"%lanemask_ge", Special::lanemask_ge},
     {"%lanemask_gt", Special::lanemask_gt},
     {"%dynamic_smem_size", Special::dynamic_smem_size},
     {"%total_smem_size", Special::total_smem_size},
     {"%clusterid.x", Special::ctaid_x},  // a cluster is one block
     {"%clusterid.y", Special::ctaid_y},
     {"%clusterid.z", Special::ctaid_z},
     {"%nclusterid.x", Special::nctaid_x},
     {"%nclusterid.y", Special::nctaid_y},
     {"%nclusterid.z", Special::nctaid_z},
     {"%is_cooperative", Special::is_cooperative},
     {"%envreg1", Special::envreg1},
     {"%envreg2", Special::envreg2}}};

constexpr std::array<std::string_view, 3> kRefusedSpecials{"%aggr_smem_size", "%is_explicit_cluster",
                                                           "%current_graph_exec"};

// Offsets into the reserved part; its end is one of them.
constexpr std::array<std::pair<std::string_view, unsigned>, 4> kReservedPlaces{
    {{"%reserved_smem_offset_begin", 0},
     {"%reserved_smem_offset_0", 0},
     {"%reserved_smem_offset_1", kReservedBytes / 2},
     {"%reserved_smem_offset_end", kReservedBytes}}};

bool has_number_after(std::string_view name, std::string_view prefix, std::string_view suffix = {}) {
  if (!name.starts_with(prefix)) {
    return false;
  }
  name.remove_prefix(prefix.size());
  if (!suffix.empty() && name.ends_with(suffix)) {
    name.remove_suffix(suffix.size());
  }
  return !name.empty() && name.size() <= 2 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// %envreg0 to %envreg31.
bool is_environment_register(std::string_view name) {
  constexpr std::string_view kPrefix = "%envreg";
  if (!has_number_after(name, kPrefix)) return false;
  const std::string_view number = name.substr(kPrefix.size());
  return number.size() == 1 ? true : number[0] >= '1' && (number[0] < '3' || number <= "31");
}

template <class Table>
auto look_up(const Table& table, std::string_view name) -> std::optional<decltype(table.front().second)> {
  for (const auto& [key, value] : table) {
    if (key == name) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<isa::Type> type_named(std::string_view name) {
  return look_up(kTypeNames, name);
}

std::string_view refused_type(std::string_view name) {
  return look_up(kRefusedTypes, name).value_or("");
}

std::optional<isa::Space> space_named(std::string_view name) {
  if (name == "global") return isa::Space::global;
  if (name == "shared" || name == "shared::cta") return isa::Space::shared;
  if (name == "local") return isa::Space::local;
  if (name == "const") return isa::Space::constant;
  if (name == "param") return isa::Space::param;
  return std::nullopt;
}

std::optional<isa::Special> special_named(std::string_view name) {
  return look_up(kSpecials, name);
}

std::optional<unsigned> reserved_shared_named(std::string_view name) {
  return look_up(kReservedPlaces, name);
}

std::optional<std::uint64_t> special_constant(std::string_view name) {
  for (const char* const side : {"x", "y", "z"}) {
    if (name == std::string("%cluster_ctaid.") + side) return 0;
    if (name == std::string("%cluster_nctaid.") + side) return 1;
  }
  if (name == "%cluster_ctarank") return 0;
  if (name == "%cluster_nctarank") return 1;
  if (name == "%reserved_smem_offset_cap") return kReservedBytes;
  if (is_environment_register(name)) return 0;  // a driver sets them, and here there is none
  return std::nullopt;
}

bool is_vector_special(std::string_view name) {
  return name == "%tid" || name == "%ntid" || name == "%ctaid" || name == "%nctaid" || name == "%clusterid" ||
         name == "%nclusterid" || name == "%cluster_ctaid" || name == "%cluster_nctaid";
}

bool is_refused_special(std::string_view name) {
  return std::find(kRefusedSpecials.begin(), kRefusedSpecials.end(), name) != kRefusedSpecials.end() ||
         has_number_after(name, "%pm") || has_number_after(name, "%pm", "_64");
}

std::string nearest_special(std::string_view name) {
  std::vector<std::string> names;
  names.reserve(kSpecials.size());
  for (const auto& [candidate, special] : kSpecials) {
    names.emplace_back(candidate);
  }
  return name.size() > 64 ? "" : nearest(name, names).value_or("");
}

}  // namespace heddle::ptx
