#include "golden-seq.h"

#include <math.h>
#include <string.h>

#include "io/pulseq-read.h"
#include "mr/bloch.h"
#include "core/memory.h"
#include "mr/pulseq-timing.h"

#define BOUND 1e-9 /* numbers made in double on both sides */

char *
golden_seq_path (const char *name)
{
  const char *dir = g_getenv ("LAMINA_SEQ_DIR");
  return dir && *dir ? g_build_filename (dir, name, NULL) : g_build_filename (golden_data_dir (), "mr", name, NULL);
}

typedef struct {
  hid_t group;
  const char *name;
  GoldenTally *tally;
  LamPulseqTiming *t;
} Case;

/* max |a - b| / max |b|, or max |a - b| where @absolute. NaN stays. */
static double
worst (const double *a, const double *b, int64_t n, gboolean absolute)
{
  double most = 0, scale = 0;
  for (int64_t i = 0; i < n; i++) {
    double d = fabs (a[i] - b[i]);
    most = d <= most ? most : d;
    scale = fmax (scale, fabs (b[i]));
  }
  return absolute || scale == 0 ? most : most / scale;
}

static void
check (const Case *c, const char *dataset, const double *ours, int64_t n, gboolean absolute, double bound)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree char *where = g_strdup_printf ("seq/%s/%s", c->name, dataset);
  g_autofree char *kind = g_strdup_printf ("seq %s", dataset);
  g_autofree double *truth = golden_read_double (c->group, dataset, shape);
  gboolean sized = golden_count (shape) == n;
  golden_tally_add (c->tally, kind, where, sized ? worst (ours, truth, n, absolute) : NAN, bound);
}

static void
check_number (const Case *c, const char *attribute, double ours, double bound)
{
  g_autofree char *where = g_strdup_printf ("seq/%s/@%s", c->name, attribute);
  g_autofree char *kind = g_strdup_printf ("seq @%s", attribute);
  golden_tally_add (c->tally, kind, where, fabs (ours - golden_attr_double (c->group, attribute)), bound);
}

/* ---- what the file says ---- */

static herr_t
definition (hid_t group, const char *name, const H5A_info_t *info, void *data)
{
  const Case *c = data;
  if (!g_str_has_prefix (name, "definition_"))
    return 0;
  const char *key = name + strlen ("definition_"), *ours = lam_pulseq_definition (c->t->seq, key);
  const struct {
    const char *key;
    int64_t ps;
  } rasters[] = {{"BlockDurationRaster", c->t->seq->block_raster},
                 {"GradientRasterTime", c->t->seq->gradient_raster},
                 {"RadiofrequencyRasterTime", c->t->seq->rf_raster},
                 {"AdcRasterTime", c->t->seq->adc_raster}};
  char assumed[G_ASCII_DTOSTR_BUF_SIZE];
  for (guint i = 0; i < G_N_ELEMENTS (rasters) && !ours; i++) /* before 1.4 they need not be in the file */
    if (g_str_equal (key, rasters[i].key))
      ours = g_ascii_dtostr (assumed, sizeof assumed, (double) rasters[i].ps / 1e12);
  g_autofree char *where = g_strdup_printf ("seq/%s/@%s", c->name, name);
  hid_t a = H5Aopen (group, name, H5P_DEFAULT), type = H5Aget_type (a);
  gboolean text = H5Tget_class (type) == H5T_STRING;
  H5Tclose (type);
  H5Aclose (a);
  double error = ours ? 0 : NAN;
  if (ours && text) {
    g_autofree char *truth = golden_attr_string (group, name);
    error = g_str_equal (truth, ours) ? 0 : 1;
  } else if (ours) {
    double truth[64];
    int64_t n = golden_attr_doubles (group, name, truth, 64), i = 0;
    for (const char *p = ours; *p; i++) {
      char *end;
      double v = g_ascii_strtod (p, &end);
      error = fmax (error, end == p || i >= n ? 1 : fabs (v - truth[i]));
      p = end + strspn (end, " \t");
      if (end == p && *p)
        break;
    }
    error = i == n ? error : 1;
  }
  golden_tally_add (c->tally, "seq definitions", where, error, 1e-12);
  return 0;
}

static void
check_header (const Case *c)
{
  const LamPulseq *s = c->t->seq;
  g_autofree char *truth = golden_attr_string (c->group, "version");
  g_autofree char *ours = g_strdup_printf ("%d.%d.%d", s->major, s->minor, s->revision);
  golden_tally_add (c->tally, "seq version", c->name, g_str_equal (truth, ours) ? 0 : 1, 0);
  check_number (c, "blocks", (double) s->blocks, 0);
  check_number (c, "duration_s", (double) lam_pulseq_timing_duration (c->t) * 1e-12,
                golden_attr_double (c->group, "tolerance_times_s"));
  if (golden_has_attr (c->group, "samples_total"))
    check_number (c, "samples_total", (double) c->t->samples, 0);
  hsize_t at = 0;
  H5Aiterate2 (c->group, H5_INDEX_NAME, H5_ITER_INC, &at, definition, (void *) c);
}

/* One column of a table of events. */
typedef struct {
  const char *dataset;
  double *values;
  double bound; /* absolute */
} Column;

static void
check_columns (const Case *c, Column *columns, guint count, int64_t n)
{
  for (guint i = 0; i < count; i++) {
    check (c, columns[i].dataset, columns[i].values, n, TRUE, columns[i].bound);
    g_free (columns[i].values);
  }
}

static void
check_pulses (const Case *c)
{
  const LamPulseq *s = c->t->seq;
  double tick = golden_attr_double (c->group, "tolerance_times_s");
  Column columns[] = {
      {"rf_block", NULL, 0},
      {"rf_start_s", NULL, tick},
      {"rf_center_s", NULL, tick},
      {"rf_flip_rad", NULL, BOUND},
      {"rf_use", NULL, 0},
      {"rf_freq_offset_hz", NULL, BOUND},
      {"rf_freq_ppm", NULL, BOUND},
      {"rf_phase_offset_rad", NULL, BOUND},
      {"rf_phase_ppm", NULL, BOUND},
      {"rf_samples", NULL, 0},
      {"rf_shape_duration_s", NULL, tick},
  };
  double *v[G_N_ELEMENTS (columns)];
  g_autofree double *phase = g_new (double, c->t->pulses + 1);
  int64_t n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    v[i] = columns[i].values = g_new (double, c->t->pulses + 1);
  for (int64_t b = 0; b < s->blocks; b++) {
    int32_t row = s->event[LAM_PULSEQ_RF][b] - 1;
    if (row < 0)
      continue;
    const LamPulseqRf *rf = &s->rf[row];
    const LamPulseqRfFacts *f = &c->t->rf[row];
    int64_t start = c->t->start[b] + rf->delay;
    const double row_values[] = {(double) b + 1,
                                 (double) start * 1e-12,
                                 (double) (start + f->center) * 1e-12,
                                 f->flip,
                                 rf->use,
                                 rf->freq,
                                 rf->freq_ppm,
                                 rf->phase_rad,
                                 rf->phase_ppm,
                                 (double) f->pulse.samples,
                                 (double) f->pulse.duration * 1e-12};
    for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
      v[i][n] = row_values[i];
    phase[n++] = f->phase;
  }
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *truth = golden_read_double (c->group, "rf_integral_phase_rad", shape);
  for (int64_t i = 0; i < LAM_MIN (n, shape[0]); i++) /* by turns, and of pulses that turn at all */
    phase[i] = v[3][i] < 1e-6 ? truth[i] : truth[i] + remainder (phase[i] - truth[i], 2 * G_PI);
  check (c, "rf_integral_phase_rad", phase, n, TRUE, 1e-6);
  check_columns (c, columns, G_N_ELEMENTS (columns), n);
}

static void
check_readouts (const Case *c)
{
  const LamPulseq *s = c->t->seq;
  double tick = golden_attr_double (c->group, "tolerance_times_s");
  Column columns[] = {
      {"adc_block", NULL, 0},      {"adc_start_s", NULL, tick},         {"adc_samples", NULL, 0},
      {"adc_dwell_s", NULL, tick}, {"adc_freq_offset_hz", NULL, BOUND}, {"adc_phase_offset_rad", NULL, BOUND},
  };
  int64_t n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    columns[i].values = g_new (double, c->t->readouts + 1);
  for (int64_t b = 0; b < s->blocks; b++) {
    int32_t row = s->event[LAM_PULSEQ_ADC][b] - 1;
    if (row < 0)
      continue;
    const LamPulseqAdc *a = &s->adc[row];
    const double row_values[] = {(double) b + 1,
                                 (double) (c->t->start[b] + a->delay) * 1e-12,
                                 (double) a->samples,
                                 (double) a->dwell * 1e-12,
                                 a->freq,
                                 a->phase_rad};
    for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
      columns[i].values[n] = row_values[i];
    n++;
  }
  check_columns (c, columns, G_N_ELEMENTS (columns), n);
}

static void
check_blocks (const Case *c)
{
  const LamPulseq *s = c->t->seq;
  g_autofree double *duration = g_new (double, s->blocks + 1);
  g_autofree double *m0 = g_new (double, 3 * s->blocks + 1), *m1 = g_new (double, 3 * s->blocks + 1);
  for (int64_t b = 0; b < s->blocks; b++) {
    duration[b] = (double) s->duration[b] * 1e-12;
    for (int axis = 0; axis < 3; axis++)
      lam_pulseq_moments (c->t, b, axis, &m0[3 * b + axis], &m1[3 * b + axis]);
  }
  check (c, "block_duration_s", duration, s->blocks, TRUE, golden_attr_double (c->group, "tolerance_times_s"));
  check (c, "gradient_moment_0", m0, 3 * s->blocks, FALSE, BOUND);
  check (c, "gradient_moment_1", m1, 3 * s->blocks, FALSE, BOUND);
}

static void
check_kspace (const Case *c)
{
  g_autoptr (GError) error = NULL;
  int64_t shape[GOLDEN_MAX_RANK];
  if (!golden_has (c->group, "kspace_per_m"))
    return;
  g_autofree int64_t *index = golden_read_int64 (c->group, "sample_index", shape);
  int64_t n = shape[0], all = c->t->samples;
  g_autofree double *k = g_new (double, 3 * all + 1), *some = g_new (double, 3 * n + 1), *time = g_new (double, n + 1);
  g_autofree int64_t *ps = g_new (int64_t, all + 1);
  lam_pulseq_kspace (c->t, 0, all, k, ps, &error);
  g_assert_no_error (error);
  for (int64_t i = 0; i < n; i++) {
    g_assert_cmpint (index[i], <, all);
    for (int a = 0; a < 3; a++)
      some[a * n + i] = k[a * all + index[i]];
    time[i] = (double) ps[index[i]] * 1e-12;
  }
  check (c, "kspace_per_m", some, 3 * n, FALSE, BOUND);
  check (c, "sample_time_s", time, n, TRUE, golden_attr_double (c->group, "tolerance_times_s"));

  /* From any sample on it is the same. */
  double one[3];
  for (int64_t i = 0; i < n; i += LAM_MAX (n / 7, 1)) {
    lam_pulseq_kspace (c->t, index[i], 1, one, NULL, &error);
    g_assert_no_error (error);
    for (int a = 0; a < 3; a++)
      g_assert_cmpfloat (one[a], ==, some[a * n + i]);
  }
}

/* ---- the signal ---- */

/* Hz: "... are taken at 3 T and 42.57747892 MHz/T ..." of the attribute that defines the signal. */
static double
frequency_of (hid_t group)
{
  g_autofree char *text = golden_attr_string (group, "signal");
  const char *p = strstr (text, "taken at ");
  char *end;
  g_assert_nonnull (p);
  double tesla = g_ascii_strtod (p + strlen ("taken at "), &end);
  g_assert_true (g_str_has_prefix (end, " T and "));
  double gamma = g_ascii_strtod (end + strlen (" T and "), &end);
  g_assert_true (g_str_has_prefix (end, " MHz/T"));
  return tesla * gamma * 1e6;
}

static void
check_signal (const Case *c, const char *devices)
{
  g_autoptr (GError) error = NULL;
  int64_t shape[GOLDEN_MAX_RANK], at[GOLDEN_MAX_RANK];
  if (!golden_has (c->group, "signal_re"))
    return;
  g_autofree double *t1 = golden_read_double (c->group, "tissue_T1_ms", shape),
                    *t2 = golden_read_double (c->group, "tissue_T2_ms", NULL);
  g_autofree double *b0 = golden_read_double (c->group, "tissue_B0_hz", NULL);
  g_autofree double *position = golden_read_double (c->group, "tissue_position_m", at);
  int64_t n = shape[0] * at[0];
  double *field[6]; /* T1, T2, B0, x, y, z of each voxel, position fastest */
  for (int f = 0; f < 6; f++) {
    field[f] = g_new (double, n);
    for (int64_t v = 0; v < n; v++) {
      int64_t tissue = v / at[0], place = v % at[0];
      field[f][v] = f == 0 ? t1[tissue] : f == 1 ? t2[tissue] : f == 2 ? b0[tissue] : position[3 * place + f - 3];
    }
  }
  LamBlochParams p;
  lam_bloch_params_init (&p);
  p.voxels = n;
  p.t1_ms = field[0];
  p.t2_ms = field[1];
  p.b0_hz = field[2];
  p.x = field[3];
  p.y = field[4];
  p.z = field[5];
  p.f0_hz = frequency_of (c->group);
  g_autoptr (LamDevices) set = lam_devices_new (devices, &error);
  float *re, *im;
  int64_t samples;
  lam_bloch_simulate (c->t->seq, &p, set, NULL, &re, &im, &samples, &error);
  g_assert_no_error (error);
  g_autofree int64_t *index = golden_read_int64 (c->group, "signal_sample_index", shape);
  g_autofree double *truth_re = golden_read_double (c->group, "signal_re", at),
                    *truth_im = golden_read_double (c->group, "signal_im", NULL);
  double most = 0, scale = 0;
  gboolean sized = at[0] == n && at[1] == shape[0];
  for (int64_t v = 0; sized && v < n; v++)
    for (int64_t k = 0; k < shape[0]; k++) {
      int64_t ours = v * samples + index[k], theirs = v * shape[0] + k;
      double d = hypot (re[ours] - truth_re[theirs], im[ours] - truth_im[theirs]);
      most = d <= most ? most : d;
      scale = fmax (scale, hypot (truth_re[theirs], truth_im[theirs]));
    }
  g_autofree char *where = g_strdup_printf ("seq/%s/signal", c->name);
  golden_tally_add (c->tally, "seq signal", where, sized ? most / fmax (scale, 1e-30) : NAN,
                    golden_attr_double (c->group, "tolerance_rel_float32"));
  g_test_message ("%s: signal off by %.2e of its peak", c->name, most / fmax (scale, 1e-30));
  lam_free (re);
  lam_free (im);
  for (int f = 0; f < 6; f++)
    g_free (field[f]);
}

static void
seq_case (hid_t group, const char *name, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = golden_attr_string (group, "file"), *path = golden_seq_path (file);
  g_autoptr (LamPulseq) seq = lam_pulseq_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lam_pulseq_problems (seq, LAM_PULSEQ_ERROR), ==, 0);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (seq, &error);
  g_assert_no_error (error);
  Case c = {group, name, data, t};
  check_header (&c);
  check_blocks (&c);
  check_pulses (&c);
  check_readouts (&c);
  check_kspace (&c);
  check_signal (&c, "cpu");
  check_signal (&c, "3xcpu");
}

void
golden_seq_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "seq", seq_case, tally);
}
