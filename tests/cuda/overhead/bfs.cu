// Breadth-first search of a random graph of so many nodes; with a second argument it only writes the graph to that folder, for bfs.toml.
#include "../../../sim/workloads/kernels/bfs.cu"
#include "inputs.h"

int main(int, char **arguments) {
    const int count = std::atoi(arguments[1]), degree = 4;
    std::vector<int> nodes(2 * count), edges(degree * count), cost(count, 0);
    std::vector<unsigned char> frontier(count, 0), reached(count, 0);
    unsigned seed = 1;
    for (int i = 0; i < count; i++) nodes[2 * i] = degree * i, nodes[2 * i + 1] = degree;
    for (int &edge : edges) edge = next(seed) % count;
    frontier[0] = 1;
    if (arguments[2]) {
        write(arguments[2], "nodes", nodes);
        write(arguments[2], "edges", edges);
        write(arguments[2], "frontier", frontier);
        return 0;
    }
    auto n = (Node *)on_device(nodes);
    auto e = on_device(edges);
    auto f = on_device(frontier), r = on_device(reached), v = on_device(frontier);
    auto c = on_device(cost);
    unsigned char again = 0, *flag;
    CUDA(cudaMalloc(&flag, 1));
    int levels = 0;
    do {
        again = 0;
        CUDA(cudaMemcpy(flag, &again, 1, cudaMemcpyHostToDevice));
        bfs_expand<<<(count + 255) / 256, 256>>>(n, e, f, r, v, c, count);
        bfs_advance<<<(count + 255) / 256, 256>>>(f, r, v, flag, count);
        CUDA(cudaMemcpy(&again, flag, 1, cudaMemcpyDeviceToHost));
        levels++;
    } while (again);
    std::printf("%d levels\n", levels);
    return 0;
}
