// The products of BenchmarkSyrk and BenchmarkGemm by OpenBLAS, in Go's benchmark
// format; see compare. Arguments: threads, and the seconds each product runs.
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

enum { n = 8192, d = 896, m = 2048 };

static void *filled(size_t count, int is_float) {
	double *x = aligned_alloc(64, count * sizeof(double));
	for (size_t i = 0; i < count; i++) {
		double v = (double)(i % 17) - 8;
		if (is_float)
			((float *)x)[i] = (float)v;
		else
			x[i] = v;
	}
	return x;
}

static void product(int gemm, int is_float, void *x, void *y, void *c) {
	if (gemm && is_float)
		cblas_sgemm(CblasRowMajor, CblasTrans, CblasTrans, n, m, d, 1, x, n, y, d, 1, c, m);
	else if (gemm)
		cblas_dgemm(CblasRowMajor, CblasTrans, CblasTrans, n, m, d, 1, x, n, y, d, 1, c, m);
	else if (is_float)
		cblas_ssyrk(CblasRowMajor, CblasUpper, CblasNoTrans, d, n, 1, x, n, 1, c, d);
	else
		cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, d, n, 1, x, n, 1, c, d);
}

int main(int argc, char **argv) {
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	double seconds = argc > 2 ? atof(argv[2]) : 1;
	openblas_set_num_threads(threads);
	fprintf(stderr, "OpenBLAS: %s\n", openblas_get_corename());
	for (int gemm = 0; gemm < 2; gemm++) {
		for (int is_float = 0; is_float < 2; is_float++) {
			void *x = filled((size_t)n * d, is_float), *y = filled((size_t)m * d, is_float);
			void *c = filled((size_t)n * m, is_float);
			product(gemm, is_float, x, y, c);
			int runs = 0;
			double start = now();
			while (now() - start < seconds) {
				product(gemm, is_float, x, y, c);
				runs++;
			}
			double took = (now() - start) / runs, ops = (double)n * d * (gemm ? 2.0 * m : d);
			printf("Benchmark%s/%s/n=%d/d=%d/", gemm ? "Gemm" : "Syrk", is_float ? "f32" : "f64", n, d);
			if (gemm)
				printf("m=%d/", m);
			printf("workers=%d-2 %d %.0f ns/op %.2f GFLOP/s\n", threads, runs, took * 1e9, ops / took / 1e9);
			free(x), free(y), free(c);
		}
	}
	return 0;
}
