#ifdef __cplusplus
extern "C"
#endif
    int
    answer(int given);
