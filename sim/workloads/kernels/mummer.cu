// The longest match of every end of short reads with a reference, by walks down a suffix tree. One thread per read.
//
// Node n is reached by `length[n]` letters of the reference from `start[n]` on; child[4 * n + k] is its child whose first
// letter has code k, 0 where there is none; position[n] is where one of the suffixes below it begins. Node 0 is the root.
extern "C" __global__ void mummer(const unsigned char *reference, const int *child, const int *start,
                                  const int *length, const int *position, const unsigned char *reads,
                                  int *match_length, int *match_position, int read_length, int read_count)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= read_count)
        return;
    const unsigned char *read = &reads[number * read_length];
    for (int from = 0; from < read_length; from++) {
        int node = 0;
        int at = from;
        bool matches = true;
        while (matches && at < read_length) {
            // A, C, T and G have the codes 0 to 3.
            int next = child[4 * node + (read[at] >> 1 & 3)];
            if (next == 0)
                break;
            node = next;
            // The first letter of an edge is the one that it was chosen by.
            at++;
            for (int along = 1; matches && along < length[node] && at < read_length; along++) {
                matches = reference[start[node] + along] == read[at];
                at += matches ? 1 : 0;
            }
        }
        match_length[number * read_length + from] = at - from;
        match_position[number * read_length + from] = position[node];
    }
}
