// All-pairs shortest paths by Floyd and Warshall: one launch per intermediate node, one thread per pair.
extern "C" __global__ void floyd_warshall(unsigned *distance, int through, int nodes)
{
    int to = blockIdx.x * blockDim.x + threadIdx.x;
    int from = blockIdx.y * blockDim.y + threadIdx.y;
    if (from < nodes && to < nodes) {
        unsigned around = distance[from * nodes + through] + distance[through * nodes + to];
        if (around < distance[from * nodes + to])
            distance[from * nodes + to] = around;
    }
}
