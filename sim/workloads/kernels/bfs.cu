// Breadth-first search, one level per pair of launches, one thread per node.

// Where a node's neighbours lie in the edge list.
struct Node {
    int first_edge;
    int degree;
};

// Every node of the frontier leaves it and reaches its unvisited neighbours. Several threads may reach the same
// neighbour; they write the same values.
extern "C" __global__ void bfs_expand(const Node *nodes, const int *edges, unsigned char *frontier,
                                      unsigned char *reached, const unsigned char *visited, int *cost, int count)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !frontier[node])
        return;
    frontier[node] = 0;
    int end = nodes[node].first_edge + nodes[node].degree;
    for (int edge = nodes[node].first_edge; edge < end; edge++) {
        int neighbour = edges[edge];
        if (!visited[neighbour]) {
            cost[neighbour] = cost[node] + 1;
            reached[neighbour] = 1;
        }
    }
}

// The nodes just reached become the next frontier; `again` tells the host that there is one.
extern "C" __global__ void bfs_advance(unsigned char *frontier, unsigned char *reached, unsigned char *visited,
                                       unsigned char *again, int count)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !reached[node])
        return;
    frontier[node] = 1;
    visited[node] = 1;
    reached[node] = 0;
    *again = 1;
}
