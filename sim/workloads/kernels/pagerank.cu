// PageRank as a sparse matrix-vector product, one thread per node, which gathers along its edges.
//
// The edges of node u are first[u] to first[u + 1]; every edge is there in both directions.

// What each node gives to each of its neighbours.
extern "C" __global__ void pagerank_share(const int *first, const float *rank, float *share, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes) {
        int degree = first[node + 1] - first[node];
        share[node] = degree > 0 ? rank[node] / degree : 0.0f;
    }
}

extern "C" __global__ void pagerank_gather(const int *first, const int *target, const float *share, float *rank, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes) {
        float sum = 0.0f;
        for (int edge = first[node]; edge < first[node + 1]; edge++)
            sum += share[target[edge]];
        rank[node] = 0.15f / nodes + 0.85f * sum;
    }
}
