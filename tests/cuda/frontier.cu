// A breadth-first search whose host loop ends when a flag stays down.
#include "check.h"

__global__ void expand(const int *edges, int *level, int now, bool *changed, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != now) return;
    for (int i = 0; i < 3; i++) {
        int other = edges[3 * node + i];
        if (level[other] < 0) {
            level[other] = now + 1;
            *changed = true;
        }
    }
}

int main() {
    const int nodes = 600;
    std::vector<int> edges(3 * nodes), level(nodes, -1), expected(nodes, -1);
    for (int i = 0; i < 3 * nodes; i++) edges[i] = (i * 131 + i / 3 * 17 + 5) % nodes;
    level[0] = expected[0] = 0;
    for (int now = 0, more = 1; more; now++) {
        more = 0;
        for (int i = 0; i < 3 * nodes; i++)
            if (expected[i / 3] == now && expected[edges[i]] < 0) expected[edges[i]] = now + 1, more = 1;
    }
    int *e = on_device(edges), *l = on_device(level), now = 0;
    bool *flag, changed;
    CUDA(cudaMalloc(&flag, 1));
    do {
        changed = false;
        CUDA(cudaMemcpy(flag, &changed, 1, cudaMemcpyHostToDevice));
        expand<<<(nodes + 63) / 64, 64>>>(e, l, now++, flag, nodes);
        CUDA(cudaMemcpy(&changed, flag, 1, cudaMemcpyDeviceToHost));
    } while (changed);
    std::printf("%d levels\n", now);
    return from_device(l, nodes) != expected;
}
