// Templates, functors by value and a class with operators.
#include "check.h"

template <typename T>
struct Complex {
    T re, im;
    __host__ __device__ Complex operator*(const Complex &o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
};

template <int N>
struct Power {
    template <typename T>
    __host__ __device__ T operator()(T x) const { return x * Power<N - 1>()(x); }
};
template <>
struct Power<1> {
    template <typename T>
    __host__ __device__ T operator()(T x) const { return x; }
};

template <typename T, typename F>
__global__ void map(T *values, int count, F function) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = function(values[i]);
}

template <typename T, typename F>
void check(F function, T (*make)(int), bool (*same)(T, T)) {
    std::vector<T> values(100);
    for (int i = 0; i < 100; i++) values[i] = make(i);
    T *device = on_device(values);
    map<<<2, 64>>>(device, 100, function);
    auto got = from_device(device, 100);
    for (int i = 0; i < 100; i++) DEMAND(same(got[i], function(values[i])));
}

int main() {
    check<long long>(Power<5>(), [](int i) { return (long long)i; }, [](long long a, long long b) { return a == b; });
    check<double>(Power<3>(), [](int i) { return i * 0.5; }, [](double a, double b) { return a == b; });
    check<Complex<float>>(
        Power<2>(), [](int i) { return Complex<float>{(float)i, 1}; },
        [](Complex<float> a, Complex<float> b) { return a.re == b.re && a.im == b.im; });
    std::printf("templates agree\n");
    return 0;
}
