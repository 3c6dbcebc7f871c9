// Adds numbers by atomics, and prints PASS or FAIL. Usage: sum COUNT [ERROR], where ERROR is added to the expected sum.
#include "../../common/call.h"
#include <vector>

__global__ void sum(const int *in, int *out, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) atomicAdd(out, in[at]);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? std::atoi(argv[1]) : 0;
    int expected = argc > 2 ? std::atoi(argv[2]) : 0, found = 0;
    if (count < 1) return 1;
    std::vector<int> values(count);
    for (int i = 0; i < count; i++) expected += values[i] = i % 7;
    int *in, *out;
    call(cudaMalloc(&in, count * sizeof(int)));
    call(cudaMalloc(&out, sizeof(int)));
    call(cudaMemcpy(in, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    call(cudaMemset(out, 0, sizeof(int)));
    sum<<<(count + 127) / 128, 128>>>(in, out, count);
    call(cudaMemcpy(&found, out, sizeof(int), cudaMemcpyDeviceToHost));
    std::puts(found == expected ? "PASS" : "FAIL");
}
