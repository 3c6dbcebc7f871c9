// Tensor maps, encoded by the driver, with which the test is not linked.
#pragma once
#include "check.h"
#include <cuda.h>

typedef decltype(&cuTensorMapEncodeTiled) Encode;

inline Encode encoder() {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
    DEMAND(result == cudaDriverEntryPointSuccess);
    return (Encode)found;
}
