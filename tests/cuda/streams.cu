// Streams and events, whose time is simulated. With an argument, all work is in one stream.
#include "check.h"

__global__ void add(int *values, int by) {
    atomicAdd(values + threadIdx.x, by);
}

__global__ void spin(int *values, int turns) {
    int value = values[threadIdx.x];
    for (int i = 0; i < turns; i++) value = value * 3 + i;
    values[64 + threadIdx.x] = value;
}

int main(int count, char **) {
    cudaStream_t streams[2];
    cudaEvent_t events[3];
    for (auto &stream : streams) CUDA(cudaStreamCreate(&stream));
    cudaStream_t other = streams[count == 1];
    for (auto &event : events) CUDA(cudaEventCreate(&event));
    int *values, *host;
    CUDA(cudaMalloc(&values, 128 * sizeof(int)));
    CUDA(cudaMallocHost(&host, 64 * sizeof(int)));
    CUDA(cudaMemsetAsync(values, 0, 128 * sizeof(int), streams[0]));
    CUDA(cudaEventRecord(events[0], streams[0]));
    CUDA(cudaStreamWaitEvent(other, events[0], 0));
    for (int i = 0; i < 4; i++) add<<<1, 64, 0, i % 2 ? other : streams[0]>>>(values, i);
    CUDA(cudaEventRecord(events[1], other));
    spin<<<1, 64, 0, other>>>(values, 5000);
    CUDA(cudaEventRecord(events[2], other));
    CUDA(cudaStreamWaitEvent(streams[0], events[2], 0));
    CUDA(cudaMemcpyAsync(host, values, 64 * sizeof(int), cudaMemcpyDeviceToHost, streams[0]));
    CUDA(cudaStreamSynchronize(streams[0]));
    CUDA(cudaEventSynchronize(events[2]));
    for (int i = 0; i < 64; i++) DEMAND(host[i] == 6);
    float few, many;
    CUDA(cudaEventElapsedTime(&few, events[0], events[1]));
    CUDA(cudaEventElapsedTime(&many, events[1], events[2]));
    DEMAND(few > 0 && many > few);
    for (auto event : events) CUDA(cudaEventDestroy(event));
    for (auto stream : streams) CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFreeHost(host));
    std::printf("streams agree\n");
    return 0;
}
