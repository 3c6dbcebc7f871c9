// Texture references of CUDA 11 and older, bound to memory and to an array, and bound again.
#include "check.h"

texture<float, 1, cudaReadModeElementType> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;

__global__ void fetch(float *out) {
    int i = threadIdx.x;
    out[i] = tex1Dfetch(line, i);
    out[32 + i] = tex2D(image, i % 8 + 0.5f, i / 8 + 0.5f);
}

int main() {
    std::vector<float> first(32), second(32);
    std::vector<unsigned char> bytes(32);
    for (int i = 0; i < 32; i++) first[i] = i, second[i] = -i, bytes[i] = 8 * i;
    float *a = on_device(first), *b = on_device(second), *out;
    CUDA(cudaMalloc(&out, 64 * sizeof(float)));
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    CUDA(cudaMallocArray(&array, &format, 8, 4));
    CUDA(cudaMemcpyToArray(array, 0, 0, bytes.data(), 32, cudaMemcpyHostToDevice));
    CUDA(cudaBindTextureToArray(image, array));
    for (float sign : {1.0f, -1.0f}) {
        CUDA(cudaBindTexture(nullptr, line, sign > 0 ? a : b, 32 * sizeof(float)));
        fetch<<<1, 32>>>(out);
        auto got = from_device(out, 64);
        for (int i = 0; i < 32; i++) {
            DEMAND(got[i] == sign * i);
            DEMAND(got[32 + i] > 8 * i / 255.0f - 1e-6f && got[32 + i] < 8 * i / 255.0f + 1e-6f);
        }
        CUDA(cudaUnbindTexture(line));
    }
    std::printf("references agree\n");
    return 0;
}
