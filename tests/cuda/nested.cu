// Kernels that launch kernels, and device code in two files (nvcc -rdc=true). With an argument, times are checked, too: launches must take
// no time themselves (sm.launch_latency=0). With two, a launch by a kernel is refused.
#include "check.h"
#include "nested.h"
#include "times.h"

const int THREADS = 32;
const int TURNS = 2000;

static __device__ int helper(int value) { return value + 1; }

static __constant__ int step = 3;

__global__ void spin(int *value, int turns) {
    int x = *value;
    for (int i = 0; i < turns; i++) x = x * 3 + i;
    if (threadIdx.x == 0) *value = x;
}

__global__ void add(int *to, const int *from) {
    if (threadIdx.x == 0) *to += *from;
}

// Each block launches a kernel that changes its value, and one that adds the value to another one, on the block's default stream.
__global__ void in_order(int *values, int *sums, int turns) {
    if (threadIdx.x == 0) {
        spin<<<1, THREADS>>>(values + blockIdx.x, turns);
        add<<<1, THREADS>>>(sums + blockIdx.x, values + blockIdx.x);
    }
}

// Launches for which another launch waits in each of the ways that CUDA has.
__global__ void ordered(int *values, int turns) {
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    add<<<1, THREADS, 0, cudaStreamTailLaunch>>>(values + 3, values);
    add<<<1, THREADS, 0, cudaStreamTailLaunch>>>(values + 3, values + 1);
    spin<<<1, THREADS, 0, first>>>(values, turns);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    add<<<1, THREADS, 0, second>>>(values + 2, values);
    spin<<<1, THREADS, 0, cudaStreamFireAndForget>>>(values + 1, turns);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaEventDestroy(event);
}

// Counts the nodes of a tree whose nodes have two children.
__global__ void tree(int *nodes, int depth) {
    if (threadIdx.x == 0) atomicAdd(nodes, 1);
    if (threadIdx.x < 2 && depth > 1) tree<<<1, THREADS>>>(nodes, depth - 1);
}

// A launch with too many threads or blocks fails, and the kernel goes on. A kernel begins without an error.
__global__ void refused(int *values) {
    values[0] = cudaPeekAtLastError();
    add<<<1, 2048>>>(values, values);
    values[1] = cudaGetLastError();
    values[2] = cudaGetLastError();
    cudaGetDevice(values + 3);
    cudaGetDeviceCount(values + 4);
    add<<<dim3(1, 70000), 1>>>(values, values);
}

// The host's call waits for the kernel although a launch by it is refused.
__global__ void too_large(int *value, int turns) {
    add<<<1, 1, 100 << 20>>>(value, value);
    int x = 1;
    for (int i = 0; i < turns; i++) x = x * 3 + i;
    *value = x;
}

// Copies and fills of CUDA's device runtime, which launches kernels for them. The runtime of CUDA 13.5 fills with zeros only.
__global__ void copies(int *values) {
    cudaMemsetAsync(values, 0, 64, 0);
    cudaMemcpyAsync(values + 16, values, 64, cudaMemcpyDeviceToDevice, 0);
}

__global__ void linked(int *out) {
    int *made = (int *)malloc(sizeof(int));
    *made = helper(other_file(threadIdx.x)) + shared_counter + step;
    out[threadIdx.x] = *made + table[threadIdx.x % 2](threadIdx.x);
    free(made);
}

int main(int count, char **) {
    is_timed = count == 2;
    const int BLOCKS = 6;
    int *values = on_device(std::vector<int>(BLOCKS, 5)), *sums = on_device(std::vector<int>(BLOCKS, 100));
    float one = timed([&] { in_order<<<1, THREADS>>>(values, sums, TURNS); });
    about(timed([&] { in_order<<<BLOCKS - 1, THREADS>>>(values + 1, sums + 1, TURNS); }), one, 1, "children of several blocks");
    about(timed([&] { in_order<<<1, THREADS>>>(values, sums, 2 * TURNS); }), one, 2, "a longer child");
    auto at = from_device(values, BLOCKS), added = from_device(sums, BLOCKS);
    int whole = spun(5, TURNS);
    for (int i = 0; i < BLOCKS; i++) {
        int last = i == 0 ? spun(whole, 2 * TURNS) : whole;
        DEMAND(at[i] == last);
        DEMAND(added[i] == (i == 0 ? int(100u + whole + last) : 100 + whole));
    }

    int *four = on_device(std::vector<int>{1, 2, 30, 40});
    ordered<<<1, 1>>>(four, TURNS);
    int *nodes = on_device(std::vector<int>{0});
    tree<<<1, THREADS>>>(nodes, 5);
    // The default stream waits for the children, too.
    add<<<1, THREADS>>>(nodes, nodes);
    auto after = from_device(four, 4);
    int first = spun(1, TURNS), second = spun(2, TURNS);
    DEMAND(after[0] == first && after[1] == second);
    DEMAND(after[2] == int(30u + first));
    DEMAND(after[3] == int(40u + first + second));
    DEMAND(from_device(nodes, 1)[0] == 2 * 31);

    int *codes = on_device(std::vector<int>(5, -1));
    for (int i = 0; i < 2; i++) {
        refused<<<1, 1>>>(codes);
        DEMAND((from_device(codes, 5) == std::vector<int>{0, cudaErrorInvalidConfiguration, 0, 0, 1}));
    }

    int *filled = on_device(std::vector<int>(40, 5));
    copies<<<1, 1>>>(filled);
    std::vector<int> zeros(32, 0);
    zeros.resize(40, 5);
    DEMAND(from_device(filled, 40) == zeros);

    int *out = on_device(std::vector<int>(THREADS));
    int counter = 1000, three = 4;
    CUDA(cudaMemcpyToSymbol(shared_counter, &counter, sizeof counter));
    CUDA(cudaMemcpyToSymbol(step, &three, sizeof three));
    linked<<<1, THREADS>>>(out);
    auto links = from_device(out, THREADS);
    for (int i = 0; i < THREADS; i++) {
        int expected = (10 * i + 7 + 1) + 1000 + 4 + (i % 2 ? 3 * i : i + 100);
        DEMAND(links[i] == expected);
    }
    if (count > 2) {
        too_large<<<1, 1>>>(codes, TURNS);
        DEMAND(cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess);
        DEMAND(from_device(codes, 1)[0] == spun(1, TURNS));
    }
    std::printf("ok\n");
}
