// Second file of nested.cu. It has a function and a constant of the same names as the first one.
#include "nested.h"

static __constant__ int step = 7;

static __device__ __noinline__ int helper(int value) { return 10 * value + step; }

static __device__ int far(int value) { return value + 100; }
static __device__ int triple(int value) { return 3 * value; }

__device__ int shared_counter = 1;
__device__ int (*table[2])(int) = {far, triple};
__device__ int other_file(int value) { return helper(value); }
