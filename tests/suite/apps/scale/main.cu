// Multiplies the numbers of a file by FACTOR, writes them to scaled.txt, and ends with 0 if they are right. Usage: scale FILE
#include "../../common/call.h"
#include "factor.h"
#include <vector>

__global__ void scale(float *values, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) values[at] *= FACTOR;
}

int main(int argc, char **argv) {
    std::FILE *file = argc > 1 ? std::fopen(argv[1], "r") : nullptr;
    if (!file) return 1;
    std::vector<float> values;
    for (float one; std::fscanf(file, "%f", &one) == 1;) values.push_back(one);
    std::fclose(file);
    std::vector<float> scaled(values.size());
    float *device;
    call(cudaMalloc(&device, values.size() * sizeof(float)));
    call(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    scale<<<1, 32>>>(device, (int)values.size());
    call(cudaMemcpy(scaled.data(), device, values.size() * sizeof(float), cudaMemcpyDeviceToHost));
    std::FILE *result = std::fopen("scaled.txt", "w");
    for (float one : scaled) std::fprintf(result, "%g\n", one);
    std::fclose(result);
    for (size_t i = 0; i < values.size(); i++)
        if (scaled[i] != values[i] * FACTOR) return 1;
    return check(scaled[0]);
}
