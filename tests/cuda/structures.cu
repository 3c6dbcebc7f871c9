// Structures by value, double precision, small integers and a grid of three dimensions.
#include "check.h"

struct Box {
    double scale;
    short add[3];
    char tag;
    float4 four;
};

__global__ void compute(double *out, Box box, unsigned char low, short mid, long long high) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int at = (z * 6 + y) * 8 + x;
    out[at] = box.scale * at + box.add[z % 3] + box.tag + box.four.w + low + mid + high;
}

int main() {
    Box box = {0.25, {1, -2, 3}, 'A', {1, 2, 3, 4.5f}};
    double *out;
    CUDA(cudaMalloc(&out, 8 * 6 * 4 * sizeof(double)));
    compute<<<dim3(2, 3, 4), dim3(4, 2, 1)>>>(out, box, 250, -300, 1ll << 40);
    auto got = from_device(out, 8 * 6 * 4);
    for (int at = 0; at < 192; at++)
        DEMAND(got[at] == 0.25 * at + box.add[at / 48 % 3] + 'A' + 4.5 + 250 - 300 + (double)(1ll << 40));
    std::printf("structures agree\n");
    return 0;
}
