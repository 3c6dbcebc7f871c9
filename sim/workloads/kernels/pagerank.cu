// PageRank as a product of a sparse matrix and a vector, one thread per row, as in Pannotia.
//
// The entries of row u are first[u] to first[u + 1].

extern "C" __global__ void pagerank_start(float *rank, float *sum, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    rank[node] = 1 / (float)nodes;
    sum[node] = 0.0f;
}

// A node gives the same share to each of its neighbours.
extern "C" __global__ void pagerank_weigh(int *first, int *target, float *share, int *degree, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    int end = first[node + 1];
    for (int edge = first[node]; edge < end; edge++)
        share[edge] = 1.0f / (float)degree[target[edge]];
}

extern "C" __global__ void pagerank_multiply(int nodes, int *first, int *target, float *share, float *rank, float *sum)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    int start = first[node], end = first[node + 1];
    float total = 0.0f;
    for (int edge = start; edge < end; edge++)
        total += share[edge] * rank[target[edge]];
    sum[node] += total;
}

extern "C" __global__ void pagerank_damp(float *rank, float *sum, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    rank[node] = 0.15f / (float)nodes + 0.85f * sum[node];
    sum[node] = 0.0f;
}
