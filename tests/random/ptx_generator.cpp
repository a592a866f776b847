#include "tests/random/ptx_generator.hpp"

#include <algorithm>
#include <vector>

#include "tests/random/ptx_statements.hpp"

namespace heddle::random_ptx {

namespace {

constexpr unsigned kMaxDepth = 5;      // nesting of constructs
constexpr unsigned kMaxLoopDepth = 3;  // nesting of loops

// Where a statement stands.
struct Place {
  unsigned depth = 0;
  unsigned loops = 0;
  bool uniform = true;   // all threads of the block are here together
  std::string break_to;  // of the innermost loop whose threads may leave one by one; empty: none
  std::string continue_to;
};

// How threads of a program may end before its end.
struct Ways {
  bool barriers = true;         // it has barriers: threads do not leave alone
  bool leave_alone = false;     // guarded exits and early returns, different from thread to thread
  bool leave_together = false;  // all threads of a block at once
  bool traps = false;           // behind conditions that are never true
};

class Generator {
 public:
  Generator(Random& random, const Shape& shape, const GeneratorOptions& options, const Ways& ways)
      : random_(random), options_(options), ways_(ways), statements_(random, shape), budget_(options.statements) {}

  void body() {
    statements_.initialise();
    while (budget_ != 0) {
      statement({});
    }
    statements_.finish();
    statements_.line("ret;");
    finish_labels();
  }
  [[nodiscard]] std::string declarations() const {
    return statements_.declarations() + "  .reg .b32 %c<" + std::to_string(counters_ + 1) + ">;\n";
  }
  [[nodiscard]] const std::string& text() const { return statements_.text(); }

 private:
  std::string new_label() { return "L" + std::to_string(labels_++); }

  void statement(const Place& place) {
    budget_ -= budget_ != 0 ? 1 : 0;
    if (100 * budget_ < (100 - options_.scratchpad_percent) * options_.statements) {
      statements_.leave_scratchpad();
    }
    const unsigned kind = random_.below(100);
    const bool deeper = place.depth < kMaxDepth && budget_ != 0;
    if (deeper && kind < 12) {
      if_else(place);
    } else if (deeper && kind < 20 && place.loops < kMaxLoopDepth) {
      loop(place);
    } else if (deeper && kind < 26) {
      jumps(place);
    } else if (kind < 31 && !place.break_to.empty()) {
      leave(place);
    } else if (kind < 38 && place.uniform && ways_.barriers) {
      random_.chance(70) ? statements_.exchange() : statements_.reduce();
    } else if (kind < (options_.modern ? 60U : 43U) && place.uniform && options_.warp_operations) {
      statements_.warp();
    } else if (kind < 36 && ways_.leave_alone) {
      end(place, statements_.condition(false), exit_label_, random_.pick<std::string>({"exit;", "ret;"}));
    } else if (kind >= 97 && place.uniform && ways_.leave_together) {
      end(place, statements_.condition(true), exit_label_, random_.pick<std::string>({"exit;", "ret;"}));
    } else if (kind >= 94 && kind < 97 && ways_.traps) {
      end(place, statements_.never(), trap_label_, "trap;");
    } else {
      statements_.any(place.uniform);
    }
  }

  void block(const Place& place, unsigned most) {
    for (unsigned i = 1 + random_.below(most); i != 0; --i) {
      statement(place);
    }
  }

  void if_else(const Place& place) {
    const bool uniform = random_.chance(25);
    const std::string condition = statements_.condition(uniform);
    const std::string after = new_label();
    Place inside = place;
    ++inside.depth;
    inside.uniform = place.uniform && uniform;
    if (random_.chance(50)) {
      statements_.line("@!" + condition + " bra " + after + ';');
      block(inside, 5);
    } else {
      const std::string other = new_label();
      statements_.line('@' + condition + " bra " + other + ';');
      block(inside, 4);
      statements_.line((inside.uniform ? "bra.uni " : "bra ") + after + ';');
      statements_.label(other);
      block(inside, 4);
    }
    statements_.label(after);
  }

  // A counted loop, tested above or below. Uniform loops have a bound that is equal in all threads and no break;
  // in the others threads leave one by one, and come together behind the loop.
  void loop(const Place& place) {
    const bool uniform = random_.chance(40);
    const std::string counter = "%c" + std::to_string(counters_++);
    const std::string bound = "%c" + std::to_string(counters_++);
    const std::string top = new_label();
    const std::string next = new_label();
    const std::string after = new_label();
    const std::string predicate = statements_.fresh('p');
    const bool above = random_.chance(50);
    statements_.line("and.b32 " + bound + ", " + statements_.pool(uniform ? 'u' : 'r') + ", " +
                     (place.loops == 0 ? "7;" : "3;"));
    statements_.line("mov.u32 " + counter + ", 0;");
    Place inside = place;
    ++inside.depth;
    ++inside.loops;
    inside.uniform = place.uniform && uniform;
    inside.break_to = uniform ? std::string() : after;
    inside.continue_to = uniform ? std::string() : next;
    statements_.label(top);
    if (above) {
      statements_.line("setp.ge.u32 " + predicate + ", " + counter + ", " + bound + ';');
      statements_.line('@' + predicate + " bra " + after + ';');
    }
    block(inside, 5);
    statements_.label(next);
    statements_.line("add.u32 " + counter + ", " + counter + ", 1;");
    if (above) {
      statements_.line("bra " + top + ';');
    } else {
      statements_.line("setp.le.u32 " + predicate + ", " + counter + ", " + bound + ';');
      statements_.line('@' + predicate + " bra " + top + ';');
    }
    statements_.label(after);
  }

  // Threads for which the condition holds end: at once, after some more statements, or by a jump to where the program
  // has the instruction for all.
  void end(const Place& place, const std::string& condition, std::string& common, const std::string& instruction) {
    const unsigned kind = random_.below(4);
    if (kind < 2) {
      statements_.line('@' + condition + ' ' + instruction);
    } else if (kind == 2 && place.depth < kMaxDepth) {
      const std::string after = new_label();
      statements_.line("@!" + condition + " bra " + after + ';');
      Place inside = place;
      ++inside.depth;
      inside.uniform = false;
      block(inside, 3);
      statements_.line(instruction);
      statements_.label(after);
    } else {
      if (common.empty()) common = new_label();
      statements_.line('@' + condition + " bra " + common + ';');
    }
  }

  // Behind the program's own end: where end() jumps to.
  void finish_labels() {
    if (!exit_label_.empty()) {
      statements_.label(exit_label_);
      if (random_.chance(50)) statements_.line("st.global.u32 [%own], %u0;");  // else a branch there is a guarded exit
      statements_.line("exit;");
    }
    if (!trap_label_.empty()) {
      const std::string after = new_label();
      statements_.label(trap_label_);
      statements_.line('@' + statements_.condition(false) + " bra " + after + ';');
      statements_.line("st.global.u32 [%own], %u1;");
      statements_.label(after);
      statements_.line("trap;");
    }
  }

  void leave(const Place& place) {
    const std::string condition = statements_.condition(false);
    const std::string negation = random_.chance(50) ? "@" : "@!";
    const std::string& target = random_.chance(50) ? place.break_to : place.continue_to;
    statements_.line(negation + condition + " bra " + target + ';');
  }

  // Blocks of which each may jump to any later one: neither nested nor a chain of ifs. Blocks may hold constructs of
  // their own.
  void jumps(const Place& place) {
    Place inside = place;
    ++inside.depth;
    inside.uniform = false;
    const unsigned count = 3 + random_.below(4);
    std::vector<std::string> labels;
    for (unsigned i = 0; i <= count; ++i) {
      labels.push_back(new_label());
    }
    std::vector<bool> reached(count + 1, false);  // by a jump from an earlier block
    for (unsigned i = 0; i < count; ++i) {
      statements_.label(labels[i]);
      block(inside, 3);
      const auto later = [&] { return i + 1 + random_.below(count - i); };
      if (random_.chance(80)) {
        const unsigned target = later();
        const std::string condition = statements_.condition(false);
        statements_.line('@' + condition + " bra " + labels[target] + ';');
        reached[target] = true;
      }
      // Without falling through the next block needs a jump to it.
      if (i + 1 < count && reached[i + 1] && random_.chance(30)) {
        const unsigned target = later();
        statements_.line("bra " + labels[target] + ';');
        reached[target] = true;
      }
    }
    statements_.label(labels[count]);
  }

  Random& random_;
  const GeneratorOptions& options_;
  Ways ways_;
  std::string exit_label_, trap_label_;  // empty: no jump goes there
  Statements statements_;
  unsigned budget_;
  unsigned labels_ = 0;
  unsigned counters_ = 0;
};

}  // namespace

GeneratedProgram generate_ptx(std::uint64_t seed, const GeneratorOptions& options) {
  Random random(seed);
  Shape shape;
  shape.address_bits = random.chance(50) && !options.standard ? 32 : 64;
  shape.standard = options.standard;
  const unsigned warps = std::max(options.max_block / 32, 1U);
  shape.block = 32 * (1 + random.below(warps));
  if (!options.warp_operations && random.chance(40)) {
    shape.block -= random.below(32);  // the last warp is not full
  }
  shape.grid = 1 + random.below(std::max(options.max_grid, 1U));
  shape.local = random.chance(50);
  shape.scratchpad = options.scratchpad;
  shape.gathered = options.warp_operations && shape.scratchpad && !options.standard;
  shape.modern = options.modern;
  shape.tensor = options.tensor && options.warp_operations;
  shape.copied = options.modern && shape.scratchpad;
  Ways ways;
  ways.leave_alone = random.chance(25) && !options.warp_operations;
  ways.leave_together = random.chance(30);
  ways.traps = random.chance(30);
  ways.barriers = options.barriers && !ways.leave_alone;
  Generator generator(random, shape, options, ways);
  generator.body();

  GeneratedProgram out;
  out.seed = seed;
  out.address_bits = shape.address_bits;
  out.block = shape.block;
  out.grid = shape.grid;
  out.input_words = shape.input_words;
  out.output_words = shape.block * shape.grid * (kOutputBytes / 4) + kCounters;
  out.warp_operations = options.warp_operations;
  const std::string pointer = shape.address_bits == 64 ? ".u64" : ".u32";
  out.text =
      "// random program, seed " + std::to_string(seed) +
      (options.modern ? "\n.version 8.0\n.target sm_90" : "\n.version 6.4\n.target sm_70") + "\n.address_size " +
      std::to_string(shape.address_bits) + "\n\n.visible .entry " + kEntry + "(\n  .param " + pointer +
      " in,\n  .param " + pointer + " out,\n  .param .u32 n\n)\n{\n" + generator.declarations() +
      (shape.scratchpad ? "  .shared .align 16 .b8 shared_words[" + std::to_string(8 * shape.block) + "];\n" : "") +
      (shape.gathered ? "  .shared .align 16 .b8 gathered[" + std::to_string(kGatheredBytes * shape.block) + "];\n"
                      : "") +
      (shape.copied ? "  .shared .align 16 .b8 copied[" + std::to_string(kCopiedBytes * shape.block) + "];\n" : "") +
      (shape.local ? "  .local .align 16 .b8 loc[" + std::to_string(kLocalBytes) + "];\n" : "") + '\n' +
      generator.text() + "}\n";
  return out;
}

}  // namespace heddle::random_ptx
