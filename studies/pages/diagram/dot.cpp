#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "studies/pages/diagram/diagram.hpp"

namespace heddle::pages {

namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

// "core12" as "core" and 12; no number: -1.
std::pair<std::string, long> split_number(const std::string& name) {
  std::size_t letters = name.size();
  while (letters > 0 && std::isdigit(static_cast<unsigned char>(name[letters - 1])) != 0) {
    --letters;
  }
  return {name.substr(0, letters),
          letters == name.size() || name.size() - letters > 6 ? -1 : std::stol(name.substr(letters))};
}

class DotDrawing {
 public:
  DotDrawing(const Diagram& diagram, bool all) : diagram_(diagram) {
    for (const DiagramModule& module : diagram.modules) {
      children_[module.parent].push_back(module.path);
    }
    if (!all) {
      fold();
    }
    for (const DiagramBinding& binding : diagram.bindings) {
      const DiagramSocket& from = diagram.sockets[binding.from];
      const DiagramSocket& to = diagram.sockets[binding.to];
      if (!hidden(from.module) && !hidden(to.module)) {
        bound_.insert(from.path);
        bound_.insert(to.path);
      }
    }
  }

  std::string text(const std::string& title) {
    out_ = fmt::format(
        "digraph {} {{\n"
        "  rankdir=LR; compound=true; ranksep=0.7; nodesep=0.25;\n"
        "  graph [fontname=\"Helvetica\" fontsize=13 label=\"{}\" labelloc=t];\n"
        "  node [fontname=\"Helvetica\" fontsize=11 shape=box style=\"filled,rounded\" fillcolor=\"#eef3fb\" "
        "color=\"#4a6fa5\"];\n"
        "  edge [fontname=\"Helvetica\" fontsize=8 color=\"#555555\" arrowsize=0.6];\n",
        "heddle", title);
    const std::string top = diagram_.modules.front().path;
    module(top, 1);
    edges();
    return out_ + "}\n";
  }

 private:
  // Of modules that differ by number only the lowest is drawn, with a count.
  void fold() {
    for (const auto& [parent, members] : children_) {
      std::map<std::string, std::vector<std::string>> kinds;
      for (const std::string& member : members) {
        const auto [letters, number] = split_number(last_part(member));
        if (number >= 0) {
          kinds[letters].push_back(member);
        }
      }
      for (const auto& [letters, alike] : kinds) {
        copies_[alike.front()] = alike.size();
        hidden_.insert(alike.begin() + 1, alike.end());
      }
    }
  }
  [[nodiscard]] bool hidden(std::string path) const {
    for (; !path.empty(); path = path.find('.') == std::string::npos ? "" : path.substr(0, path.rfind('.'))) {
      if (hidden_.count(path) != 0) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::string label(const std::string& path) const {
    const auto copies = copies_.find(path);
    const std::string name = last_part(path);
    return copies == copies_.end() || copies->second == 1
               ? name
               : fmt::format("{} … {}{}\\n{} alike", name, split_number(name).first,
                             split_number(name).second + static_cast<long>(copies->second) - 1, copies->second);
  }

  void module(const std::string& path, unsigned level) {
    if (hidden(path)) {
      return;
    }
    const std::string indent(2 * static_cast<std::size_t>(level), ' ');
    const auto inner = children_.find(path);
    if (inner == children_.end()) {
      out_ += fmt::format("{}\"{}\" [label=\"{}\"];\n", indent, path, label(path));
      return;
    }
    out_ += fmt::format("{}subgraph \"cluster_{}\" {{\n{}  label=\"{}\"; style=rounded; color=\"#9aa9bd\";\n", indent,
                        path, indent, label(path));
    // A module with parts shows its own sockets on their own.
    for (const DiagramSocket& socket : diagram_.sockets) {
      if (socket.module == path && (level == 1 || bound_.count(socket.path) != 0)) {
        out_ += fmt::format("{}  \"{}\" [label=\"{}\" shape=cds height=0.25 fontsize=9 fillcolor=\"#ffffff\"];\n",
                            indent, socket.path, last_part(socket.path));
      }
    }
    for (const std::string& child : inner->second) {
      module(child, level + 1);
    }
    out_ += indent + "}\n";
  }

  [[nodiscard]] std::string node_of(const DiagramSocket& socket) const {
    return children_.count(socket.module) != 0 ? socket.path : socket.module;
  }

  void edges() {
    static const std::map<std::string, const char*> colours = {{"TLM-2.0 base protocol", "#b3541e"},
                                                               {"sub-warps", "#1f5fa8"},
                                                               {"lines", "#2e7d4f"},
                                                               {"registers", "#6b4fa0"},
                                                               {"register banks", "#6b4fa0"},
                                                               {"masks", "#1f5fa8"},
                                                               {"scratchpad", "#6b4fa0"},
                                                               {"private memory", "#6b4fa0"},
                                                               {"copies in bulk", "#2e7d4f"},
                                                               {"thread blocks", "#8a8a00"},
                                                               {"threads", "#8a8a00"},
                                                               {"invalidations", "#a02c5a"}};
    for (const DiagramBinding& binding : diagram_.bindings) {
      const DiagramSocket& from = diagram_.sockets[binding.from];
      const DiagramSocket& to = diagram_.sockets[binding.to];
      if (hidden(from.module) || hidden(to.module)) {
        continue;
      }
      const std::string label = children_.count(from.module) != 0 && children_.count(to.module) == 0
                                    ? last_part(to.path)
                                : children_.count(to.module) != 0 ? last_part(from.path)
                                                                  : last_part(from.path) + " → " + last_part(to.path);
      out_ += fmt::format("  \"{}\" -> \"{}\" [label=\"{}\" color=\"{}\" tooltip=\"{} -> {}: {}\"];\n", node_of(from),
                          node_of(to), label, colours.at(to.protocol), from.path, to.path, to.protocol);
    }
  }

  const Diagram& diagram_;
  std::map<std::string, std::vector<std::string>> children_;
  std::set<std::string> bound_;  // sockets with an edge that is drawn
  std::set<std::string> hidden_;
  std::map<std::string, std::size_t> copies_;
  std::string out_;
};

}  // namespace

std::string diagram_dot(const Diagram& diagram, const std::string& title, bool all) {
  return DotDrawing(diagram, all).text(title);
}

}  // namespace heddle::pages
