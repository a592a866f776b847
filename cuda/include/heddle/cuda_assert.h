// assert of heddle/cuda.h. As C has it, each inclusion of assert.h goes by what NDEBUG is there.
#undef assert
#ifdef NDEBUG
#define assert(condition) (static_cast<void>(0))
#else
#define assert(condition)                              \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : __assertfail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))
#endif
