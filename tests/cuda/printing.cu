// What kernels print comes among what the host prints, in order.
#include "check.h"

__global__ void greet(int launch) {
    if (threadIdx.x == 3) printf("kernel %d, thread %d, %s %.2f\n", launch, threadIdx.x, "number", launch / 4.0);
}

int main() {
    for (int i = 0; i < 3; i++) {
        std::printf("host %d\n", i);
        greet<<<1, 32>>>(i);
        CUDA(cudaDeviceSynchronize());
    }
    return 0;
}
