// Copies that are longer than a message, in one row and in many, and the free memory of the device.
#include "check.h"
#include <vector>

__global__ void invert(unsigned *out, size_t count) {
    for (size_t i = threadIdx.x; i < count; i += blockDim.x * 64) out[i] = ~out[i];
}

static unsigned value(size_t i) { return (unsigned)(i * 2654435761u) ^ (unsigned)(i >> 20); }

int main() {
    // 40 MiB and a bit.
    const size_t count = (40u << 18) + 3, bytes = count * 4;
    std::vector<unsigned> host(count), back(count);
    for (size_t i = 0; i < count; i++) host[i] = value(i);
    size_t whole, less, again, total;
    unsigned *memory;
    CUDA(cudaMemGetInfo(&whole, &total));
    CUDA(cudaMalloc(&memory, bytes));
    CUDA(cudaMemGetInfo(&less, &total));
    DEMAND(whole - less == bytes && whole <= total);
    CUDA(cudaMemcpy(memory, host.data(), bytes, cudaMemcpyHostToDevice));
    invert<<<1, 32>>>(memory, 32);
    CUDA(cudaMemcpy(back.data(), memory, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) DEMAND(back[i] == (i < 32 ? ~host[i] : host[i]));
    // A row of 20 MiB is two pieces; rows of 3 bytes less than the pitch are packed.
    const size_t pitch = 20 << 20, width = pitch - 3;
    std::vector<unsigned char> rows(2 * pitch, 1), read(2 * pitch, 2);
    for (size_t i = 0; i < rows.size(); i++) rows[i] = (unsigned char)value(i);
    CUDA(cudaMemset(memory, 0xee, bytes));
    CUDA(cudaMemcpy2D(memory, pitch, rows.data(), pitch, width, 2, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2D(read.data(), pitch, memory, pitch, width, 2, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < rows.size(); i++) DEMAND(read[i] == (i % pitch < width ? rows[i] : 2));
    CUDA(cudaMemcpy(read.data(), memory, 2 * pitch, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < rows.size(); i++) DEMAND(read[i] == (i % pitch < width ? rows[i] : 0xee));
    // Many short rows.
    const size_t short_pitch = 1 << 12, short_width = short_pitch - 5, height = (2 * pitch) / short_pitch;
    CUDA(cudaMemcpy2D(memory, short_pitch, rows.data(), short_pitch, short_width, height, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2D(read.data(), short_width, memory, short_pitch, short_width, height, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < height * short_width; i++)
        DEMAND(read[i] == rows[i / short_width * short_pitch + i % short_width]);
    CUDA(cudaFree(memory));
    CUDA(cudaMemGetInfo(&again, &total));
    DEMAND(again == whole);
    std::printf("pieces agree\n");
    return 0;
}
