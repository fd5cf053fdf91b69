// The products of BenchmarkSyrk and BenchmarkGemm by OpenBLAS, and the search of
// BenchmarkNearest by sgemm and a selection pass over the n×m result, in Go's benchmark
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

enum { n = 8192, d = 896, m = 2048, k = 6 };

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

// select_nearest keeps the k smallest half[j] - c[i][j] of every row, in order.
static void select_nearest(int threads, const float *half, const float *c, int *index, float *best) {
#pragma omp parallel for num_threads(threads)
	for (int i = 0; i < n; i++) {
		const float *row = c + (size_t)i * m;
		float *b = best + (size_t)i * k;
		int *at = index + (size_t)i * k;
		for (int e = 0; e < k; e++)
			b[e] = 1e30f;
		for (int j = 0; j < m; j++) {
			float v = half[j] - row[j];
			if (v >= b[k - 1])
				continue;
			int e = k - 1;
			for (; e > 0 && b[e - 1] > v; e--)
				b[e] = b[e - 1], at[e] = at[e - 1];
			b[e] = v, at[e] = j;
		}
	}
}

static void nearest(int threads, double seconds) {
	float *x = malloc(sizeof(float) * n * d), *y = malloc(sizeof(float) * m * d);
	float *c = malloc(sizeof(float) * n * m), *half = calloc(m, sizeof(float)), *best = malloc(sizeof(float) * n * k);
	int *index = malloc(sizeof(int) * n * k), runs = -1;
	for (size_t i = 0; i < (size_t)n * d; i++)
		x[i] = (float)rand() / RAND_MAX - 0.5f;
	for (size_t i = 0; i < (size_t)m * d; i++) {
		y[i] = (float)rand() / RAND_MAX - 0.5f;
		half[i / d] += y[i] * y[i] / 2;
	}
	double start = now();
	while (runs < 0 || now() - start < seconds) {
		cblas_sgemm(CblasRowMajor, CblasTrans, CblasTrans, n, m, d, 1, x, n, y, d, 0, c, m);
		select_nearest(threads, half, c, index, best);
		if (++runs == 0) // the first warmed up
			start = now();
	}
	double took = (now() - start) / runs, ops = 2.0 * n * d * m;
	printf("BenchmarkNearest/n=%d/d=%d/m=%d/k=%d/workers=%d-2 %d %.0f ns/op %.2f GFLOP/s\n", n, d, m, k, threads, runs, took * 1e9, ops / took / 1e9);
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
	nearest(threads, seconds);
	return 0;
}
