// Host threads that call at the same time, each with memory of its own.
#include "check.h"
#include <thread>

__global__ void square(int *values) { values[threadIdx.x] *= values[threadIdx.x]; }

static void work(int number, int *wrong) {
    for (int turn = 0; turn < 5; turn++) {
        std::vector<int> values(64);
        for (int i = 0; i < 64; i++) values[i] = i + number;
        int *device = on_device(values);
        square<<<1, 64>>>(device);
        auto got = from_device(device, 64);
        for (int i = 0; i < 64; i++) *wrong += got[i] != (i + number) * (i + number);
        CUDA(cudaFree(device));
    }
    // Errors belong to the thread that made them.
    cudaFree((void *)4);
    *wrong += cudaGetLastError() != cudaErrorInvalidValue;
}

int main() {
    int wrong[4] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(work, i, wrong + i);
    for (auto &thread : threads) thread.join();
    DEMAND(cudaGetLastError() == cudaSuccess);
    return wrong[0] + wrong[1] + wrong[2] + wrong[3];
}
