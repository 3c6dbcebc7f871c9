// What would a new centre save? Each thread compares what its point costs now with its distance from the candidate.

struct Point {
    float weight;
    float *coordinates; // On the host.
    long long centre;   // The point at this point's centre.
    float cost;
};

// Coordinates are stored dimension by dimension. `table` has a row of `stride` sums per point: one per centre, then
// the saving of a point that moves to the candidate, which is negative.
extern "C" __global__ void streamcluster_cost(int count, int dimensions, int candidate, const Point *points, int centres,
                                              int stride, const float *coordinates, float *table,
                                              const int *centre_number, bool *moves)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= count)
        return;
    float *sums = &table[point * stride];
    float distance = 0.0f;
    for (int dimension = 0; dimension < dimensions; dimension++) {
        float apart = coordinates[dimension * count + point] - coordinates[dimension * count + candidate];
        distance += apart * apart;
    }
    float cost = distance * points[point].weight;
    if (cost < points[point].cost) {
        moves[point] = true;
        sums[centres] += cost - points[point].cost;
    } else {
        sums[centre_number[points[point].centre]] += points[point].cost - cost;
    }
}
