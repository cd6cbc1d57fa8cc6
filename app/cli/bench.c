/* bench.c: one timed task, one JSON line, with the geometry, the phantom and the keys of the other programs' benchmark, so
 * that lines of several programs can be compared. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/bench.h"
#include "cli/common.h"
#include "cli/json.h"
#include "cli/phantom-volume.h"
#include "cli/progress.h"
#include "cli/recon-options.h"
#include "cli/resident.h"
#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"

static char *devices, *views_text, *repeats_text, *rank_text, *iterations_text;

static const GOptionEntry entries[] = {
    {"devices", 0, 0, G_OPTION_ARG_STRING, &devices, N_ ("auto, cpu, 4xcpu, or a plain count of CPU devices"), "SPEC"},
    {"views", 0, 0, G_OPTION_ARG_STRING, &views_text, N_ ("Views (default: SIZE; slice-latency: 180)"), "N"},
    {"repeats", 0, 0, G_OPTION_ARG_STRING, &repeats_text, N_ ("Timed calls after the first (3)"), "N"},
    {"iterations", 0, 0, G_OPTION_ARG_STRING, &iterations_text, N_ ("Of the vcd tasks (15)"), "N"},
    {"rank", 0, 0, G_OPTION_ARG_STRING, &rank_text, N_ ("Of match: modes that it projects on first (none)"), "R"},
    {NULL},
};

static const LamCliHelp help = {
    "TASK [SIZE]",
    N_ ("Times one task and prints one JSON line. On a volume of SIZE^3: parallel-forward, parallel-back, "
        "parallel-fbp, parallel-vcd, cone-forward, cone-back, cone-fdk, cone-vcd, slice-latency, "
        "cone-slice-latency. On SIZE tissues: mrf-forward, mrf-jacobian, mrf-gradient, complex-forward, pools-forward, "
        "bm-forward, "
        "bm2-forward. On SIZE pulses: mrf-one, mrf-one-tr, mrf-one-te, fse-one, drag. On the file SIZE: seq-read, "
        "seq-kspace. On SIZE voxels: match, match-gemm."),
    "  lamina bench parallel-vcd 128 --views 128 --iterations 15 --devices 2xcpu",
};

static const char *const tasks[] = {"parallel-forward",
                                    "parallel-back",
                                    "parallel-fbp",
                                    "parallel-vcd",
                                    "cone-forward",
                                    "cone-back",
                                    "cone-fdk",
                                    "cone-vcd",
                                    "slice-latency",
                                    "cone-slice-latency",
                                    NULL};

double
lam_bench_median (const double *values, guint n)
{
  if (n == 0)
    return NAN;
  g_autofree double *sorted = g_memdup2 (values, n * sizeof *values);
  for (guint i = 1; i < n; i++) /* few values */
    for (guint j = i; j > 0 && sorted[j - 1] > sorted[j]; j--) {
      double t = sorted[j];
      sorted[j] = sorted[j - 1];
      sorted[j - 1] = t;
    }
  return n & 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

static double
now_s (void)
{
  return (double) lam_clock_ns () / 1e9;
}

static LamGeometry *
geometry (const LamBench *b, GError **error)
{
  g_autoptr (LamGeometry) g =
      lam_geometry_new (b->cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, b->views, b->size, b->size);
  for (int64_t v = 0; v < b->views; v++)
    g->angles[v] = (b->cone ? 2 : 1) * G_PI * (double) v / (double) b->views + 1e-3;
  if (b->cone) {
    g->source_detector = 4.0 * (double) b->size;
    g->source_axis = 2.0 * (double) b->size;
  }
  return lam_geometry_auto_volume (g, error) ? g_steal_pointer (&g) : NULL;
}

static float *
phantom (const LamGeometry *g, GError **error)
{
  const int64_t shape[3] = {g->recon_rows, g->recon_columns, g->recon_slices};
  return lam_cli_phantom_volume (LAM_PHANTOM_SHEPP_LOGAN, shape, 0, 1, error);
}

static float *
random_sinogram (const LamGeometry *g, GError **error)
{
  int64_t n = g->views * g->rows * g->channels;
  float *sinogram = lam_alloc_n (n, sizeof *sinogram, "sinogram", error);
  LamRandom random;
  lam_random_init (&random, 0, 0);
  for (int64_t i = 0; sinogram && i < n; i++)
    sinogram[i] = (float) lam_random_double (&random);
  return sinogram;
}

static void
note_time (LamBench *b, int call, double seconds)
{
  if (call == 0)
    b->first = seconds;
  else
    g_array_append_val (b->times, seconds);
}

/* ---- projectors and direct methods: the arrays stay on the devices ---- */

static gboolean
once (const LamBench *b, LamResident *r, gboolean forward, GError **error)
{
  LamProjector *p = r->projector;
  if (forward)
    return lam_projector_forward (p, &r->volume, &r->sino, error);
  if (!b->direct)
    return lam_projector_back (p, &r->sino, &r->volume, FALSE, FALSE, error);
  return lam_direct_filter (p, &r->sino, &r->sino, error) && lam_direct_back (p, &r->sino, &r->volume, error);
}

static gboolean
run_resident (LamBench *b, gboolean forward, GError **error)
{
  g_autoptr (LamGeometry) g = geometry (b, error);
  if (!g)
    return FALSE;
  g->mask = b->direct ? LAM_MASK_ELLIPSE : LAM_MASK_NONE;
  float *input = forward ? phantom (g, error) : random_sinogram (g, error);
  int64_t voxels = g->recon_rows * g->recon_columns * g->recon_slices;
  int64_t samples = forward ? g->views * g->rows * g->channels : voxels;
  float *result = input ? lam_alloc_n (samples, sizeof *result, "result", error) : NULL;
  g_autoptr (LamResident) r = result ? lam_resident_new (g, b->devices, b->direct, error) : NULL;
  gboolean ok = r != NULL;
  for (int call = 0; ok && call <= b->repeats; call++) {
    /* Filtering works in place, so the data are put anew each time: a layout change, timed apart. */
    double start = now_s ();
    if (call == 0 || b->direct)
      ok = forward ? lam_projector_put_volume (r->projector, input, &r->volume, error)
                   : lam_projector_put_sino (r->projector, input, &r->sino, error);
    double middle = now_s ();
    ok = ok && once (b, r, forward, error);
    double end = now_s ();
    note_time (b, call, end - middle);
    if (call == 0)
      b->layout = middle - start;
    ok = ok && lam_cli_go_on (error);
  }
  if (ok) {
    double start = now_s ();
    ok = forward ? lam_projector_get_sino (r->projector, &r->sino, result, error)
                 : lam_projector_get_volume (r->projector, &r->volume, result, error);
    b->layout += now_s () - start;
    b->work = (double) voxels * (double) b->views;
    lam_bench_describe (b, r->set, g);
  }
  lam_free (input);
  lam_free (result);
  return ok;
}

/* ---- the iterative method: the recipe as `reconstruct` runs it ---- */

static void
on_iteration (const LamReconIteration *it, void *data)
{
  g_array_append_val ((GArray *) data, it->seconds);
}

static double
nrmse (const float *x, const float *truth, int64_t n)
{
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    double d = (double) x[i] - (double) truth[i];
    difference += d * d;
    norm += (double) truth[i] * (double) truth[i];
  }
  return sqrt (difference / norm);
}

LamDataset *
lam_bench_dataset (const LamBench *b, const LamGeometry *g, const float *volume, GError **error)
{
  g_autoptr (LamGeometry) all = lam_geometry_copy (g);
  all->mask = LAM_MASK_NONE;
  g_autoptr (LamResident) r = lam_resident_new (all, b->devices, FALSE, error);
  float *sinogram = r ? lam_resident_project (r, volume, error) : NULL;
  return sinogram ? lam_dataset_new_take ("bench", lam_geometry_copy (g), sinogram, NULL) : NULL;
}

static gboolean
run_vcd (LamBench *b, GError **error)
{
  g_autoptr (LamGeometry) g = geometry (b, error);
  float *truth = g ? phantom (g, error) : NULL;
  g_autoptr (LamDataset) d = truth ? lam_bench_dataset (b, g, truth, error) : NULL;
  int64_t voxels = g ? g->recon_rows * g->recon_columns * g->recon_slices : 0;
  LamReconParams params;
  lam_recon_params_init (&params);
  params.iterations = b->iterations;
  params.stop_percent = 0;
  params.devices = g_strdup (b->devices);
  gboolean ok = d != NULL;
  for (int call = 0; ok && call <= b->repeats; call++) {
    LamReconHooks hooks = {.iteration = on_iteration, .data = b->iteration_times};
    g_array_set_size (b->iteration_times, 0);
    double start = now_s ();
    g_autoptr (LamReconResult) result = lam_reconstruct (d, &params, lam_cli_control (), &hooks, error);
    note_time (b, call, now_s () - start);
    ok = result != NULL;
    if (ok)
      b->nrmse = nrmse (result->volume, truth, voxels);
  }
  if (ok) {
    g_autoptr (LamDevices) set = lam_devices_new (b->devices, NULL);
    b->work = (double) voxels * (double) b->views * 2 * (double) b->iterations;
    lam_bench_describe (b, set, g);
  }
  lam_recon_params_clear (&params);
  lam_free (truth);
  return ok;
}

/* ---- the line ---- */

void
lam_bench_describe (LamBench *b, LamDevices *set, const LamGeometry *g)
{
  b->threads = lam_pool_threads (lam_devices_pool (set));
  b->n_devices = lam_devices_count (set);
  g_free (b->detail);
  b->detail = g_strdup_printf ("%s; %s; recon %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "; mask %s",
                               lam_isa_name (lam_isa ()), lam_devices_spec (set), g->recon_rows, g->recon_columns,
                               g->recon_slices, b->direct || b->vcd ? "ellipse" : "off");
}

static double
smallest (const GArray *times)
{
  double least = INFINITY;
  for (guint i = 0; i < times->len; i++)
    least = fmin (least, g_array_index (times, double, i));
  return least;
}

static void
print_line (const LamBench *b, const char *task)
{
  const double *times = (const double *) b->times->data;
  const double *each = (const double *) b->iteration_times->data;
  double median = lam_bench_median (times, b->times->len), load = NAN;
  struct rusage usage = {0};
  getrusage (RUSAGE_SELF, &usage);
  if (getloadavg (&load, 1) != 1)
    load = NAN;
  JsonBuilder *j = lam_json_begin ();
  lam_json_text (j, "task", task);
  lam_json_int (j, "size", b->size);
  lam_json_text (j, "peer", "lamina");
  lam_json_text (j, "version", LAMINA_VERSION);
  lam_json_int (j, "threads", b->threads);
  lam_json_int (j, "views", b->views);
  lam_json_text (j, "detail", b->detail);
  lam_json_number (j, "first_call_s", b->first);
  lam_json_numbers (j, "times_s", times, (int) b->times->len);
  lam_json_int (j, "devices", b->n_devices);
  if (b->vcd) {
    lam_json_int (j, "iterations", b->iterations);
    lam_json_number (j, "per_iteration_s", lam_bench_median (each, b->iteration_times->len));
    lam_json_numbers (j, "iteration_times_s", each, (int) b->iteration_times->len);
    lam_json_number (j, "nrmse_to_phantom", b->nrmse);
  } else if (!b->latency)
    lam_json_number (j, "layout_s", b->layout);
  lam_json_number (j, "median_s", median);
  lam_json_number (j, "min_s", smallest (b->times));
  if (b->latency) {
    lam_json_number (j, "p95_s", b->p95);
    lam_json_number (j, "largest_difference", b->difference);
    lam_json_bool (j, "equals_fbp", b->difference <= 1e-5);
  }
  lam_json_number (j, "voxel_views_per_s", b->work / median);
  lam_json_number (j, "peak_rss_mb", (double) usage.ru_maxrss / 1024);
  lam_json_number (j, "load_average", load);
  lam_json_print (j);
}

static gboolean
read_options (LamBench *b, char **argv, int *task, GError **error)
{
  int64_t repeats = 3;
  if (!argv[2]) {
    lam_cli_usage_error (error, _ ("%s needs a SIZE"), argv[1]);
    return FALSE;
  }
  if (!lam_cli_choice ("TASK", argv[1], tasks, task, error)
      || !lam_cli_int ("SIZE", argv[2], 2, 16384, &b->size, error))
    return FALSE;
  b->cone = g_str_has_prefix (argv[1], "cone");
  b->vcd = g_str_has_suffix (argv[1], "vcd");
  b->direct = g_str_has_suffix (argv[1], "fbp") || g_str_has_suffix (argv[1], "fdk");
  b->latency = g_str_has_suffix (argv[1], "slice-latency");
  b->views = b->latency ? 180 : b->size;
  b->iterations = 15;
  b->devices = devices && *devices && strspn (devices, "0123456789") == strlen (devices)
                   ? g_strconcat (devices, "xcpu", NULL)
                   : g_strdup (devices);
  if (!lam_cli_int ("--views", views_text, 1, 1 << 20, &b->views, error)
      || !lam_cli_int ("--repeats", repeats_text, 1, 1000, &repeats, error)
      || !lam_cli_int ("--iterations", iterations_text, 1, 100000, &b->iterations, error)
      || !lam_cli_check_devices (b->devices, error))
    return FALSE;
  b->repeats = (int) repeats;
  return TRUE;
}

int
lam_cli_bench (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries, NULL};
  g_autoptr (GError) error = NULL;
  LamBench b = {.times = g_array_new (FALSE, FALSE, sizeof (double)),
                .iteration_times = g_array_new (FALSE, FALSE, sizeof (double))};
  int task = 0, status = LAM_EXIT_FAILED;
  lam_cli_control ();
  if (lam_cli_parse (&help, groups, 1, 2, &argc, &argv, &error) && lam_bench_is_mr (argv[1])) {
    int64_t repeats = 0, rank = 0;
    lam_cli_json = TRUE;
    if (lam_cli_int ("--repeats", repeats_text, 1, 100000, &repeats, &error)
        && lam_cli_int ("--rank", rank_text, 1, 500, &rank, &error)
        && lam_bench_mr (argv[1], argc > 2 ? argv[2] : NULL, devices, (int) repeats, (int) rank, &error))
      status = LAM_EXIT_DONE;
  } else if (!error) {
    gboolean right = read_options (&b, argv, &task, &error);
    lam_cli_json |= right; /* from here on the line, and nothing else on stdout */
    if (right
        && (b.latency ? lam_bench_latency (&b, &error)
            : b.vcd   ? run_vcd (&b, &error)
                      : run_resident (&b, g_str_has_suffix (tasks[task], "forward"), &error))) {
      print_line (&b, tasks[task]);
      status = LAM_EXIT_DONE;
    }
  }
  g_array_unref (b.times);
  g_array_unref (b.iteration_times);
  g_free (b.devices);
  g_free (b.detail);
  return error ? lam_cli_fail (error) : status;
}
