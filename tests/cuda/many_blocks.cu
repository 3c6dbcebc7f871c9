// Launches of many blocks, each between two events. With two arguments, the program ends with 1.
#include "check.h"

__global__ void blur(const int *from, int *to, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int left = at > 0 ? from[at - 1] : 0, right = at + 1 < count ? from[at + 1] : 0;
    to[at] = (left + 2 * from[at] + right) / 4;
}

int main(int words, char **) {
    const int count = 1536 * 256, launches = 4;
    std::vector<int> values(count), next(count);
    for (int i = 0; i < count; i++) values[i] = i * 7919LL % 1000;
    int *from = on_device(values), *to = on_device(next);
    cudaEvent_t start, end;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&end));
    for (int launch = 0; launch < launches; launch++) {
        CUDA(cudaEventRecord(start));
        blur<<<count / 256, 256>>>(from, to, count);
        CUDA(cudaEventRecord(end));
        float milliseconds;
        CUDA(cudaEventElapsedTime(&milliseconds, start, end));
        std::printf("%.0f ns\n", milliseconds * 1e6);
        std::swap(from, to);
        for (int i = 0; i < count; i++) {
            int left = i > 0 ? values[i - 1] : 0, right = i + 1 < count ? values[i + 1] : 0;
            next[i] = (left + 2 * values[i] + right) / 4;
        }
        values.swap(next);
    }
    DEMAND(from_device(from, count) == values);
    return words > 2 ? 1 : 0;
}
