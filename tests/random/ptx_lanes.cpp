// Statements whose threads have to do with others of their warp, or with what comes to the scratchpad by itself.
#include <string>
#include <string_view>

#include "tests/random/ptx_statements.hpp"

namespace heddle::random_ptx {

std::string Statements::row() {
  const std::string array = fresh('x');
  const std::string place = fresh('x');
  line("mov." + address_type() + ' ' + array + ", copied;");
  line((shape_.address_bits == 64 ? "mad.wide.u32 " : "mad.lo.u32 ") + place + ", %thread, " +
       std::to_string(kCopiedBytes) + ", " + array + ';');
  return place;
}

// Copies from the input to the thread's row, of which the thread reads each part once it has waited for it.
void Statements::copy() {
  const std::string place = row();
  const bool halves = random_.chance(50);
  const auto begin = [&](unsigned bytes, unsigned offset) {
    const std::string index = fresh('t');
    line("and.b32 " + index + ", " + pool('r') + ", " + std::to_string((shape_.input_words - 1) & ~(bytes / 4 - 1)) +
         ';');
    const std::string from = element("%in", index);
    const std::string how = std::string(bytes == 16 ? "cg" : "ca") + ".shared.global [" + place + '+' +
                            std::to_string(offset) + "], [" + from + "], " + std::to_string(bytes);
    if (random_.chance(30)) {  // the rest is 0
      const std::string read = fresh('t');
      line("and.b32 " + read + ", " + pool('r') + ", " + std::to_string(bytes - 1) + ';');
      line(guard() + "cp.async." + how + ", " + read + ';');
    } else {
      line(guard() + "cp.async." + how + ';');
    }
    if (halves || random_.chance(60)) line("cp.async.commit_group;");
  };
  const auto meanwhile = [&] {
    for (unsigned i = random_.below(4); i != 0; --i) {
      arithmetic();
    }
  };
  const auto look = [&](unsigned bytes, unsigned offset) {
    const std::string at = ", [" + place + '+' + std::to_string(offset) + "];";
    emit(bytes == 4 ? "ld.shared.u32 {R}" + at : "ld.shared.u64 {D}" + at);
  };
  if (halves) {
    const unsigned first = random_.pick({4U, 8U});
    begin(first, 0);
    meanwhile();
    begin(8, 8);
    meanwhile();
    line("cp.async.wait_group 1;");
    look(first, 0);
    meanwhile();
    line("cp.async.wait_group 0;");
    look(8, 8);
    return;
  }
  const unsigned bytes = random_.pick({4U, 8U, 16U});
  begin(bytes, 0);
  meanwhile();
  line("cp.async.wait_all;");
  for (unsigned offset = 0; offset < bytes; offset += 8) {
    look(bytes == 4 ? 4 : 8, offset);
  }
}

// Conditional accumulate into a part of memory that only the warp uses: its piece of the array `gathered`, or the
// first lane's part of the output; what a lane then reads there may come from any other lane. Warps may have any size.
void Statements::accumulate() {
  struct Element {
    std::string_view type;
    std::string_view value;
  };
  const Element element = random_.pick<Element>({{"b8", "{r}"}, {"b16", "{r}"}, {"b32", "{r}"}, {"b64", "{d}"}});
  const bool shared = random_.chance(50) && shape_.gathered && scratchpad_;
  const std::string lane = fresh('t');
  const std::string base = fresh('x');
  const std::string wide = shape_.address_bits == 64 ? "mad.wide.u32 " : "mad.lo.u32 ";
  line("mov.u32 " + lane + ", %laneid;");
  if (shared) {
    const std::string first = fresh('t');
    const std::string array = fresh('x');
    line("sub.u32 " + first + ", %thread, " + lane + ';');
    line("mov." + address_type() + ' ' + array + ", gathered;");
    line(wide + base + ", " + first + ", " + std::to_string(kGatheredBytes) + ", " + array + ';');
  } else {
    const std::string back = fresh('x');
    line(wide + back + ", " + lane + ", " + std::to_string(kOutputBytes) + ", 0;");
    line("sub." + address_type() + ' ' + base + ", %own, " + back + ';');
  }
  const std::string space = shared ? ".shared" : ".global";
  emit("cond_acc" + space + '.' + std::string(element.type) + ' ' +
       random_.pick<std::string>({"{R}", "{R}", "{R}", "_"}) + ", [" + base + "], " + (random_.chance(70) ? "" : "!") +
       "{q}, " + std::string(element.value) + ';');
  const std::string place = fresh('x');
  line(wide + place + ", " + lane + ", " + std::to_string(kGatheredBytes) + ", " + base + ';');
  emit("ld" + space + ".u64 {D}, [" + place + "];");
}

// Rows of 16 bytes of a warp's threads as matrices of 8 by 8 numbers of 16 bits, in both directions.
void Statements::exchange_rows() {
  const std::string place = row();
  const unsigned matrices = random_.pick({1U, 2U, 4U});
  const unsigned first = random_.below(kIntegers);  // different registers
  std::string registers;
  for (unsigned i = 0; i < matrices; ++i) {
    registers += (i == 0 ? "%r" : ", %r") + std::to_string((first + i) % kIntegers);
  }
  const std::string shape =
      ".sync.aligned.m8n8.x" + std::to_string(matrices) + (random_.chance(50) ? ".trans" : "") + ".shared.b16 ";
  line("bar.warp.sync 0xffffffff;");
  if (random_.chance(50)) {
    line("stmatrix" + shape + '[' + place + "], {" + registers + "};");
    line("bar.warp.sync 0xffffffff;");
    emit("ld.shared.u64 {D}, [" + place + '+' + random_.pick<std::string>({"0", "8"}) + "];");
  } else {
    line("ldmatrix" + shape + '{' + registers + "}, [" + place + "];");
    line("bar.warp.sync 0xffffffff;");
  }
}

// Of whole numbers and, where the order of the sums is Heddle's own, of floating-point ones.
void Statements::multiply() {
  const auto whole = random_.pick<std::string_view>(
      {"m8n8k16.row.col.s32.s8.u8.s32 {{{R}, {R}}, {{{r}}, {{{r}}, {{{r}, {r}};",
       "m16n8k16.row.col.s32.u8.u8.s32 {{%r0, %r3, %r1, %r6}, {{{r}, {r}}, {{{r}}, {{{r}, {r}, {r}, {r}};",
       "m16n8k32.row.col.satfinite.s32.s8.s8.s32 {{%r7, %r2, %r5, %r4}, {{{r}, {r}, {r}, {r}}, {{{r}, {r}}, "
       "{{{r}, {r}, {r}, {r}};"});
  const auto floating = random_.pick<std::string_view>(
      {"m16n8k16.row.col.f32.f16.f16.f32 {{%f0, %f1, %f2, %f3}, {{{r}, {r}, {r}, {r}}, {{{r}, {r}}, "
       "{{{f}, {f}, {f}, {f}};",
       "m16n8k8.row.col.f32.bf16.bf16.f32 {{%f3, %f1, %f0, %f2}, {{{r}, {r}}, {{{r}}, {{{f}, {f}, {f}, {f}};",
       "m16n8k4.row.col.f32.tf32.tf32.f32 {{%f2, %f1, %f0, %f3}, {{{r}, {r}}, {{{r}}, {{{f}, {f}, {f}, {f}};",
       "m8n8k4.row.col.f64.f64.f64.f64 {{%g0, %g1}, {{{g}}, {{{g}}, {{{g}, {g}};"});
  const bool of_floats = random_.chance(50) && !shape_.standard;
  emit("mma.sync.aligned." + std::string(of_floats ? floating : whole));
}

void Statements::warp() {
  // Heddle's own operations are of the lanes that come to them together, which a volatile load may have parted.
  if (!shape_.standard && random_.chance(35)) {
    line("bar.warp.sync 0xffffffff;");
    accumulate();
    return;
  }
  if (shape_.tensor && random_.chance(25)) {
    multiply();
    return;
  }
  if (shape_.tensor && shape_.copied && scratchpad_ && random_.chance(25)) {
    exchange_rows();
    return;
  }
  if (shape_.modern && random_.chance(70)) {
    emit(random_.pick<std::string_view>(
        {"redux.sync.add.s32 {R}, {r}, 0xffffffff;", "redux.sync.min.u32 {R}, {r}, 0xffffffff;",
         "redux.sync.max.s32 {R}, {r}, 0xffffffff;", "redux.sync.and.b32 {R}, {r}, 0xffffffff;",
         "redux.sync.xor.b32 {R}, {r}, 0xffffffff;", "match.any.sync.b32 {R}, {r}, 0xffffffff;",
         "match.all.sync.b64 {R}|{Q}, {d}, 0xffffffff;", "elect.sync {R}|{Q}, 0xffffffff;",
         "movmatrix.sync.aligned.m8n8.trans.b16 {R}, {r};"}));
    return;
  }
  const auto form = random_.pick<std::string_view>(
      {"vote.sync.ballot.b32 {R}, {q}, 0xffffffff;", "vote.sync.any.pred {Q}, {q}, 0xffffffff;",
       "shfl.sync.bfly.b32 {R}, {r}, 11, 0x1f, 0xffffffff;", "shfl.sync.up.b32 {R}|{Q}, {r}, 3, 0, 0xffffffff;",
       "shfl.sync.down.b32 {R}, {r}, 5, 0x1f, 0xffffffff;", "shfl.sync.idx.b32 {R}, {r}, {r}, 0x1f, 0xffffffff;",
       "tree_traverse.u32 {R}, {r}, {q}, 3;", "tree_traverse.size.u32 {R}, {r}, {q}, 16;",
       "tree_traverse.size.u32 {R}, {r}, {q}, {r};", "tree_traverse.u32 {R}, {r}, !{q}, {r};"});
  const bool own = form.starts_with("tree_traverse");
  if (own && !shape_.standard) line("bar.warp.sync 0xffffffff;");
  emit(shape_.standard && own ? "shfl.sync.bfly.b32 {R}, {r}, 16, 0x1f, 0xffffffff;" : form);
}

}  // namespace heddle::random_ptx
