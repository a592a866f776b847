// Blocks: unreachable ones removed, jumps threaded, straight lines merged.
#include <algorithm>
#include <utility>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

using isa::Op;

std::vector<int> successors(const Block& block) {
  std::vector<int> result;
  if (block.next != kNoBlock) result.push_back(block.next);
  if (block.taken != kNoBlock && block.taken != block.next) result.push_back(block.taken);
  return result;
}

std::vector<std::vector<int>> predecessors(const MachineFunction& function) {
  std::vector<std::vector<int>> result(function.blocks.size());
  for (std::size_t i = 0; i < function.blocks.size(); ++i) {
    if (function.blocks[i].removed) continue;
    for (const int to : successors(function.blocks[i]))
      result[static_cast<std::size_t>(to)].push_back(static_cast<int>(i));
  }
  return result;
}

std::vector<int> reverse_post_order(const MachineFunction& function) {
  std::vector<int> order;
  std::vector<bool> seen(function.blocks.size());
  std::vector<std::pair<int, std::size_t>> path{{0, 0}};  // and which of its successors is next
  seen[0] = true;
  while (!path.empty()) {
    const int at = path.back().first;
    const std::vector<int> to = successors(function.blocks[static_cast<std::size_t>(at)]);
    if (path.back().second == to.size()) {
      order.push_back(at);
      path.pop_back();
      continue;
    }
    // Where it goes without a jump comes last, so that it follows in the order.
    const int next = to[to.size() - 1 - path.back().second++];
    if (seen[static_cast<std::size_t>(next)]) continue;
    seen[static_cast<std::size_t>(next)] = true;
    path.emplace_back(next, 0);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

bool is_lone_exit(const MachineFunction& function, int at) {
  if (at == kNoBlock) return false;
  const Block& block = function.blocks[static_cast<std::size_t>(at)];
  return block.code.size() == 1 && block.code[0].in.op == Op::EXIT && !guarded(block.code[0]);
}

namespace {

// Where control really goes from a jump to `to`: empty blocks are skipped. A ring of empty blocks stays as it is.
int thread_jump(const MachineFunction& function, int to) {
  int at = to;
  for (std::size_t steps = 0; steps <= function.blocks.size(); ++steps) {
    const Block& block = function.blocks[static_cast<std::size_t>(at)];
    if (!block.code.empty() || block.next == kNoBlock || block.next == at) return at;
    at = block.next;
  }
  return to;
}

void drop_branch(Block& block) {
  block.code.pop_back();
  block.taken = kNoBlock;
}

bool simplify_ends(MachineFunction& function) {
  bool changed = false;
  for (Block& block : function.blocks) {
    if (block.removed) continue;
    if (block.next != kNoBlock) {
      const int to = thread_jump(function, block.next);
      changed |= to != block.next;
      block.next = to;
    }
    if (block.taken == kNoBlock) continue;
    block.taken = thread_jump(function, block.taken);
    if (block.taken == block.next) {
      drop_branch(block);
      changed = true;
    } else if (is_lone_exit(function, block.taken) || is_lone_exit(function, block.next)) {
      // What a GPU compiler makes of "if (i >= n) return": the threads leave at once instead of at a branch target.
      IrInstruction& last = block.code.back().in;
      if (!is_lone_exit(function, block.taken)) {
        last.guard.negated = !last.guard.negated;
        block.next = block.taken;
      }
      last.op = Op::EXIT;
      block.taken = kNoBlock;
      changed = true;
    }
  }
  return changed;
}

bool remove_unreachable(MachineFunction& function) {
  std::vector<bool> reached(function.blocks.size());
  std::vector<int> work{0};
  reached[0] = true;
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    for (const int to : successors(function.blocks[static_cast<std::size_t>(at)])) {
      if (reached[static_cast<std::size_t>(to)]) continue;
      reached[static_cast<std::size_t>(to)] = true;
      work.push_back(to);
    }
  }
  bool changed = false;
  for (std::size_t i = 0; i < function.blocks.size(); ++i) {
    Block& block = function.blocks[i];
    if (reached[i] || block.removed) continue;
    block = Block{};
    block.removed = true;
    changed = true;
  }
  return changed;
}

bool merge_lines(MachineFunction& function) {
  bool changed = false;
  std::vector<std::vector<int>> before = predecessors(function);
  for (std::size_t i = 0; i < function.blocks.size(); ++i) {
    Block& block = function.blocks[i];
    while (!block.removed && block.taken == kNoBlock && block.next > 0 && block.next != static_cast<int>(i)) {
      const auto next = static_cast<std::size_t>(block.next);
      if (before[next].size() != 1) break;
      Block& tail = function.blocks[next];
      block.code.insert(block.code.end(), std::make_move_iterator(tail.code.begin()),
                        std::make_move_iterator(tail.code.end()));
      block.taken = tail.taken;
      block.next = tail.next;
      block.jump_at = tail.jump_at;
      for (const int to : successors(block)) {
        auto& list = before[static_cast<std::size_t>(to)];
        std::replace(list.begin(), list.end(), static_cast<int>(next), static_cast<int>(i));
      }
      tail = Block{};
      tail.removed = true;
      changed = true;
    }
  }
  return changed;
}

}  // namespace

void simplify_control_flow(MachineFunction& function) {
  bool changed = true;
  while (changed) {
    changed = simplify_ends(function);
    changed |= remove_unreachable(function);
    changed |= merge_lines(function);
  }
}

}  // namespace heddle::ptx::backend
