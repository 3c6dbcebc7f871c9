// Managed memory: a list that the host builds, kernels change, and the host reads and extends.
#include "check.h"

struct Node {
    int value;
    Node *next;
};

__global__ void double_all(Node *first) {
    for (Node *node = first; node; node = node->next) node->value *= 2;
}

int main() {
    Node *nodes;
    int *sum;
    CUDA(cudaMallocManaged(&nodes, 3000 * sizeof(Node)));
    CUDA(cudaMallocManaged(&sum, sizeof(int)));
    for (int i = 0; i < 20; i++) nodes[i * 100] = {i, i < 19 ? nodes + (i + 1) * 100 : nullptr};
    double_all<<<1, 1>>>(nodes);
    CUDA(cudaDeviceSynchronize());
    nodes[1900].next = nodes + 2000;
    nodes[2000] = {1000, nullptr};
    double_all<<<1, 1>>>(nodes);
    CUDA(cudaDeviceSynchronize());
    *sum = 0;
    for (Node *node = nodes; node; node = node->next) *sum += node->value;
    int copy;
    CUDA(cudaMemcpy(&copy, sum, sizeof copy, cudaMemcpyDefault));
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, nodes + 5));
    DEMAND(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == nodes + 5);
    CUDA(cudaFree(nodes));
    std::printf("sum %d\n", copy);
    return copy != 190 * 4 + 2000;
}
