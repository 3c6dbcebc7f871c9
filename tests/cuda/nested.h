// Device code of nested_part.cu.
#pragma once

extern __device__ int shared_counter;
extern __device__ int (*table[2])(int);
__device__ int other_file(int value);
