// Two translation units, each with a module, variables and constants of its own; this one has the host program.
#include "check.h"
#include "units.h"

__device__ int factor = 3;
__constant__ int offset = 10;

__global__ void scale(int *values) { values[threadIdx.x] = values[threadIdx.x] * factor + offset; }

int main() {
    std::vector<int> numbers(32, 2);
    int *values = on_device(numbers);
    scale<<<1, 32>>>(values);
    int seen = half_of_it(values, 32);
    scale<<<1, 32>>>(values);
    auto got = from_device(values, 32);
    // (2 * 3 + 10) / 2 = 8, then 8 * 3 + 10.
    std::printf("%d %d\n", seen, got[31]);
    return seen != 8 || got[31] != 34;
}
