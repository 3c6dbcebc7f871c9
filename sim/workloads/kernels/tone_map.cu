// Tones of a photograph for a screen: each pixel's level becomes light by the inverse of the sRGB curve, the light is
// compressed by a filmic curve, and the sRGB curve makes it a tone again. Powers come by Newton's iterations of roots, so
// that the curve is a long function of eight bits. A thread maps PIXELS pixels of a column. Blocks are 256 threads of a row.
#pragma clang fp contract(off)
#define PIXELS 8

// The root of `degree` of a number from 0 to 1, from above.
static __device__ float root(float number, int degree, int steps) {
    float root = 1.0f;
    for (int step = 0; step < steps; step++) {
        float power = 1.0f;
        for (int factor = 1; factor < degree; factor++) power = power * root;
        root = root - (root * power - number) / ((float)degree * power);
    }
    return root;
}

// `number` to the power `factors`.
static __device__ float power(float number, int factors) {
    float power = 1.0f;
    for (int factor = 0; factor < factors; factor++) power = power * number;
    return power;
}

static __device__ __attribute__((noinline)) float tone(unsigned level) {
    float coded = (float)level / 255.0f;
    float light = coded <= 0.04045f ? coded / 12.92f : power(root((coded + 0.055f) / 1.055f, 5, 10), 12);
    float shown = light * (2.51f * light + 0.03f) / (light * (2.43f * light + 0.59f) + 0.14f);
    return shown <= 0.0031308f ? 12.92f * shown : 1.055f * power(root(shown, 12, 16), 5) - 0.055f;
}

extern "C" __global__ void tone_map(const unsigned *levels, float *tones, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * PIXELS;
    if (column >= width) return;
    for (int row = first; row < first + PIXELS && row < height; row++) {
        tones[row * width + column] = tone(levels[row * width + column]);
    }
}
