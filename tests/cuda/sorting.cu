// A bitonic sort in many launches.
#include "check.h"
#include <algorithm>

__global__ void step(unsigned *values, unsigned distance, unsigned size) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ distance;
    if (j <= i) return;
    unsigned a = values[i], b = values[j];
    if ((a > b) == ((i & size) == 0)) values[i] = b, values[j] = a;
}

int main() {
    std::vector<unsigned> values(256);
    for (unsigned i = 0; i < 256; i++) values[i] = i * 2654435761u;
    unsigned *device = on_device(values);
    for (unsigned size = 2; size <= 256; size *= 2)
        for (unsigned distance = size / 2; distance > 0; distance /= 2) step<<<4, 64>>>(device, distance, size);
    std::sort(values.begin(), values.end());
    std::printf("sorted\n");
    return from_device(device, 256) != values;
}
