// Single-source shortest paths on a graph in ELL format, as in Pannotia: products with an adjacency matrix, with minimum
// for sum and sum for product, until nothing changes. One thread per row.
//
// Every row has `height` entries, and the matrix is stored by columns.

extern "C" __global__ void sssp_ell_start(int *before, int *distance, int source, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    before[node] = node == source ? 0 : 99999999;
    distance[node] = node == source ? 0 : 99999999;
}

extern "C" __global__ void sssp_ell_assign(int *before, int *distance, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes)
        before[node] = distance[node];
}

extern "C" __global__ void sssp_ell_relax(int nodes, int height, int *neighbour, int *length, int *before, int *distance)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    int at = node;
    int least = before[node];
    for (int entry = 0; entry < height; entry++) {
        int way = length[at] + before[neighbour[at]];
        if (way < least)
            least = way;
        at += nodes;
    }
    distance[node] = least;
}

extern "C" __global__ void sssp_ell_compare(int *before, int *distance, int *changed, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && distance[node] != before[node])
        *changed = 1;
}
