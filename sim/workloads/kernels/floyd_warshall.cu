// All-pairs shortest paths by Floyd and Warshall: one launch per intermediate node, one thread per pair.
//
// As in Pannotia, the first index of a thread is the row: lanes of a warp read different rows.
extern "C" __global__ void floyd_warshall(int *distance, int *next, int nodes, int through)
{
    int from = blockIdx.x * blockDim.x + threadIdx.x;
    int to = blockIdx.y * blockDim.y + threadIdx.y;
    if (from >= nodes || to >= nodes)
        return;
    int around = distance[from * nodes + through] + distance[through * nodes + to];
    if (around < distance[from * nodes + to]) {
        distance[from * nodes + to] = around;
        next[from * nodes + to] = through;
    }
}
