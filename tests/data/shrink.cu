// A shape that the built-in workloads have not: textures, one by a handle and one through a texture reference.
typedef unsigned long long Texture;

// A sample of the image between four texels, at coordinates from 0 to 1.
__device__ static float sample(Texture image, float x, float y)
{
    float r, g, b, a;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(image), "f"(x), "f"(y));
    return r;
}

// The reference that `level` names; the host gives it its texture.
extern "C" __device__ Texture table = 0;

// An element of the table.
__device__ static int level(int index)
{
    int r, g, b, a;
    asm("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [table, {%4}];" : "=r"(r), "=r"(g), "=r"(b), "=r"(a) : "r"(index));
    return r;
}

// The image at half its size, and the table's level for each of its points.
extern "C" __global__ void shrink(Texture image, float *small, int *levels, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float value = sample(image, (x + 0.5f) / width, (y + 0.5f) / height);
    small[y * width + x] = value;
    levels[y * width + x] = level((int)(value * 15.5f));
}
