// Spheres on a chequered floor by ray tracing: one thread per pixel follows its ray over mirror bounces, with a shadow ray
// to the light at each hit. Blocks are 16 x 8 threads.
#pragma clang fp contract(off)
#define BOUNCES 4
#define FAR 1.0e30f
#define NEAR 1.0e-3f

struct Vector {
    float x, y, z;
};

// Place, radius, colour and the share of light that is mirrored.
struct alignas(16) Sphere {
    Vector centre;
    float radius;
    Vector colour;
    float mirror;
};

__device__ static Vector along(Vector from, Vector direction, float distance)
{
    return {__builtin_fmaf(direction.x, distance, from.x), __builtin_fmaf(direction.y, distance, from.y),
            __builtin_fmaf(direction.z, distance, from.z)};
}

__device__ static float dot(Vector a, Vector b)
{
    return __builtin_fmaf(a.x, b.x, __builtin_fmaf(a.y, b.y, a.z * b.z));
}

__device__ static Vector unit(Vector a)
{
    float scale = 1.0f / __nvvm_sqrt_rn_f(dot(a, a));
    return {a.x * scale, a.y * scale, a.z * scale};
}

// The distance at which a ray first meets a sphere, FAR where it does not.
__device__ static float meet(const Sphere *sphere, Vector from, Vector direction)
{
    Vector to = {sphere->centre.x - from.x, sphere->centre.y - from.y, sphere->centre.z - from.z};
    float middle = dot(to, direction);
    float inside = __builtin_fmaf(middle, middle, sphere->radius * sphere->radius - dot(to, to));
    if (inside < 0.0f)
        return FAR;
    float half = __nvvm_sqrt_rn_f(inside);
    if (middle - half > NEAR)
        return middle - half;
    return middle + half > NEAR ? middle + half : FAR;
}

extern "C" __global__ void raytrace(const Sphere *spheres, float *image, float light_x, float light_y, float light_z,
                                    int sphere_count, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    Vector light = {light_x, light_y, light_z};
    Vector from = {0.0f, 1.0f, -4.0f};
    float scale = 1.0f / height;
    Vector direction =
        unit({((float)column - 0.5f * width) * scale, (0.5f * height - (float)row) * scale, 1.0f});
    Vector seen = {0.0f, 0.0f, 0.0f};
    float share = 1.0f;
    for (int bounce = 0; bounce < BOUNCES; bounce++) {
        float nearest = FAR;
        int hit = -1;
        for (int at = 0; at < sphere_count; at++) {
            float distance = meet(&spheres[at], from, direction);
            if (distance < nearest) {
                nearest = distance;
                hit = at;
            }
        }
        // The floor is the plane y = 0.
        bool floor = direction.y < 0.0f && -from.y / direction.y < nearest && -from.y / direction.y > NEAR;
        if (floor)
            nearest = -from.y / direction.y;
        if (nearest == FAR) {
            // The sky, brighter towards its zenith.
            float bright = share * (0.5f + 0.5f * direction.y);
            seen = along(seen, {0.4f, 0.6f, 1.0f}, bright);
            break;
        }
        Vector place = along(from, direction, nearest);
        Vector normal = {0.0f, 1.0f, 0.0f};
        Vector colour;
        float mirror = 0.2f;
        if (floor) {
            bool dark = (((int)(place.x + 1000.0f) ^ (int)(place.z + 1000.0f)) & 1) != 0;
            colour = dark ? Vector{0.2f, 0.2f, 0.2f} : Vector{0.9f, 0.9f, 0.8f};
        } else {
            const Sphere *sphere = &spheres[hit];
            normal = unit({place.x - sphere->centre.x, place.y - sphere->centre.y, place.z - sphere->centre.z});
            colour = sphere->colour;
            mirror = sphere->mirror;
        }
        // A ray towards the light tells whether the place lies in a shadow.
        float lit = dot(normal, light);
        for (int at = 0; at < sphere_count && lit > 0.0f; at++)
            if (meet(&spheres[at], place, light) < FAR)
                lit = 0.0f;
        lit = lit > 0.0f ? lit : 0.0f;
        float bright = share * (1.0f - mirror) * (0.15f + 0.85f * lit);
        seen = along(seen, colour, bright);
        share = share * mirror;
        float twice = -2.0f * dot(direction, normal);
        direction = unit(along(direction, normal, twice));
        from = place;
        if (share < 0.01f)
            break;
    }
    float *pixel = &image[3 * (row * width + column)];
    pixel[0] = seen.x;
    pixel[1] = seen.y;
    pixel[2] = seen.z;
}
