/* CUDA's __noinline__ is a macro that stands for an attribute, and libstdc++ writes __attribute__((__noinline__)) in
   this header of its own, which comes next. Without a guard: the next one has its own. */
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
