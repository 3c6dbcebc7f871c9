// Simulated times of work, and the values of the kernels that `spin`.
#pragma once
#include "check.h"

// `true`: `about` checks times.
static bool is_timed;

// The value that a kernel computes in `turns` turns.
inline int spun(int value, int turns) {
    unsigned result = value;
    for (int i = 0; i < turns; i++) result = result * 3 + i;
    return result;
}

// Simulated time of the work that `submit` adds to any streams.
template <typename F>
float timed(F submit) {
    static cudaEvent_t start, end;
    if (!start) {
        CUDA(cudaEventCreate(&start));
        CUDA(cudaEventCreate(&end));
    }
    CUDA(cudaEventRecord(start));
    submit();
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaEventRecord(end));
    float time;
    CUDA(cudaEventElapsedTime(&time, start, end));
    return time;
}

// Checks that `time` is about `times` times `one`.
inline void about(float time, float one, float times, const char *what) {
    if (is_timed && (time < 0.8f * times * one || time > 1.3f * times * one)) {
        std::printf("%s: %.2f times the time of one instead of %.1f\n", what, time / one, times);
        std::exit(4);
    }
}
