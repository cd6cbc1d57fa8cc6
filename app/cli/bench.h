/* bench.h: between bench.c, bench-latency.c and bench-mr.c. */
#pragma once

#include "run/recon.h"

G_BEGIN_DECLS

typedef struct {
  int64_t size, views, iterations;
  int repeats;
  char *devices;
  gboolean cone, direct, vcd, latency;
  /* Measured. */
  double first, layout, work, nrmse, p95, difference;
  GArray *times, *iteration_times; /* of double */
  int threads, n_devices;
  char *detail;
} LamBench;

double lam_bench_median (const double *values, guint n);
/* The forward projection of @volume, all of it, as a dataset. */
LamDataset *lam_bench_dataset (const LamBench *b, const LamGeometry *g, const float *volume, GError **error);
void lam_bench_describe (LamBench *b, LamDevices *set, const LamGeometry *g);
/* 100 answers of a live slice at random offsets, and a check of the last against FBP. */
gboolean lam_bench_latency (LamBench *b, GError **error);

/* Tasks of sequences: @size NULL is the task's own; @rank is of `match' (0: all contrasts). Prints the line. */
gboolean lam_bench_is_mr (const char *task);
gboolean lam_bench_mr (const char *task, const char *size, const char *devices, int repeats, int rank, GError **error);

G_END_DECLS
