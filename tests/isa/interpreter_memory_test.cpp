#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.hpp"
#include "tests/isa/interpreter_fixture.hpp"

namespace heddle::isa {
namespace {

using test::Code;
using test::KernelRun;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One thread; output slots are stored at [param 0 + offset].
struct OneThread {
  OneThread() { code.param(0, 0); }
  void put(unsigned reg, std::uint32_t slot) { code.store(Op::ST_GLOBAL, 0, reg, 4 * slot); }
  Code code;
};

TEST(InterpreterMemory, SubWordLoadsExtendAndStoresTruncate) {
  OneThread one;
  one.code.mov(1, 0x8081'fffe);
  one.put(1, 0);
  one.code.store(Op::ST_GLOBAL, 0, 1, 4, Width::u8);
  one.code.store(Op::ST_GLOBAL, 0, 1, 10, Width::u16);
  one.code.load(Op::LD_GLOBAL, 2, 0, 3, Width::s8);
  one.put(2, 3);
  one.code.load(Op::LD_GLOBAL, 2, 0, 3, Width::u8);
  one.put(2, 4);
  one.code.load(Op::LD_GLOBAL, 2, 0, 0, Width::s16);
  one.put(2, 5);
  one.code.load(Op::LD_GLOBAL, 2, 0, 2, Width::u16);
  one.put(2, 6);
  one.code.exit();
  KernelRun run(one.code, {}, {1, 1, 1}, 7);
  EXPECT_THAT(run.output(), ElementsAre(0x8081'fffe, 0xfe, 0xfffe'0000, 0xffff'ff80, 0x80, 0xffff'fffe, 0x8081));
}

TEST(InterpreterMemory, VectorsAndDoubleWordsMoveConsecutiveRegisters) {
  OneThread one;
  for (unsigned i = 0; i < 4; ++i) {
    one.code.mov(4 + i, 10 + i);
  }
  one.code.store(Op::ST_GLOBAL, 0, 4, 0, Width::b32, 4);
  one.code.load(Op::LD_GLOBAL, 8, 0, 0, Width::b64, 2);
  one.code.store(Op::ST_GLOBAL, 0, 10, 16, Width::b64);
  one.code.store(Op::ST_GLOBAL, 0, 8, 24, Width::b64);
  one.code.load(Op::LD_GLOBAL, 12, 0, 8, Width::b32, 2);
  one.code.store(Op::ST_GLOBAL, 0, 12, 32, Width::b32, 2);
  one.code.exit();
  KernelRun run(one.code, {}, {1, 1, 1}, 10);
  EXPECT_THAT(run.output(), ElementsAre(10, 11, 12, 13, 12, 13, 10, 11, 12, 13));
}

TEST(InterpreterMemory, NarrowAddressesWrapAndWideOnesDoNot) {
  OneThread one;
  one.code.rri(Op::ADD, 1, 0, 0x10);
  one.code.mov(2, 5);
  one.code.store(Op::ST_GLOBAL, 1, 2, static_cast<std::uint32_t>(-16));  // slot 0
  one.code.rri(Op::ADD, 2, 0, 4);                                        // pair 2, 3: a zero-extended pointer
  one.code.mov(3, 0);
  one.code.mov(4, 6);
  one.code.store(Op::ST_GLOBAL_E, 2, 4);  // slot 1
  one.code.mov(3, 1);
  one.code.store(Op::ST_GLOBAL_E, 2, 4);  // 4 GiB further
  one.code.exit();
  KernelRun run(one.code, {}, {1, 1, 1}, 2);
  EXPECT_THAT(run.faults(Fault::Kind::out_of_bounds), HasSubstr("4 bytes at address 0x110000004"));
  EXPECT_EQ(run.memory.get<std::uint32_t>(run.out), 5U);
  EXPECT_EQ(run.memory.get<std::uint32_t>(run.out + 4), 6U);
}

TEST(InterpreterMemory, ScratchpadIsPerBlockAndLocalMemoryPerThread) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.load(Op::LD_SHARED, 3, kRZ, 8);  // zero at the start of every block
  code.rri(Op::ADD, 4, 0, 77);
  code.store(Op::ST_LOCAL, kRZ, 4, 4);
  code.rri(Op::ADD, 5, 3, 1);
  code.store(Op::ST_SHARED, kRZ, 5, 8);
  code.load(Op::LD_LOCAL, 4, kRZ, 4);
  code.rrr(Op::ADD, 4, 4, 3);
  code.store(Op::ST_GLOBAL, 1, 4);
  code.exit();
  Module module = code.module();
  module.kernels[0].shared_bytes = 12;
  module.kernels[0].local_bytes = 8;
  KernelRun run(module, {2, 1, 1}, {4, 1, 1});
  EXPECT_THAT(run.output({4}), ElementsAre(77, 78, 79, 80, 77, 78, 79, 80));
}

TEST(InterpreterMemory, GenericAddressesReachEveryWindow) {
  OneThread one;
  Code& code = one.code;
  code.mov(1, kSharedWindow + 4);
  code.mov(2, kLocalWindow + 4);
  code.mov(3, kConstantWindow + 4);
  code.mov(4, 11);
  code.store(Op::ST_GENERIC, 1, 4);
  code.mov(4, 22);
  code.store(Op::ST_GENERIC, 2, 4);
  code.load(Op::LD_SHARED, 5, kRZ, 4);
  one.put(5, 0);
  code.load(Op::LD_LOCAL, 5, kRZ, 4);
  one.put(5, 1);
  code.load(Op::LD_GENERIC, 5, 3);
  code.store(Op::ST_GENERIC, 0, 5, 8);
  code.load(Op::LD_CONST, 5, kRZ, 0, Width::u8);
  one.put(5, 3);
  code.load(Op::LD_GENERIC, 5, 1);
  one.put(5, 4);
  code.atomic(Op::ATOM_GENERIC, AtomicOp::add, Type::u32, 6, 1, 5);
  code.load(Op::LD_SHARED, 5, kRZ, 4);
  one.put(5, 5);
  code.exit();
  Module module = code.module();
  module.kernels[0].shared_bytes = 16;
  module.kernels[0].local_bytes = 8;
  module.constant_bank = {9, 0, 0, 0, 33, 0, 0, 0};
  KernelRun run(module, {}, {1, 1, 1}, 6);
  EXPECT_THAT(run.output(), ElementsAre(11, 22, 33, 9, 11, 22));
}

TEST(InterpreterMemory, SharedStoresFoldTheirGenericAddress) {
  const auto hash = [](Op op, std::uint32_t base) {
    Code code;
    code.mov(1, 0);
    code.mov(2, base);
    code.mov(2, 0);
    code.rri(Op::ADD, 2, 2, 0);
    code.exit();
    Code store;
    store.mov(1, base);
    store.store(op, 1, kRZ, 4);
    store.exit();
    Module module = store.module();
    module.kernels[0].shared_bytes = 16;
    KernelRun run(module, {}, {1, 1, 1});
    run.output();
    return run.hash.threads()[0];
  };
  const auto expected = [](std::uint32_t base) {
    std::uint32_t out = retire_value(retire_pc(0, 0), base);
    out = retire_value(retire_value(retire_pc(out, 1), static_cast<std::uint32_t>(kSharedWindow) + 4), 0);
    return retire_pc(out, 2);
  };
  EXPECT_EQ(hash(Op::ST_SHARED, 0), expected(0));
  EXPECT_EQ(hash(Op::ST_GENERIC, kSharedWindow), expected(kSharedWindow));
}

TEST(InterpreterMemory, AtomicsOfOneWarpGoInLaneOrder) {
  Code code;
  code.own_slot(1, 2);
  code.param(3, 4);
  code.s2r(4, Special::tid_x);
  code.atomic(Op::ATOM_GLOBAL, AtomicOp::add, Type::u32, 5, 3, 4);
  code.atomic(Op::ATOM_SHARED, AtomicOp::exch, Type::b32, 6, kRZ, 4);
  code.rri(Op::SHL, 6, 6, 16);
  code.rrr(Op::OR, 5, 5, 6);
  code.store(Op::ST_GLOBAL, 1, 5);
  code.exit();
  Module module = code.module();
  module.kernels[0].shared_bytes = 4;
  KernelRun run(module, {}, {32, 1, 1});
  const std::uint64_t sum = run.memory.allocate("sum", 4);
  run.set_parameters({static_cast<std::uint32_t>(run.out), static_cast<std::uint32_t>(sum)});
  const auto out = run.output();
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t], (t * (t - 1) / 2) | (t == 0 ? 0 : t - 1) << 16U);
  }
  EXPECT_EQ(run.memory.get<std::uint32_t>(sum), 31U * 32U / 2U);
}

TEST(InterpreterMemory, CompareAndSwapOf64Bits) {
  OneThread one;
  Code& code = one.code;
  code.mov(2, 5);  // compare: 0x6_0000_0005
  code.mov(3, 6);
  code.mov(4, 7);  // swap: 0x8_0000_0007
  code.mov(5, 8);
  code.mov(1, 0);
  code.rrr(Op::ADD, 1, 0, kRZ);
  code.atomic(Op::ATOM_GLOBAL, AtomicOp::cas, Type::b64, 6, 1, 2, 4);  // fails: memory holds 0
  code.atomic(Op::ATOM_GLOBAL, AtomicOp::exch, Type::b64, 8, 1, 2);
  code.atomic(Op::ATOM_GLOBAL, AtomicOp::cas, Type::b64, 10, 1, 2, 4);  // succeeds
  code.store(Op::ST_GLOBAL, 0, 6, 8, Width::b64);
  code.store(Op::ST_GLOBAL, 0, 10, 16, Width::b64);
  code.exit();
  KernelRun run(code, {}, {1, 1, 1}, 6);
  EXPECT_THAT(run.output(), ElementsAre(7, 8, 0, 0, 5, 6));
}

// ---- faults

TEST(InterpreterMemory, StorePastABufferNamesItAndTheThread) {
  Code code;
  code.own_slot(1, 2);
  code.store(Op::ST_GLOBAL, 1, 2, 8);
  code.exit();
  KernelRun run(code, {2, 1, 1}, {8, 1, 1});
  const std::string text = run.faults(Fault::Kind::out_of_bounds);
  EXPECT_EQ(text,
            "out-of-bounds access in kernel 'k' at PC 8, test.ptx:109 (test.cu:9), block (1, 0, 0), thread (6, 0, 0): "
            "4 bytes at address 0x10000040: store, just past the end of buffer 'out' (0x10000000, 64 bytes)");
}

TEST(InterpreterMemory, NullMisalignedAndReadOnlyAccessesFault) {
  const auto text = [](Fault::Kind kind, std::uint32_t address, bool store, Width width = Width::b32,
                       unsigned vector = 1) {
    Code code;
    code.mov(0, address);
    store ? code.store(Op::ST_GLOBAL, 0, 4, 0, width, vector) : code.load(Op::LD_GLOBAL, 4, 0, 0, width, vector);
    code.exit();
    KernelRun run(code, {}, {1, 1, 1}, 8);
    load_module(run.module, run.memory);
    return run.faults(kind);
  };
  const auto base = static_cast<std::uint32_t>(kGlobalBase);
  EXPECT_THAT(text(Fault::Kind::out_of_bounds, 8, false), HasSubstr("load, in the null page"));
  EXPECT_THAT(text(Fault::Kind::misaligned, base + 2, false), HasSubstr("the address is no multiple of 4"));
  EXPECT_THAT(text(Fault::Kind::misaligned, base + 4, true, Width::b64), HasSubstr("no multiple of 8"));
  EXPECT_THAT(text(Fault::Kind::misaligned, base + 8, true, Width::b32, 4), HasSubstr("no multiple of 16"));
  EXPECT_THAT(text(Fault::Kind::out_of_bounds, kCodeBase, true), HasSubstr("read-only 'code of k'"));
  EXPECT_THAT(text(Fault::Kind::out_of_bounds, kSharedWindow, false),
              HasSubstr("global load of an address in the shared window"));
}

TEST(InterpreterMemory, AccessesBeyondTheSmallSpacesFault) {
  const auto text = [](auto body) {
    Code code;
    body(code);
    code.exit();
    Module module = code.module();
    module.kernels[0].shared_bytes = 20;  // 32 with the rounding
    module.kernels[0].local_bytes = 8;
    module.constant_bank = {1, 2, 3, 4};
    KernelRun run(module, {}, {2, 1, 1});
    run.launch.dynamic_shared = 4;
    return run.faults(Fault::Kind::out_of_bounds);
  };
  EXPECT_THAT(text([](Code& code) {
                code.load(Op::LD_SHARED, 0, kRZ, 32);  // the last word there is
                code.load(Op::LD_SHARED, 0, kRZ, 36);
              }),
              HasSubstr("load at offset 36 of the block's scratchpad, which has 36 bytes"));
  EXPECT_THAT(text([](Code& code) {
                code.store(Op::ST_LOCAL, kRZ, 0, 4);
                code.store(Op::ST_LOCAL, kRZ, 0, 8);
              }),
              HasSubstr("store at offset 8 of the thread's local memory, which has 8 bytes"));
  EXPECT_THAT(text([](Code& code) { code.load(Op::LD_CONST, 0, kRZ, 4); }), HasSubstr("the constant bank"));
  EXPECT_THAT(text([](Code& code) { code.param(0, 4); }), HasSubstr("the kernel's parameters, which has 4 bytes"));
  EXPECT_THAT(text([](Code& code) {
                code.mov(0, kConstantWindow);
                code.store(Op::ST_GENERIC, 0, 0);
              }),
              AllOf(HasSubstr("read-only"), HasSubstr("address 0x3000000")));
  EXPECT_THAT(text([](Code& code) {
                code.mov(0, kLocalWindow);
                code.atomic(Op::ATOM_GENERIC, AtomicOp::add, Type::u32, 1, 0, 0);
              }),
              HasSubstr("atomics work on global and shared memory"));
}

// ---- modules

TEST(InterpreterMemory, LoadModulePlacesCodeAndVariables) {
  Code code;
  for (unsigned i = 0; i < 17; ++i) {
    code.plain(Op::NOP);
  }
  code.exit();
  Module module = code.module();
  module.kernels.push_back(module.kernels[0]);
  module.kernels[1].name = "second";
  module.variables.push_back({"table", Space::global, kModuleBase, 8, 4, {1, 0, 0, 0, 2, 0, 0, 0}});
  module.variables.push_back({"zeros", Space::global, kModuleBase + 256, 4, 4, {}});
  module.variables.push_back({"constants", Space::constant, 0, 4, 4, {}});
  DeviceMemory memory;
  load_module(module, memory);
  EXPECT_EQ(code_address(module, 0), kCodeBase);
  EXPECT_EQ(code_address(module, 1), kCodeBase + 256);  // 144 bytes, rounded up to lines of 128
  EXPECT_EQ(memory.get<std::uint64_t>(kCodeBase + 256 + 8 * 17), module.kernels[1].words[17]);
  ASSERT_NE(memory.find(kCodeBase + 256, 144), nullptr);
  EXPECT_EQ(memory.find(kCodeBase + 256, 144)->name, "code of second");
  EXPECT_FALSE(memory.find(kCodeBase + 256, 144)->writable);
  EXPECT_EQ(memory.get<std::uint32_t>(kModuleBase + 4), 2U);
  EXPECT_EQ(memory.allocations().size(), 4U);
  memory.put<std::uint32_t>(kModuleBase + 256, 9);
  module.kernels.pop_back();
  load_module(module, memory);  // replaces what was there
  EXPECT_EQ(memory.get<std::uint32_t>(kModuleBase + 256), 0U);
  EXPECT_EQ(memory.find(kCodeBase + 256, 8), nullptr);
}

TEST(InterpreterMemory, LoadModuleLaysOutWiderInstructions) {
  Code code;
  for (unsigned i = 0; i < 8; ++i) {
    code.plain(Op::NOP);
  }
  code.exit();
  Module module = code.module();
  module.kernels.push_back(module.kernels[0]);
  module.kernels[1].name = "second";
  DeviceMemory memory;
  load_module(module, memory, 16);
  EXPECT_EQ(code_address(module, 1, 16), kCodeBase + 256);  // 144 bytes, rounded up to lines of 128
  for (unsigned i = 0; i != 9; ++i) {
    EXPECT_EQ(memory.get<std::uint64_t>(kCodeBase + 256 + 16 * i), module.kernels[1].words[i]) << i;
  }
  ASSERT_NE(memory.find(kCodeBase + 256, 144), nullptr);
  EXPECT_EQ(memory.find(kCodeBase + 256, 145), nullptr);
  // The code of 32 MiB of a module's place does not fit into it twice as wide.
  module.kernels.pop_back();
  module.kernels[0].words.resize((kModuleBase - kCodeBase) / 16 + 1);
  load_module(module, memory);
  EXPECT_THROW(load_module(module, memory, 16), InputError);
}

}  // namespace
}  // namespace heddle::isa
