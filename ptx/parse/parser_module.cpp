// Directives of the module: .version .target .address_size .file .loc .section .pragma, linking (PTX ISA 11).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"
#include "ptx/parse/constant.hpp"
#include "ptx/parse/parser.hpp"
#include "ptx/parse/types.hpp"

namespace heddle::ptx {

namespace {

constexpr unsigned kOldestVersion = 3, kNewestVersion = 9;
constexpr std::uint64_t kMaxSourceFiles = 65'535;

}  // namespace

File parse(std::string_view text, const std::string& file, Refusals refusals) {
  return Parser(text, file, refusals).run();
}

File Parser::run() {
  version();
  while (!in_.at_end()) {
    module_item();
  }
  if (!has_target_) {
    in_.fail(in_.current(), "the file has no .target", "write a line like '.target sm_60' after .version");
  }
  check_source_files();
  out_.source_files.resize(source_files_.empty() ? 1 : source_files_.rbegin()->first + std::size_t{1});
  for (auto& [number, name] : source_files_) {
    out_.source_files[number] = std::move(name);
  }
  return std::move(out_);
}

void Parser::unknown_directive(std::string_view where, const std::vector<std::string>& known) {
  const Token token = in_.current();
  if (token.kind != Token::Kind::dotted) {
    in_.fail_expected(fmt::format("a directive {}", where));
  }
  const std::string near = token.text.size() > 64 ? "" : nearest(token.text, known).value_or("");
  in_.fail(token, fmt::format("{} is not a directive {}", token.describe(), where),
           near.empty() ? "" : fmt::format("did you mean '.{}'?", near));
}

void Parser::module_item() {
  const Token token = in_.current();
  if (in_.accept(";")) {
    return;
  }
  if (token.kind == Token::Kind::identifier && in_.ahead().kind != Token::Kind::end) {
    in_.fail(token, fmt::format("{} stands outside of every function", token.describe()),
             "instructions and labels belong between the { } of an .entry or a .func");
  }
  if (token.punctuation("}")) {
    in_.fail(token, "this '}' closes nothing", "remove it or look for a missing '{' above");
  }
  if (token.dotted("target")) return target();
  if (token.dotted("address_size")) return address_size();
  if (token.dotted("file")) return source_file();
  if (token.dotted("loc")) return location();
  if (token.dotted("section")) return section();
  if (token.dotted("version")) {
    in_.fail(token, "a second .version", "one file has one .version, on its first line");
  }
  if (token.dotted("pragma")) {
    const Position at = in_.here();
    module_pragmas_.emplace_back(pragma(), at);
    return;
  }
  if (token.dotted("alias")) {
    in_.fail(token, ".alias is not supported", "call the function by its first name (clang: -fno-alias-functions)");
  }
  if (!has_target_) {
    in_.fail(token, fmt::format("{} stands before .target", token.describe()),
             "write a line like '.target sm_60' after .version");
  }
  const Linking link = linking();
  const Token item = in_.current();
  if (in_.at_dotted("entry") || in_.at_dotted("func")) {
    in_.take();
    function(item.text == "entry", link);
    return;
  }
  if (in_.at_dotted("reg") || in_.at_dotted("local") || in_.at_dotted("param")) {
    in_.fail(item, fmt::format("{} variables belong inside functions", item.describe()),
             "move the declaration between the { } of the function");
  }
  if (const auto reason = item.kind == Token::Kind::dotted ? refused_type(item.text) : std::string_view{};
      !reason.empty()) {
    in_.fail(item, fmt::format("{} is not supported", item.describe()), std::string(reason));
  }
  if (item.kind == Token::Kind::dotted) {
    if (const auto space = space_named(item.text)) {
      in_.take();
      variables(*space, link);
      return;
    }
  }
  if (link.any) {
    in_.fail_expected(fmt::format("'.entry', '.func' or a variable after {}", link.token.describe()));
  }
  unknown_directive("of a module",
                    {"address_size", "alias", "common", "const", "entry", "extern", "file", "func", "global", "loc",
                     "pragma", "section", "shared", "target", "version", "visible", "weak"});
}

void Parser::version() {
  if (!in_.accept_dotted("version")) {
    in_.fail_expected("'.version' at the beginning", "PTX begins with a line like '.version 7.0'");
  }
  const Token number = in_.current();
  const std::size_t dot = number.text.find('.');
  const auto all_digits = [](std::string_view text) {
    return !text.empty() && text.size() <= 3 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (number.kind != Token::Kind::real || !all_digits(number.text.substr(0, dot)) ||
      !all_digits(number.text.substr(dot + 1))) {
    in_.fail_expected("a version like 7.0");
  }
  in_.take();
  out_.version_major = static_cast<unsigned>(std::stoul(std::string(number.text.substr(0, dot))));
  out_.version_minor = static_cast<unsigned>(std::stoul(std::string(number.text.substr(dot + 1))));
  if (out_.version_major < kOldestVersion || out_.version_major > kNewestVersion) {
    in_.fail(number, fmt::format("PTX version {} is not supported", number.text),
             fmt::format("versions {}.0 to {}.x are", kOldestVersion, kNewestVersion));
  }
}

void Parser::target() {
  in_.take();
  do {
    const Token token = in_.expect_identifier("a target like sm_60");
    const std::string_view name = token.text;
    if (name.starts_with("sm_") && name.size() > 3 && name[3] >= '0' && name[3] <= '9') {
      if (!out_.target.empty() && out_.target != name) {
        in_.fail(token, fmt::format("the file is for {} already", out_.target), "name one sm_ target");
      }
      out_.target = name;
    } else if (name == "map_f64_to_f32") {
      in_.fail(token, "map_f64_to_f32 is not supported", "the machine has .f64; remove the option");
    } else if (name != "debug" && name != "texmode_unified" && name != "texmode_independent") {
      in_.fail(token, fmt::format("{} is not a target", token.describe()), "targets are sm_20 to sm_121, e.g. sm_60");
    }
  } while (in_.accept(","));
  if (out_.target.empty()) {
    in_.fail_expected("a target like sm_60");
  }
  has_target_ = true;
}

void Parser::address_size() {
  const Token directive = in_.take();
  const Token number = in_.current();
  const std::uint64_t size = parse_number(in_, "the address size", 0, UINT32_MAX);
  if (size != 32 && size != 64) {
    in_.fail(number, fmt::format("an address size of {} is not supported", size), "write 32 or 64");
  }
  if (!out_.functions.empty() || !out_.variables.empty()) {
    in_.fail(directive, ".address_size stands behind declarations", "write it directly after .target");
  }
  if (has_address_size_ && out_.address_size != size) {
    in_.fail(directive, fmt::format("the address size is {} already", out_.address_size));
  }
  has_address_size_ = true;
  out_.address_size = static_cast<unsigned>(size);
}

void Parser::source_file() {
  in_.take();
  const Token number = in_.current();
  const auto index = static_cast<std::uint32_t>(parse_number(in_, "the number of a source file", 1, kMaxSourceFiles));
  if (in_.current().kind != Token::Kind::string) {
    in_.fail_expected("the name of the source file in quotes");
  }
  const std::string name(in_.take().text);
  const auto [entry, is_new] = source_files_.emplace(index, name);
  if (!is_new && entry->second != name) {
    in_.fail(number, fmt::format("source file {} is \"{}\" already", index, entry->second));
  }
  if (in_.accept(",")) {  // time stamp and size, both of no use here
    parse_number(in_, "the time stamp of a source file", 0, INT64_MAX);
    in_.expect(",", "between the time stamp and the size of a source file");
    parse_number(in_, "the size of a source file", 0, INT64_MAX);
  }
}

void Parser::location() {
  const Token directive = in_.take();
  const auto file = static_cast<std::uint32_t>(parse_number(in_, "the file number of .loc", 0, kMaxSourceFiles));
  const auto line = static_cast<std::uint32_t>(parse_number(in_, "the line of .loc", 0, UINT32_MAX));
  parse_number(in_, "the column of .loc", 0, UINT32_MAX);
  used_source_files_.emplace(file, directive);
  in_.source_file = file;
  in_.source_line = line;
  // ", function_name label[+offset], inlined_at file line column": the place itself is what positions name.
  while (in_.accept(",")) {
    const Token attribute = in_.expect_identifier("function_name or inlined_at");
    if (attribute.text == "function_name") {
      in_.expect_identifier("the label of a function's name");
      if (in_.at("+")) {
        parse_offset(in_);
      }
    } else if (attribute.text == "inlined_at") {
      parse_number(in_, "the file number of inlined_at", 0, kMaxSourceFiles);
      parse_number(in_, "the line of inlined_at", 0, UINT32_MAX);
      parse_number(in_, "the column of inlined_at", 0, UINT32_MAX);
    } else {
      in_.fail(attribute, fmt::format("{} is not a part of .loc", attribute.describe()),
               ".loc knows function_name and inlined_at");
    }
  }
}

// .loc may come before the .file it names (clang writes .file last), so this waits for the end.
void Parser::check_source_files() const {
  for (const auto& [number, token] : used_source_files_) {
    if (number != 0 && source_files_.count(number) == 0) {
      in_.fail(token, fmt::format(".loc names source file {}, but there is no .file {}", number, number),
               "add the .file or remove the .loc");
    }
  }
}

void Parser::skip_balanced(std::string_view open, std::string_view close) {
  const Token first = in_.take();
  for (std::size_t depth = 1; depth != 0;) {
    if (in_.at_end()) {
      in_.fail(first, fmt::format("this '{}' is never closed", open), fmt::format("add the missing '{}'", close));
    }
    const Token token = in_.take();
    depth += token.punctuation(open) ? 1 : 0;
    depth -= token.punctuation(close) ? 1 : 0;
  }
}

void Parser::section() {
  in_.take();
  if (in_.current().kind != Token::Kind::dotted) {
    in_.fail_expected("the name of a section, e.g. '.debug_info'");
  }
  const Token name = in_.take();
  if (!name.text.starts_with("debug_")) {
    in_.fail(name, fmt::format("section {} is not supported", name.describe()),
             "only .debug_ sections are, as no code");
  }
  if (!in_.at("{")) {
    in_.fail_expected("'{' after the name of the section");
  }
  skip_balanced("{", "}");
}

std::string Parser::pragma() {
  in_.take();
  if (in_.current().kind != Token::Kind::string) {
    in_.fail_expected("the text of the pragma in quotes");
  }
  std::string text(in_.take().text);
  in_.expect(";", "after the pragma");
  return text;
}

Parser::Linking Parser::linking() {
  Linking result;
  while (in_.at_dotted("extern") || in_.at_dotted("visible") || in_.at_dotted("weak") || in_.at_dotted("common")) {
    const Token token = in_.take();
    if (result.any) {
      in_.fail(token, fmt::format("{} after {}", token.describe(), result.token.describe()),
               "a declaration has one linking directive");
    }
    const bool is_extern = token.text == "extern";
    // A .common variable is one wherever it is defined, as a .weak one is.
    const Linkage linkage = is_extern ? Linkage::external : token.text == "visible" ? Linkage::visible : Linkage::weak;
    result = {is_extern, linkage, token, true};
  }
  return result;
}

}  // namespace heddle::ptx
