// Functions of cuBLAS on small integers, whose results are exact in any order of additions.
#include "check.h"
#include <cmath>

// The prototypes of cublas_v2.h that the program needs.
using Handle = void *;
enum Operation { NORMAL, TRANSPOSED };
extern "C" {
int cublasCreate_v2(Handle *);
int cublasDestroy_v2(Handle);
int cublasSetPointerMode_v2(Handle, int);
int cublasSetVector(int, int, const void *, int, void *, int);
int cublasGetVector(int, int, const void *, int, void *, int);
int cublasSetMatrix(int, int, int, const void *, int, void *, int);
int cublasHgemm(Handle);
const char *cublasGetStatusString(int);
#define FUNCTIONS(T, P) \
    int cublas##P##axpy_v2(Handle, int, const T *, const T *, int, T *, int); \
    int cublas##P##scal_v2(Handle, int, const T *, T *, int); \
    int cublas##P##copy_v2(Handle, int, const T *, int, T *, int); \
    int cublas##P##swap_v2(Handle, int, T *, int, T *, int); \
    int cublas##P##dot_v2(Handle, int, const T *, int, const T *, int, T *); \
    int cublas##P##nrm2_v2(Handle, int, const T *, int, T *); \
    int cublas##P##asum_v2(Handle, int, const T *, int, T *); \
    int cublas##P##gemv_v2(Handle, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int); \
    int cublas##P##gemm_v2(Handle, int, int, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int); \
    int cublas##P##gemmStridedBatched(Handle, int, int, int, int, int, const T *, const T *, int, long long, const T *, int, \
                                      long long, const T *, T *, int, long long, int); \
    int cublas##P##gemmBatched(Handle, int, int, int, int, int, const T *, const T *const *, int, const T *const *, int, \
                               const T *, T *const *, int, int);
FUNCTIONS(float, S)
FUNCTIONS(double, D)
}

void blas(int status) {
    if (status) std::printf("%s\n", cublasGetStatusString(status));
    DEMAND(status == 0);
}

// Overloads for both types of elements.
#define OVERLOADS(T, P) \
    struct P##Blas { \
        using Real = T; \
        static constexpr auto axpy = cublas##P##axpy_v2; \
        static constexpr auto scal = cublas##P##scal_v2; \
        static constexpr auto copy = cublas##P##copy_v2; \
        static constexpr auto swap = cublas##P##swap_v2; \
        static constexpr auto dot = cublas##P##dot_v2; \
        static constexpr auto nrm2 = cublas##P##nrm2_v2; \
        static constexpr auto asum = cublas##P##asum_v2; \
        static constexpr auto gemv = cublas##P##gemv_v2; \
        static constexpr auto gemm = cublas##P##gemm_v2; \
        static constexpr auto strided = cublas##P##gemmStridedBatched; \
        static constexpr auto batched = cublas##P##gemmBatched; \
    };
OVERLOADS(float, S)
OVERLOADS(double, D)

int next_value() {
    static unsigned state = 1;
    state = state * 1664525 + 1013904223;
    return int(state >> 28) - 8;
}

template <typename T>
std::vector<T> values(size_t count) {
    std::vector<T> all(count);
    for (T &value : all) value = next_value();
    return all;
}

// Element (row, column) of a matrix that is stored by columns, or of its transpose.
template <typename T>
T element(const std::vector<T> &matrix, int operation, int leading, int row, int column, size_t from = 0) {
    return operation == NORMAL ? matrix[from + row + column * leading] : matrix[from + column + row * leading];
}

template <typename Blas>
void vectors(Handle handle) {
    using T = typename Blas::Real;
    const int n = 3000;
    auto x = values<T>(2 * n), y = values<T>(3 * n);
    T *dx = on_device(x), *dy = on_device(y), alpha = 3, result = -1;
    blas(Blas::axpy(handle, n, &alpha, dx, -2, dy, 3));
    for (int i = 0; i < n; i++) y[3 * i] += 3 * x[2 * (n - 1 - i)];
    DEMAND(from_device(dy, 3 * n) == y);
    blas(Blas::scal(handle, n, &alpha, dx, 2));
    for (int i = 0; i < n; i++) x[2 * i] *= 3;
    DEMAND(from_device(dx, 2 * n) == x);
    T dot = 0, squares = 0, magnitudes = 0;
    for (int i = 0; i < n; i++) {
        dot += x[2 * i] * y[3 * i];
        squares += x[2 * i] * x[2 * i];
        magnitudes += std::abs(y[i]);
    }
    blas(Blas::dot(handle, n, dx, 2, dy, 3, &result));
    DEMAND(result == dot);
    blas(Blas::nrm2(handle, n, dx, 2, &result));
    DEMAND(std::abs(result - std::sqrt(squares)) <= 1e-6 * result);
    blas(Blas::asum(handle, n, dy, 1, &result));
    DEMAND(result == magnitudes);
    blas(Blas::dot(handle, 0, dx, 2, dy, 3, &result));
    DEMAND(result == 0);
    blas(Blas::swap(handle, n, dx, 1, dy, 1));
    blas(Blas::copy(handle, 10, dx, 1, dy + 5, 1));
    std::vector<T> first(y.begin(), y.begin() + n), second(x.begin(), x.begin() + n);
    for (int i = 0; i < 10; i++) second[5 + i] = first[i];
    DEMAND(from_device(dx, n) == first && from_device(dy, n) == second);

    // Scalars in device memory
    blas(cublasSetPointerMode_v2(handle, 1));
    T *scalars = on_device(std::vector<T>{2, -1});
    blas(Blas::scal(handle, n, scalars, dx, 1));
    blas(Blas::dot(handle, n, dx, 1, dy, 1, scalars + 1));
    blas(cublasSetPointerMode_v2(handle, 0));
    dot = 0;
    for (int i = 0; i < n; i++) dot += 2 * first[i] * second[i];
    DEMAND(from_device(scalars, 2)[1] == dot);
}

template <typename Blas>
void matrix_and_vector(Handle handle) {
    using T = typename Blas::Real;
    const int m = 150, n = 70, leading = 160;
    auto a = values<T>(leading * n);
    T *da = on_device(a), alpha = 2, beta = -3, zero = 0;
    for (int operation : {NORMAL, TRANSPOSED}) {
        int rows = operation == NORMAL ? m : n, columns = operation == NORMAL ? n : m;
        auto x = values<T>(2 * columns), y = values<T>(rows);
        T *dx = on_device(x), *dy = on_device(y);
        blas(Blas::gemv(handle, operation, m, n, &alpha, da, leading, dx, 2, &beta, dy, -1));
        for (int i = 0; i < rows; i++) {
            T sum = 0;
            for (int j = 0; j < columns; j++) sum += element(a, operation, leading, i, j) * x[2 * j];
            y[rows - 1 - i] = 2 * sum - 3 * y[rows - 1 - i];
        }
        DEMAND(from_device(dy, rows) == y);
        blas(Blas::gemv(handle, operation, m, n, &zero, da, leading, dx, 2, &zero, dy, 1));
        DEMAND(from_device(dy, rows) == std::vector<T>(rows, 0));
    }
}

template <typename Blas>
void matrices(Handle handle) {
    using T = typename Blas::Real;
    const int m = 37, n = 21, k = 50, leading = 64, count = 3;
    const size_t stride = leading * leading;
    auto a = values<T>(count * stride), b = values<T>(count * stride), c = values<T>(count * stride);
    T *da = on_device(a), *db = on_device(b), alpha = 2, beta = 3, zero = 0;
    std::vector<const T *> as, bs;
    for (int i = 0; i < count; i++) {
        as.push_back(da + i * stride);
        bs.push_back(db + i * stride);
    }
    for (int of_a : {NORMAL, TRANSPOSED}) {
        for (int of_b : {NORMAL, TRANSPOSED}) {
            auto expected = [&](T beta, int matrices) {
                auto all = c;
                for (int batch = 0; batch < matrices; batch++) {
                    for (int i = 0; i < m; i++) {
                        for (int j = 0; j < n; j++) {
                            T sum = 0;
                            for (int l = 0; l < k; l++) {
                                sum += element(a, of_a, leading, i, l, batch * stride) * element(b, of_b, leading, l, j, batch * stride);
                            }
                            T &value = all[batch * stride + i + j * leading];
                            value = beta == 0 ? 2 * sum : 2 * sum + beta * value;
                        }
                    }
                }
                return all;
            };
            T *dc = on_device(c);
            blas(Blas::gemm(handle, of_a, of_b, m, n, k, &alpha, da, leading, db, leading, &beta, dc, leading));
            DEMAND(from_device(dc, count * stride) == expected(beta, 1));
            dc = on_device(c);
            blas(Blas::strided(handle, of_a, of_b, m, n, k, &alpha, da, leading, stride, db, leading, stride, &beta, dc, leading,
                               stride, count));
            DEMAND(from_device(dc, count * stride) == expected(beta, count));
            std::vector<T *> cs;
            // With beta = 0, C is not read.
            auto unknown = c;
            for (int i = 0; i < m; i++) unknown[i] = NAN;
            dc = on_device(unknown);
            for (int i = 0; i < count; i++) cs.push_back(dc + i * stride);
            blas(Blas::batched(handle, of_a, of_b, m, n, k, &alpha, on_device(as), leading, on_device(bs), leading, &zero,
                               on_device(cs), leading, count));
            DEMAND(from_device(dc, count * stride) == expected(0, count));
        }
    }
}

void copies() {
    const int rows = 5, columns = 7;
    auto host = values<double>(rows * columns);
    std::vector<double> part(10 * columns, 0), back(3, 0);
    double *device = on_device(part);
    blas(cublasSetMatrix(rows, columns, sizeof(double), host.data(), rows, device, 10));
    blas(cublasGetVector(3, sizeof(double), device + 1, 10, back.data(), 1));
    for (int i = 0; i < 3; i++) DEMAND(back[i] == host[1 + i * rows]);
    blas(cublasSetVector(2, sizeof(double), back.data() + 1, 1, device, 4));
    auto now = from_device(device, 5);
    DEMAND(now[0] == back[1] && now[4] == back[2]);
}

// Calls that cuBLAS refuses, and one that only Selvedge refuses.
void refused(Handle handle) {
    float one = 1;
    DEMAND(cublasSgemm_v2(handle, NORMAL, NORMAL, 8, 8, 8, &one, &one, 7, &one, 8, &one, &one, 8) == 7);
    DEMAND(cublasSgemm_v2(nullptr, NORMAL, NORMAL, 8, 8, 8, &one, &one, 8, &one, 8, &one, &one, 8) == 1);
    DEMAND(cublasHgemm(handle) == 15);
}

int main(int count, char **) {
    Handle handle;
    blas(cublasCreate_v2(&handle));
    if (count > 1) {
        refused(handle);
        return 0;
    }
    vectors<SBlas>(handle);
    vectors<DBlas>(handle);
    matrix_and_vector<SBlas>(handle);
    matrix_and_vector<DBlas>(handle);
    matrices<SBlas>(handle);
    matrices<DBlas>(handle);
    copies();
    blas(cublasDestroy_v2(handle));
    std::printf("products agree\n");
    return 0;
}
