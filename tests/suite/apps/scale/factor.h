// FACTOR is a flag of the compiler.
#pragma once
#ifdef __cplusplus
extern "C"
#endif
int check(float first);
