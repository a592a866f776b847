#include "os/checkpoint/context.hpp"

#include "base/error.hpp"
#include "os/checkpoint/supported.hpp"

#if HEDDLE_CHECKPOINT

// The callee-saved registers and the control words of both floating-point units go on the stack; the stack pointer and
// the place to return to are all that is left to remember.
asm(R"(
  .pushsection .text
  .p2align 4
  .globl heddle_checkpoint_call
  .hidden heddle_checkpoint_call
  .type heddle_checkpoint_call, @function
heddle_checkpoint_call:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  sub $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  mov %rsp, 0(%rdx)
  lea .Lheddle_checkpoint_resumed(%rip), %rcx
  mov %rcx, 8(%rdx)
  mov %rdi, %rax
  mov %rsi, %rdi
  call *%rax
  xor %eax, %eax
.Lheddle_checkpoint_resumed:
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  add $8, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size heddle_checkpoint_call, . - heddle_checkpoint_call

  .p2align 4
  .globl heddle_checkpoint_restorer
  .hidden heddle_checkpoint_restorer
  .globl heddle_checkpoint_restorer_end
  .hidden heddle_checkpoint_restorer_end
heddle_checkpoint_restorer:
  mov %rdi, %rbx
  mov %rsi, %r12
  mov %rdx, %r13
1:
  mov 0(%rbx), %rax
  cmp $-1, %rax
  je 2f
  mov 8(%rbx), %rdi
  mov 16(%rbx), %rsi
  mov 24(%rbx), %rdx
  mov 32(%rbx), %r10
  mov 40(%rbx), %r8
  mov 48(%rbx), %r9
  syscall
  cmp $-4095, %rax
  jae 3f
  add $56, %rbx
  jmp 1b
2:
  mov 8(%rbx), %rsp
  mov 16(%rbx), %rcx
  mov 24(%rbx), %rax
  jmp *%rcx
3:
  mov $1, %eax
  mov $2, %edi
  mov %r12, %rsi
  mov %r13, %rdx
  syscall
  mov $231, %eax
  mov $4, %edi
  syscall
  hlt
heddle_checkpoint_restorer_end:
  .popsection
)");

extern "C" {
void* heddle_checkpoint_call(void (*work)(void*), void* argument, heddle::checkpoint::Registers* registers);
extern const char heddle_checkpoint_restorer[];
extern const char heddle_checkpoint_restorer_end[];
}

namespace heddle::checkpoint {

static_assert(offsetof(Registers, stack) == 0 && offsetof(Registers, code) == 8, "the assembly above knows them");
static_assert(sizeof(Step) == 56 && offsetof(Step, arguments) == 8, "likewise");
static_assert(static_cast<int>(ExitCode::internal_error) == 4, "likewise");

void* call_resumable(void (*work)(void*), void* argument, Registers* registers) {
  return heddle_checkpoint_call(work, argument, registers);
}

RestorerCode restorer_code() {
  return {heddle_checkpoint_restorer,
          static_cast<std::size_t>(heddle_checkpoint_restorer_end - heddle_checkpoint_restorer)};
}

}  // namespace heddle::checkpoint

#else

namespace heddle::checkpoint {

void* call_resumable(void (*work)(void*), void* argument, Registers* /*registers*/) {
  work(argument);
  return nullptr;
}

RestorerCode restorer_code() {
  return {};
}

}  // namespace heddle::checkpoint

#endif
