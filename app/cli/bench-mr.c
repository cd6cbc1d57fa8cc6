/* bench-mr.c: timed MR tasks, with the trains, tissues and keys of the other programs' benchmark. */
#include "config.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/bench.h"
#include "cli/common.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "io/pulseq-read.h"
#include "mr/match.h"
#include "mr/model.h"
#include "mr/pulseq-timing.h"

typedef struct {
  const char *task, *size_text;
  int64_t size, atoms;
  LamDevices *set;
  LamModel *model;
  LamTissues *tissues;
  LamSignal signal;
  LamJacobian jacobian;
  float *cot_re, *cot_im;
  double *gradient;
  double flip[1024];
  int flips, call;
  const char *moved; /* what a call of one voxel changes */
  LamDictionary *dictionary;
  float *re, *im; /* the series to match, of atoms @pick */
  int32_t *pick;
  LamMatch match;
  LamMatchOptions match_options;
} Bench;

typedef gboolean (*Call) (Bench *b, GError **error);

/* ---- set-up ---- */

static int
fingerprint (double *flip, int n)
{
  int k = (int) rint (0.375 * n);
  for (int i = 0; i < k; i++) {
    flip[i] = 5 + 55.0 * i / (k - 1);
    flip[k + i] = 60 - 58.0 * i / (k - 1);
  }
  for (int i = 2 * k; i < n; i++)
    flip[i] = 2;
  return n;
}

static gboolean
set_value (Bench *b, const char *name, double value, GError **error)
{
  return lam_model_set (b->model, name, &value, 1, error);
}

/* T1 and T2 spread geometrically, paired. */
static gboolean
make_atoms (Bench *b, int64_t n, GError **error)
{
  g_autofree double *t1 = g_new (double, n), *t2 = g_new (double, n);
  for (int64_t i = 0; i < n; i++) {
    double u = n > 1 ? (double) i / (double) (n - 1) : 0;
    t1[i] = n > 1 ? 200 * pow (15, u) : 1000;
    t2[i] = n > 1 ? 10 * pow (30, u) : 80;
  }
  b->atoms = n;
  b->tissues = lam_tissues_new (n);
  return lam_tissues_set (b->tissues, "T1", t1, n, error) && lam_tissues_set (b->tissues, "T2", t2, n, error);
}

static gboolean
add_physics (Bench *b, GError **error)
{
  static const struct {
    const char *task, *names[11];
    double values[11];
  } kinds[] = {
      {"pools-forward", {"bound_fraction", "bound_exchange", "bound_T1"}, {.12, 30, 1000}},
      {"bm-forward",
       {"poolB_fraction", "poolB_exchange", "poolB_T1", "poolB_T2", "poolB_shift"},
       {.15, 8, 500, 20, 20}},
      {"bm2-forward",
       {"poolB_fraction", "poolB_exchange", "poolB_T1", "poolB_T2", "poolB_shift", "poolC_fraction", "poolC_exchange",
        "poolC_T1", "poolC_T2", "poolC_shift"},
       {.15, 8, 500, 20, 20, .1, 6, 600, 30, -20}},
      {"complex-forward", {"B1phase"}, {0.1}},
  };
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (int i = 0; g_str_equal (kinds[k].task, b->task) && kinds[k].names[i]; i++)
      if (!lam_tissues_set_value (b->tissues, kinds[k].names[i], kinds[k].values[i], error))
        return FALSE;
  return TRUE;
}

static gboolean
set_up_mrf (Bench *b, int64_t n, int pulses, GError **error)
{
  b->model = lam_model_new (lam_template_find ("MRF"));
  b->flips = fingerprint (b->flip, pulses);
  lam_model_set_orders (b->model, 32);
  return lam_model_set (b->model, "flip", b->flip, b->flips, error) && set_value (b, "TR", 10, error)
         && make_atoms (b, n, error) && add_physics (b, error);
}

#define DICTIONARY 10000

/* Atoms at random with a phase and noise, as the other program's task has them. */
static gboolean
make_series (Bench *b, GError **error)
{
  const LamDictionary *d = b->dictionary;
  int64_t n = lam_mul_size (b->size, d->samples);
  b->re = lam_alloc_n (n, 4, "series", error);
  b->im = b->re ? lam_alloc_n (n, 4, "series", error) : NULL;
  if (!b->im)
    return FALSE;
  b->pick = g_new (int32_t, b->size);
  for (int64_t v = 0; v < b->size; v++) {
    LamRandom random;
    lam_random_init (&random, 0, (uint64_t) v);
    b->pick[v] = (int32_t) lam_random_below (&random, (uint64_t) d->atoms->n);
    double phase = 2 * G_PI * lam_random_double (&random);
    for (int64_t k = 0; k < d->samples; k++) {
      int64_t at = b->pick[v] * d->samples + k;
      double x = d->re ? d->re[at] : 0, y = d->im ? d->im[at] : 0;
      b->re[v * d->samples + k] = (float) (x * cos (phase) - y * sin (phase) + .002 * lam_random_normal (&random));
      b->im[v * d->samples + k] = (float) (x * sin (phase) + y * cos (phase) + .002 * lam_random_normal (&random));
    }
  }
  return TRUE;
}

static gboolean
set_up_match (Bench *b, GError **error)
{
  int64_t n;
  if (!set_up_mrf (b, DICTIONARY, 500, error))
    return FALSE;
  LamAtomAxis axes[2] = {{"T1", lam_tissues_get (b->tissues, "T1", &n), DICTIONARY},
                         {"T2", lam_tissues_get (b->tissues, "T2", &n), DICTIONARY}};
  g_autoptr (LamAtoms) atoms = lam_atoms_new (LAM_ATOMS_LIST, axes, 2, TRUE, error);
  b->dictionary = atoms ? lam_dictionary_new (b->model, atoms, NULL, b->set, lam_cli_control (), error) : NULL;
  return b->dictionary
         && (b->match_options.rank == 0
             || lam_dictionary_compress (b->dictionary, b->match_options.rank, 0, b->set, lam_cli_control (), error))
         && make_series (b, error);
}

/* ---- calls ---- */

static gboolean
forward (Bench *b, GError **error)
{
  return lam_model_simulate (b->model, b->tissues, NULL, b->set, lam_cli_control (), &b->signal, error);
}

/* Another flip, TR or TE each time: the numbers are followed. */
static gboolean
one (Bench *b, GError **error)
{
  b->call++;
  if (g_str_equal (b->moved, "flip")) {
    for (int i = 0; i < b->flips; i++)
      b->flip[i] *= 1 + 1e-4;
    if (!lam_model_set (b->model, "flip", b->flip, b->flips, error))
      return FALSE;
  } else if (!set_value (b, b->moved, (g_str_equal (b->moved, "TE") ? 1 : 10) + 1e-3 * b->call, error))
    return FALSE;
  return forward (b, error);
}

static gboolean
jacobian (Bench *b, GError **error)
{
  static const char *const by[] = {"T1", "T2", NULL}, *const drag[] = {"T1", "T2", "B1", NULL};
  if (g_str_equal (b->task, "drag")) {
    b->call++;
    b->flip[200] = 20 + 1e-2 * b->call;
    if (!lam_model_set (b->model, "flip", b->flip, b->flips, error))
      return FALSE;
    return lam_model_jacobian (b->model, b->tissues, NULL, drag, b->set, lam_cli_control (), &b->jacobian, NULL, error);
  }
  return lam_model_jacobian (b->model, b->tissues, NULL, by, b->set, lam_cli_control (), &b->jacobian, NULL, error);
}

/* Of the sum of |signal|^2 by every flip: forward, then back. */
static gboolean
gradient (Bench *b, GError **error)
{
  int n, values;
  if (!forward (b, error))
    return FALSE;
  int64_t count = b->signal.voxels * b->signal.samples;
  if (!b->cot_re) {
    b->cot_re = lam_alloc_n (count, 4, "cotangents", error);
    b->cot_im = b->cot_re ? lam_alloc_n (count, 4, "cotangents", error) : NULL;
    if (!b->cot_im)
      return FALSE;
  }
  for (int64_t i = 0; i < count; i++) {
    b->cot_re[i] = b->signal.re ? 2 * b->signal.re[i] : 0;
    b->cot_im[i] = b->signal.im ? 2 * b->signal.im[i] : 0;
  }
  LamProgram *const *p = lam_model_programs (b->model, &n, error);
  lam_program_values (p[0], &values);
  g_free (b->gradient);
  b->gradient = g_new (double, values);
  return lam_gradient (p[0], b->tissues, NULL, NULL, 0, b->cot_re, b->cot_im, b->set, lam_cli_control (), NULL,
                       b->gradient, error);
}

static gboolean
match_series (Bench *b, GError **error)
{
  return lam_match (b->dictionary, b->re, b->im, b->size, b->dictionary->samples, &b->match_options, b->set,
                    lam_cli_control (), &b->match, error);
}

/* The library's own product of the same sizes, over the same threads: what matching is measured by. OPENBLAS_CORETYPE says
 * which kernels it takes, where it does not know the processor. */
#define GEMM_ROWS 512

static void
multiply (int64_t index, int worker, void *data)
{
  Bench *b = data;
  const LamDictionary *d = b->dictionary;
  int n = (int) d->samples, rows = (int) MIN (GEMM_ROWS, b->size - index / 2 * GEMM_ROWS), atoms = (int) d->atoms->n;
  const float *data_rows = (index % 2 ? b->im : b->re) + index / 2 * GEMM_ROWS * n;
  cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasTrans, rows, atoms, n, 1, data_rows, n, d->re ? d->re : d->im, n, 0,
               b->cot_re + worker * (int64_t) GEMM_ROWS * atoms, atoms);
}

static gboolean
gemm (Bench *b, GError **error)
{
  LamPool *pool = lam_devices_pool (b->set);
  if (!b->cot_re
      && !(b->cot_re = lam_alloc_n (lam_pool_threads (pool) * (int64_t) GEMM_ROWS * b->dictionary->atoms->n, 4,
                                    "scores", error)))
    return FALSE;
  lam_pool_for (pool, (b->size + GEMM_ROWS - 1) / GEMM_ROWS * 2, multiply, b, NULL);
  return TRUE;
}

static void
json_match (const Bench *b, JsonBuilder *j, double median)
{
  const LamDictionary *d = b->dictionary;
  double exact = 0, products = 4.0 * (double) b->size * (double) d->atoms->n;
  for (int64_t v = 0; b->match.atom && v < b->size; v++)
    exact += b->match.atom[v] == b->pick[v];
  lam_json_int (j, "atoms", d->atoms->n);
  if (b->match_options.rank)
    lam_json_int (j, "rank", b->match_options.rank);
  if (b->match.atom)
    lam_json_number (j, "exact", exact / (double) b->size);
  lam_json_number (j, "gflops",
                   products * (double) (b->match_options.rank ? b->match_options.rank : d->samples) / median / 1e9);
  g_autoptr (LamPlan) plan = lam_match_plan (d, TRUE, b->size, &b->match_options, b->set, NULL);
  if (b->match.atom && plan)
    lam_json_bytes (j, "forecast_bytes", lam_plan_total (plan));
}

static gboolean
read_sequence (Bench *b, GError **error)
{
  g_autoptr (LamPulseq) seq = lam_pulseq_open (b->size_text, lam_cli_io (), error);
  if (seq && g_str_equal (b->task, "seq-kspace")) {
    g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (seq, error);
    if (!t)
      return FALSE;
    int64_t n = t->samples;
    g_autofree double *k = g_try_new (double, 3 * MAX (n, 1));
    if (!k) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "k-space of %" G_GINT64_FORMAT " samples: no memory", n);
      return FALSE;
    }
    return lam_pulseq_kspace (t, 0, n, k, NULL, error);
  }
  return seq != NULL;
}

/* ---- the line ---- */

static double
cpu_s (void)
{
  struct timespec t;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void
print_line (const Bench *b, const GArray *times, double first, double cpu, double base_rss)
{
  struct rusage usage;
  double least = INFINITY, median = lam_bench_median ((const double *) (void *) times->data, times->len), load = 0;
  JsonBuilder *j = lam_json_begin ();
  getrusage (RUSAGE_SELF, &usage);
  if (getloadavg (&load, 1) != 1)
    load = NAN;
  for (guint i = 0; i < times->len; i++)
    least = fmin (least, g_array_index (times, double, i));
  lam_json_text (j, "task", b->task);
  if (b->size_text && g_str_has_prefix (b->task, "seq"))
    lam_json_text (j, "size", b->size_text);
  else
    lam_json_int (j, "size", b->size);
  lam_json_text (j, "program", "lamina");
  lam_json_text (j, "version", LAMINA_VERSION);
  lam_json_int (j, "threads", lam_pool_threads (lam_devices_pool (b->set)));
  lam_json_number (j, "median_s", median);
  lam_json_number (j, "min_s", least);
  lam_json_number (j, "first_s", first);
  lam_json_number (j, "cpu_s", cpu);
  lam_json_int (j, "runs", times->len);
  lam_json_number (j, "atoms_per_s", b->atoms ? (double) b->atoms / median : NAN);
  if (b->moved)
    lam_json_text (j, "moved", b->moved);
  if (b->dictionary)
    json_match (b, j, median);
  if (b->model) {
    int64_t packed, bound;
    lam_model_counts (b->model, &packed, &bound);
    lam_json_int (j, "packed", packed);
    lam_json_int (j, "bound", bound);
  }
  g_autofree char *detail = g_strdup_printf ("%s; %s", lam_isa_name (lam_isa ()), lam_devices_spec (b->set));
  lam_json_text (j, "detail", detail);
  lam_json_number (j, "peak_rss_mb", (double) usage.ru_maxrss / 1024);
  lam_json_number (j, "base_rss_mb", base_rss);
  lam_json_number (j, "load_average", load);
  lam_json_print (j);
}

static gboolean
timed (Bench *b, Call call, int repeats, GError **error)
{
  struct rusage usage;
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  getrusage (RUSAGE_SELF, &usage);
  double base = (double) usage.ru_maxrss / 1024, first = 0, cpu = 0;
  for (int i = 0; i <= repeats; i++) {
    int64_t start = lam_clock_ns ();
    if (i == 1)
      cpu = cpu_s ();
    if (!call (b, error))
      return FALSE;
    double s = (double) (lam_clock_ns () - start) / 1e9;
    if (i == 0)
      first = s;
    else
      g_array_append_val (times, s);
    if (!lam_cli_go_on (error))
      return FALSE;
  }
  print_line (b, times, first, (cpu_s () - cpu) / repeats, base);
  return TRUE;
}

static const struct {
  const char *task;
  int64_t size; /* default; 0: needed */
  int repeats;
  Call call;
} tasks[] = {
    {"mrf-forward", 10000, 7, forward}, {"mrf-jacobian", 1000, 7, jacobian},   {"mrf-gradient", 1000, 7, gradient},
    {"mrf-one", 500, 200, one},         {"mrf-one-tr", 500, 200, one},         {"mrf-one-te", 500, 200, one},
    {"fse-one", 512, 200, one},         {"pools-forward", 1000, 7, forward},   {"bm-forward", 1000, 7, forward},
    {"bm2-forward", 1000, 7, forward},  {"complex-forward", 1000, 7, forward}, {"drag", 512, 200, jacobian},
    {"seq-read", 0, 5, read_sequence},  {"seq-kspace", 0, 5, read_sequence},   {"match", 10000, 5, match_series},
    {"match-gemm", 10000, 5, gemm},
};

gboolean
lam_bench_is_mr (const char *task)
{
  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    if (g_str_equal (tasks[i].task, task))
      return TRUE;
  return FALSE;
}

static gboolean
set_up (Bench *b, GError **error)
{
  if (g_str_has_prefix (b->task, "seq"))
    return TRUE;
  if (g_str_equal (b->task, "fse-one")) {
    b->model = lam_model_new (lam_template_find ("FSE"));
    b->moved = "flip";
    b->flips = (int) b->size;
    for (int i = 0; i < b->flips; i++)
      b->flip[i] = 120;
    return lam_model_set (b->model, "flip", b->flip, b->flips, error) && set_value (b, "playings", 1, error)
           && make_atoms (b, 1, error);
  }
  if (g_str_has_prefix (b->task, "match"))
    return set_up_match (b, error);
  if (g_str_equal (b->task, "drag"))
    return set_up_mrf (b, 8, (int) b->size, error);
  if (!g_str_has_prefix (b->task, "mrf-one"))
    return set_up_mrf (b, b->size, 500, error);
  b->moved = g_str_has_suffix (b->task, "tr") ? "TR" : g_str_has_suffix (b->task, "te") ? "TE" : "flip";
  return set_up_mrf (b, 1, (int) b->size, error);
}

gboolean
lam_bench_mr (const char *task, const char *size, const char *devices, int repeats, int rank, GError **error)
{
  Bench b = {.task = task, .size_text = size, .match_options = {.rank = rank}};
  gboolean ok = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++) {
    if (!g_str_equal (tasks[i].task, task))
      continue;
    b.size = tasks[i].size;
    if (!size && b.size == 0) {
      lam_cli_usage_error (error, "%s needs the name of a .seq file", task);
      break;
    }
    gboolean pulses = g_str_has_prefix (task, "mrf-one") || g_str_equal (task, "fse-one") || g_str_equal (task, "drag");
    if (tasks[i].size && !lam_cli_int ("SIZE", size, pulses ? 201 : 1, pulses ? 1024 : 100000000, &b.size, error))
      break;
    b.set = lam_devices_new (devices, error);
    ok = b.set && set_up (&b, error) && timed (&b, tasks[i].call, repeats > 0 ? repeats : tasks[i].repeats, error);
  }
  lam_signal_clear (&b.signal);
  lam_jacobian_clear (&b.jacobian);
  lam_free (b.cot_re);
  lam_free (b.cot_im);
  lam_free (b.re);
  lam_free (b.im);
  g_free (b.pick);
  lam_match_clear (&b.match);
  g_clear_pointer (&b.dictionary, lam_dictionary_free);
  g_free (b.gradient);
  g_clear_pointer (&b.model, lam_model_free);
  g_clear_pointer (&b.tissues, lam_tissues_unref);
  g_clear_pointer (&b.set, lam_devices_unref);
  return ok;
}
