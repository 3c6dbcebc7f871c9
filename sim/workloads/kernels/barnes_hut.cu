// Gravity by Barnes and Hut: each body walks over an octree whose far cells act as one mass. One thread per body.
//
// Cells lie in the order of a walk that opens every cell: the first child of a cell follows it, after[c] is the cell that
// follows all that is inside cell c. A cell's size is that of its cube; a leaf's is 0.
#pragma clang fp contract(off)

struct alignas(16) Mass {
    float x, y, z, mass;
};

extern "C" __global__ void barnes_hut_force(const Mass *bodies, const Mass *cells, const float *size, const int *after,
                                            float *acceleration, float opening, float softening, int cell_count,
                                            int body_count)
{
    int body = blockIdx.x * blockDim.x + threadIdx.x;
    if (body >= body_count)
        return;
    float x = bodies[body].x, y = bodies[body].y, z = bodies[body].z;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    int cell = 0;
    while (cell < cell_count) {
        Mass there = cells[cell];
        float dx = there.x - x, dy = there.y - y, dz = there.z - z;
        float square = __builtin_fmaf(dx, dx, __builtin_fmaf(dy, dy, dz * dz));
        // Near cells are opened.
        if (size[cell] * size[cell] > opening * square) {
            cell++;
            continue;
        }
        float inverse = 1.0f / __nvvm_sqrt_rn_f(square + softening);
        float pull = there.mass * inverse * inverse * inverse;
        ax = __builtin_fmaf(dx, pull, ax);
        ay = __builtin_fmaf(dy, pull, ay);
        az = __builtin_fmaf(dz, pull, az);
        cell = after[cell];
    }
    acceleration[3 * body] = ax;
    acceleration[3 * body + 1] = ay;
    acceleration[3 * body + 2] = az;
}

extern "C" __global__ void barnes_hut_move(Mass *bodies, float *velocity, const float *acceleration, float step,
                                           int body_count)
{
    int body = blockIdx.x * blockDim.x + threadIdx.x;
    if (body >= body_count)
        return;
    float moved[3];
    for (int axis = 0; axis < 3; axis++) {
        float speed = __builtin_fmaf(acceleration[3 * body + axis], step, velocity[3 * body + axis]);
        velocity[3 * body + axis] = speed;
        moved[axis] = speed * step;
    }
    bodies[body].x += moved[0];
    bodies[body].y += moved[1];
    bodies[body].z += moved[2];
}
