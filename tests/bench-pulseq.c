/* bench-pulseq.c: how long a big sequence takes to open, time, draw and write: bench-pulseq [BLOCKS [FOLDER]]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/memory.h"
#include "core/threadpool.h"
#include "io/pulseq-read.h"
#include "io/pulseq-write.h"
#include "mr/bloch.h"
#include "mr/pulseq-timing.h"
#include "pulseq-util.h"

static int64_t from;

static void
lap (const char *what)
{
  int64_t now = lam_clock_ns ();
  printf ("%-28s %9.3f ms   held %6.1f MB, peak %6.1f MB\n", what, (double) (now - from) * 1e-6,
          (double) lam_memory_bytes () * 1e-6, (double) lam_memory_peak () * 1e-6);
  from = lam_clock_ns ();
}

int
main (int argc, char **argv)
{
  int64_t blocks = argc > 1 ? g_ascii_strtoll (argv[1], NULL, 10) : 1000000;
  const char *folder = argc > 2 ? argv[2] : g_get_tmp_dir ();
  g_autofree char *path = g_build_filename (folder, "lamina-bench.seq", NULL);
  g_autoptr (GError) error = NULL;
  gsize size;
  g_autofree char *text = pulseq_gre (blocks, &size);
  g_file_set_contents (path, text, size, NULL);
  g_clear_pointer (&text, g_free);
  printf ("%" G_GINT64_FORMAT " blocks, %.1f MB of text\n", blocks, (double) size * 1e-6);
  from = lam_clock_ns ();
  g_autoptr (LamPulseq) seq = lam_pulseq_open (path, NULL, &error);
  g_assert_no_error (error);
  lap ("open");
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (seq, &error);
  g_assert_no_error (error);
  lap ("times, k-space, tree");
  const int n = 2000;
  LamPulseqTrace trace = {.adc = g_malloc (n)};
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
    trace.low[i] = g_new (float, n);
    trace.high[i] = g_new (float, n);
  }
  int64_t all = lam_pulseq_timing_duration (t);
  for (int zoom = 0; zoom < 7; zoom++) {
    char what[64];
    int64_t width = all;
    for (int i = 0; i < zoom; i++)
      width /= 10;
    g_snprintf (what, sizeof what, "trace of 1/10^%d, %d buckets", zoom, n);
    lam_pulseq_trace (t, (all - width) / 2, (all - width) / 2 + width, n, &trace, &error);
    lap (what);
  }
  double *k = g_new (double, 3 * 1000000);
  lam_pulseq_kspace (t, t->samples / 2, LAM_MIN (1000000, t->samples / 2), k, NULL, &error);
  lap ("k-space of 10^6 samples");
  g_free (k);
  double x[32];
  LamBlochParams p;
  lam_bloch_params_init (&p);
  for (int i = 0; i < 32; i++)
    x[i] = 0.001 * i;
  p.voxels = 32;
  p.x = p.z = x;
  p.count = LAM_MIN (1000000, t->samples);
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", &error);
  g_autoptr (LamBloch) bloch = lam_bloch_new (t, &p, set, &error);
  g_assert_no_error (error);
  lap ("Bloch: program");
  float *re = lam_alloc_n (32 * p.count, sizeof *re, "signal", NULL),
        *im = lam_alloc_n (32 * p.count, sizeof *im, "signal", NULL);
  lam_bloch_run (bloch, re, im, NULL, &error);
  g_assert_no_error (error);
  lap ("Bloch: 32 x 10^6 samples");
  lam_free (re);
  lam_free (im);
  p.first = LAM_MAX (t->samples - 1000, 0);
  p.count = LAM_MIN (1000, t->samples);
  g_autoptr (LamBloch) end = lam_bloch_new (t, &p, set, &error);
  lap ("Bloch: program to the end");
  re = lam_alloc_n (32 * 1000, sizeof *re, "signal", NULL);
  im = lam_alloc_n (32 * 1000, sizeof *im, "signal", NULL);
  lam_bloch_run (end, re, im, NULL, &error);
  lap ("Bloch: 32 x all pulses");
  lam_free (re);
  lam_free (im);
  lam_pulseq_write (seq, path, 5, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  lap ("write");
  struct rusage use;
  getrusage (RUSAGE_SELF, &use);
  printf ("resident at most %.1f MB\n", (double) use.ru_maxrss / 1024);
  remove (path);
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
    g_free (trace.low[i]);
    g_free (trace.high[i]);
  }
  g_free (trace.adc);
  return 0;
}
