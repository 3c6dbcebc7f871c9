// Recursive device functions: a sort, a walk of a tree of structures by value, and two functions that call each other.
#include "check.h"
#include <algorithm>

struct Range {
    long long low, high;
    int depth;
};

// Sums the squares of a range, which each call halves. The structure is passed and returned in memory.
__device__ __noinline__ Range sum_squares(Range range) {
    if (range.high - range.low <= 1) {
        Range one = {range.low * range.low, 0, range.depth};
        return one;
    }
    long long middle = (range.low + range.high) / 2;
    Range left = sum_squares({range.low, middle, range.depth + 1});
    Range right = sum_squares({middle, range.high, range.depth + 1});
    return {left.low + right.low, 0, max(left.depth, right.depth)};
}

__device__ __noinline__ void quicksort(int *values, int low, int high) {
    if (low >= high) return;
    int pivot = values[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (values[i] < pivot) i++;
        while (values[j] > pivot) j--;
        if (i <= j) {
            int value = values[i];
            values[i++] = values[j];
            values[j--] = value;
        }
    }
    quicksort(values, low, j);
    quicksort(values, i, high);
}

__device__ int is_odd(unsigned n);
__device__ __noinline__ int is_even(unsigned n) { return n == 0 ? 1 : 2 * is_odd(n - 1); }
__device__ __noinline__ int is_odd(unsigned n) { return n == 0 ? 0 : 3 + is_even(n - 1); }

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__global__ void recurse(int *values, long long *sums, int *depths, int *parities, unsigned *ackermanns) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int local[16];
    for (int i = 0; i < 16; i++) local[i] = values[16 * thread + i];
    quicksort(local, 0, thread % 16);
    for (int i = 0; i < 16; i++) values[16 * thread + i] = local[i];
    Range sum = sum_squares({thread, 2 * thread + 1, 0});
    sums[thread] = sum.low;
    depths[thread] = sum.depth;
    parities[thread] = is_even(thread % 20);
    ackermanns[thread] = ackermann(2, thread % 5);
}

int even(unsigned n);
int odd(unsigned n) { return n == 0 ? 0 : 3 + even(n - 1); }
int even(unsigned n) { return n == 0 ? 1 : 2 * odd(n - 1); }

int main() {
    const int threads = 128;
    std::vector<int> values(16 * threads);
    for (size_t i = 0; i < values.size(); i++) values[i] = int(i * 7919 % 1000);
    int *device = on_device(values);
    long long *sums = on_device(std::vector<long long>(threads));
    int *depths = on_device(std::vector<int>(threads)), *parities = on_device(std::vector<int>(threads));
    unsigned *ackermanns = on_device(std::vector<unsigned>(threads));
    recurse<<<2, threads / 2>>>(device, sums, depths, parities, ackermanns);
    CUDA(cudaGetLastError());
    auto sorted = from_device(device, values.size());
    auto found = from_device(sums, threads);
    auto depth = from_device(depths, threads), parity = from_device(parities, threads);
    auto ackermann = from_device(ackermanns, threads);
    for (int t = 0; t < threads; t++) {
        std::sort(values.begin() + 16 * t, values.begin() + 16 * t + t % 16 + 1);
        long long sum = 0;
        for (long long i = t; i < 2 * t + 1; i++) sum += i * i;
        DEMAND(found[t] == sum);
        int halvings = 0;
        while ((1 << halvings) < t + 1) halvings++;
        DEMAND(depth[t] == halvings);
        DEMAND(parity[t] == even(t % 20));
        DEMAND(ackermann[t] == 2 * (t % 5) + 3);
    }
    DEMAND(sorted == values);
    std::printf("recursion agrees\n");
    return 0;
}
