// A relaxation that the host ends when the norm, which it computes itself, is small enough.
#include "check.h"
#include <cmath>

__global__ void relax(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < count - 1) out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}

int main() {
    const int count = 18;
    std::vector<float> values(count, 0);
    values[0] = 1;
    float *a = on_device(values), *b = on_device(values);
    int turns = 0;
    double change;
    do {
        relax<<<1, 32>>>(a, b, count);
        auto before = from_device(a, count), after = from_device(b, count);
        change = 0;
        for (int i = 0; i < count; i++) change += std::fabs(after[i] - before[i]);
        std::swap(a, b);
        turns++;
    } while (change > 0.02 && turns < 500);
    auto got = from_device(a, count);
    std::printf("%d turns\n", turns);
    for (int i = 0; i < count; i++) DEMAND(std::fabs(got[i] - (count - 1.0 - i) / (count - 1)) < 0.2);
    return turns < 20 || turns > 200;
}
