// Tracking of points on a moving wall through the frames of a film: one block per point compares the point's template with
// the frame at every offset of a search window, moves the point to the best one and blends what is there into the template.
#pragma clang fp contract(off)
#define TEMPLATE 9
#define SEARCH 11
#define AREA (TEMPLATE * TEMPLATE)
#define OFFSETS (SEARCH * SEARCH)
#define THREADS 128

extern "C" __global__ void heartwall(const float *frame, float *templates, int *columns, int *rows, float blend,
                                     int width)
{
    __shared__ float wanted[AREA];
    __shared__ float score[THREADS];
    __shared__ int best[THREADS];
    int point = blockIdx.x;
    int thread = threadIdx.x;
    // The upper left corner of the template's place at offset 0.
    int left = columns[point] - TEMPLATE / 2 - SEARCH / 2;
    int top = rows[point] - TEMPLATE / 2 - SEARCH / 2;
    if (thread < AREA)
        wanted[thread] = templates[point * AREA + thread];
    __syncthreads();
    float likeness = -1.0f;
    if (thread < OFFSETS) {
        const float *corner = &frame[(top + thread / SEARCH) * width + left + thread % SEARCH];
        float product = 0.0f, energy = 1.0f;
        for (int row = 0; row < TEMPLATE; row++)
            for (int column = 0; column < TEMPLATE; column++) {
                float pixel = corner[row * width + column];
                product = __builtin_fmaf(pixel, wanted[row * TEMPLATE + column], product);
                energy = __builtin_fmaf(pixel, pixel, energy);
            }
        likeness = product / __nvvm_sqrt_rn_f(energy);
    }
    score[thread] = likeness;
    best[thread] = thread;
    // The greatest likeness wins, of equal ones that of the first offset.
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            float mine = score[thread], other = score[thread + half];
            if (other > mine || (other == mine && best[thread + half] < best[thread])) {
                score[thread] = other;
                best[thread] = best[thread + half];
            }
        }
    }
    __syncthreads();
    int offset = best[0];
    if (thread < AREA) {
        int row = top + offset / SEARCH + thread / TEMPLATE;
        int column = left + offset % SEARCH + thread % TEMPLATE;
        float pixel = frame[row * width + column];
        templates[point * AREA + thread] = __builtin_fmaf(blend, pixel - wanted[thread], wanted[thread]);
    }
    if (thread == 0) {
        columns[point] = left + offset % SEARCH + TEMPLATE / 2;
        rows[point] = top + offset / SEARCH + TEMPLATE / 2;
    }
}
