// Layered arrays, cubes and surfaces: textures of layers and faces, and a surface that a kernel writes.
#include "check.h"

__global__ void fetch(cudaTextureObject_t rows, cudaTextureObject_t images, cudaTextureObject_t cube, float *out) {
    int i = threadIdx.x;
    out[i] = tex1DLayered<float>(rows, i % 8 + 0.5f, i / 8);
    out[32 + i] = tex2DLayered<float>(images, i % 4 + 0.5f, i / 4 % 2 + 0.5f, i / 8);
    // The middles of the six faces, in the order of CUDA: +x, -x, +y, -y, +z, -z.
    if (i < 6) {
        float side = i % 2 ? -1.0f : 1.0f;
        out[64 + i] = texCubemap<float>(cube, i / 2 == 0 ? side : 0, i / 2 == 1 ? side : 0, i / 2 == 2 ? side : 0);
    }
}

__global__ void mark(cudaSurfaceObject_t surface) {
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    float texel;
    surf2Dread(&texel, surface, x * 4, y);
    surf2Dwrite(texel + 1000, surface, x * 4, y);
}

static cudaArray_t make(std::vector<float> &texels, cudaExtent extent, unsigned flags) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CUDA(cudaMalloc3DArray(&array, &format, extent, flags));
    size_t height = extent.height ? extent.height : 1;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), extent.width * sizeof(float), extent.width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, height, extent.depth ? extent.depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    return array;
}

static cudaResourceDesc resource(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static cudaTextureObject_t texture(cudaArray_t array, bool normalized) {
    cudaResourceDesc from = resource(array);
    cudaTextureDesc sampling = {};
    sampling.normalizedCoords = normalized;
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t object;
    CUDA(cudaCreateTextureObject(&object, &from, &sampling, nullptr));
    return object;
}

int main() {
    std::vector<float> texels(32), faces(24);
    for (int i = 0; i < 32; i++) texels[i] = i * i;
    for (int i = 0; i < 24; i++) faces[i] = i / 4;
    cudaArray_t rows = make(texels, make_cudaExtent(8, 0, 4), cudaArrayLayered);
    cudaArray_t images = make(texels, make_cudaExtent(4, 2, 4), cudaArrayLayered);
    cudaArray_t cube = make(faces, make_cudaExtent(2, 2, 6), cudaArrayCubemap);
    cudaExtent extent;
    unsigned flags;
    CUDA(cudaArrayGetInfo(nullptr, &extent, &flags, rows));
    DEMAND(extent.width == 8 && extent.height == 0 && extent.depth == 4 && flags == cudaArrayLayered);
    float *out;
    CUDA(cudaMalloc(&out, 70 * sizeof(float)));
    fetch<<<1, 32>>>(texture(rows, false), texture(images, false), texture(cube, true), out);
    auto got = from_device(out, 70);
    for (int i = 0; i < 64; i++) DEMAND(got[i] == texels[i % 32]);
    for (int i = 0; i < 6; i++) DEMAND(got[64 + i] == i);

    cudaArray_t image = make(texels, make_cudaExtent(8, 4, 0), cudaArraySurfaceLoadStore);
    cudaResourceDesc from = resource(image);
    cudaSurfaceObject_t surface;
    CUDA(cudaCreateSurfaceObject(&surface, &from));
    mark<<<1, 32>>>(surface);
    std::vector<float> back(32);
    CUDA(cudaMemcpy2DFromArray(back.data(), 32, image, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) DEMAND(back[i] == texels[i] + 1000);
    CUDA(cudaDestroySurfaceObject(surface));
    std::printf("layers, faces and surfaces agree\n");
    return 0;
}
