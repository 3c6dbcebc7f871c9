// k-means clustering: the steps that run on the device. The host recomputes the centres between launches.

// Turns the features from point by point into feature by feature, so that kmeans_assign reads neighbouring addresses.
extern "C" __global__ void kmeans_swap(const float *by_point, float *by_feature, int points, int features)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points)
        for (int feature = 0; feature < features; feature++)
            by_feature[feature * points + point] = by_point[point * features + feature];
}

// Assigns each point to the cluster whose centre is nearest; the lowest numbered one of equally near ones.
extern "C" __global__ void kmeans_assign(const float *by_feature, const float *centres, int *membership, int points,
                                         int features, int clusters)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points)
        return;
    int nearest = 0;
    float least = 3.402823466e+38f;
    for (int cluster = 0; cluster < clusters; cluster++) {
        float distance = 0.0f;
        for (int feature = 0; feature < features; feature++) {
            float apart = by_feature[feature * points + point] - centres[cluster * features + feature];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    membership[point] = nearest;
}
