// Texture objects: memory in a row, rows with a pitch, and an array with linear filtering.
#include "check.h"

__global__ void fetch(cudaTextureObject_t row, cudaTextureObject_t image, cudaTextureObject_t smooth, float *out) {
    int i = threadIdx.x;
    out[i] = tex1Dfetch<int>(row, i);
    out[32 + i] = tex2D<float>(image, i % 8 + 0.5f, i / 8 + 0.5f);
    out[64 + i] = tex2D<float>(smooth, i % 8 + 1.0f, i / 8 + 0.5f);
}

int main() {
    std::vector<int> numbers(32);
    std::vector<float> texels(32);
    for (int i = 0; i < 32; i++) numbers[i] = 3 * i, texels[i] = i * i;
    cudaResourceDesc resource = {};
    cudaTextureDesc sampling = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = on_device(numbers);
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = 32 * sizeof(int);
    cudaTextureObject_t row, image, smooth;
    CUDA(cudaCreateTextureObject(&row, &resource, &sampling, nullptr));

    float *pitched;
    size_t pitch;
    CUDA(cudaMallocPitch(&pitched, &pitch, 8 * sizeof(float), 4));
    CUDA(cudaMemcpy2D(pitched, pitch, texels.data(), 32, 32, 4, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = pitched;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 8;
    resource.res.pitch2D.height = 4;
    resource.res.pitch2D.pitchInBytes = pitch;
    CUDA(cudaCreateTextureObject(&image, &resource, &sampling, nullptr));

    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CUDA(cudaMallocArray(&array, &format, 8, 4));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 32, 32, 4, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    sampling.filterMode = cudaFilterModeLinear;
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    CUDA(cudaCreateTextureObject(&smooth, &resource, &sampling, nullptr));

    float *out;
    CUDA(cudaMalloc(&out, 96 * sizeof(float)));
    fetch<<<1, 32>>>(row, image, smooth, out);
    auto got = from_device(out, 96);
    for (int i = 0; i < 32; i++) {
        DEMAND(got[i] == 3 * i);
        DEMAND(got[32 + i] == texels[i]);
        DEMAND(got[64 + i] == (i % 8 == 7 ? texels[i] : (texels[i] + texels[i + 1]) / 2));
    }
    CUDA(cudaDestroyTextureObject(row));
    CUDA(cudaFreeArray(array));
    std::printf("textures agree\n");
    return 0;
}
