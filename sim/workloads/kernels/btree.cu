// Lookups of keys in a B+ tree: one block per key, whose threads compare the key with all separators of a node at once.
#define ORDER 128

// Node k has separators keys[k * ORDER] to keys[k * ORDER + ORDER - 1], ascending, and as many children; a child covers the
// keys from its separator up to the next. The leaves' children are indices of records.
extern "C" __global__ void btree_find(const int *keys, const int *children, const int *wanted, int *found, int levels)
{
    __shared__ int node;
    int thread = threadIdx.x;
    int key = wanted[blockIdx.x];
    if (thread == 0)
        node = 0;
    __syncthreads();
    for (int level = 0; level < levels; level++) {
        int at = node * ORDER + thread;
        bool covers = keys[at] <= key && (thread == ORDER - 1 || keys[at + 1] > key);
        __syncthreads();
        if (covers)
            node = children[at];
        __syncthreads();
    }
    if (thread == 0)
        found[blockIdx.x] = node;
}
