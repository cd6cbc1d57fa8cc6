/* pulseq-read.c: opening, and what text and binary files have in common once their rows are read. */
#include "io/pulseq-read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/pulseq-private.h"
#include "mr/pulseq-event.h"

#define PIECE (INT64_C (4) << 20)

/* ---- ids ---- */

static int32_t
id_at (const void *ids, gsize stride, int64_t i)
{
  int32_t id;
  memcpy (&id, (const char *) ids + i * stride, sizeof id);
  return id;
}

void
lam_pulseq_map_init (LamPulseqMap *map, const void *ids, int64_t n, gsize stride, LamPulseqTwice twice, gpointer data)
{
  *map = (LamPulseqMap){.most = 0};
  for (int64_t i = 0; i < n; i++)
    map->most = LAM_MAX (map->most, id_at (ids, stride, i));
  if (map->most <= 4 * n + 1024)
    map->dense = g_new0 (int32_t, map->most + 1);
  else
    map->sparse = g_hash_table_new (NULL, NULL);
  for (int64_t i = 0; i < n; i++) {
    int32_t id = id_at (ids, stride, i);
    if (id < 0)
      continue;
    if (lam_pulseq_map_get (map, id) && twice)
      twice (id, i, data);
    if (map->dense)
      map->dense[id] = (int32_t) i + 1;
    else
      g_hash_table_insert (map->sparse, GINT_TO_POINTER (id), GINT_TO_POINTER ((int) i + 1));
  }
}

int32_t
lam_pulseq_map_get (const LamPulseqMap *map, int64_t id)
{
  if (id < 0 || id > map->most)
    return 0;
  return map->dense ? map->dense[id] : GPOINTER_TO_INT (g_hash_table_lookup (map->sparse, GINT_TO_POINTER ((int) id)));
}

void
lam_pulseq_map_clear (LamPulseqMap *map)
{
  g_free (map->dense);
  g_clear_pointer (&map->sparse, g_hash_table_unref);
  map->dense = NULL;
}

void
lam_pulseq_reader_clear (LamPulseqReader *r)
{
  lam_pulseq_map_clear (&r->shapes);
  lam_pulseq_map_clear (&r->rfs);
  lam_pulseq_map_clear (&r->gradients);
  lam_pulseq_map_clear (&r->adcs);
  lam_pulseq_map_clear (&r->links);
  lam_pulseq_map_clear (&r->delays);
  lam_free (r->delay);
  lam_free (r->rf_line);
  lam_free (r->gradient_line);
  lam_free (r->adc_line);
  lam_free (r->shape_line);
}

gboolean
lam_pulseq_time (double value, double ps, int64_t *out)
{
  double t = value * ps;
  if (!(fabs (t) <= (double) LAM_PULSEQ_MAX_PS))
    return FALSE;
  *out = (int64_t) floor (t + 0.5);
  return TRUE;
}

/* ---- version, rasters, signature ---- */

gboolean
lam_pulseq_check_version (LamPulseqReader *r, int64_t line, GError **error)
{
  LamPulseq *s = r->seq;
  if (s->major != 1 || s->minor < 2 || s->minor > 5) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s:%" G_GINT64_FORMAT
                 ": this file is of Pulseq version %d.%d.%d; versions 1.2 to 1.5 can be read. %s",
                 r->name, line, s->major, s->minor, s->revision,
                 s->major == 1 && s->minor < 2 ? "Write it anew with a newer toolbox"
                                               : "If its rows are as in 1.5, change its [VERSION] to 1.5.1");
    return FALSE;
  }
  r->at_least_1_4 = s->minor >= 4;
  r->at_least_1_5 = s->minor >= 5;
  if (s->minor == 5 && s->revision > 2)
    lam_pulseq_problem_take (
        s, LAM_PULSEQ_NOTE, line, 0,
        g_strdup_printf ("revision 1.5.%d is newer than the newest that is known, 1.5.2", s->revision),
        g_strdup ("read as 1.5.2"));
  return TRUE;
}

static void
read_raster (LamPulseqReader *r, const char *key, int64_t *ps)
{
  const char *text = lam_pulseq_definition (r->seq, key);
  g_autofree char *copy = g_strdup (text ? text : "");
  const char *p = copy;
  double value = 0;
  g_autofree char *assumed = g_strdup_printf ("%" G_GINT64_FORMAT " ns", *ps / 1000);
  if (!text) {
    lam_pulseq_problem_take (r->seq, r->at_least_1_4 ? LAM_PULSEQ_WARNING : LAM_PULSEQ_NOTE, 0, 0,
                             g_strdup_printf ("[DEFINITIONS] has no %s", key), g_steal_pointer (&assumed));
    return;
  }
  int64_t whole = 0;
  if (!lam_pulseq_scan_double (&p, &value) || *p || !lam_pulseq_time (value, 1e12, &whole) || whole <= 0) {
    lam_pulseq_problem_take (r->seq, LAM_PULSEQ_ERROR, 0, 0,
                             g_strdup_printf ("[DEFINITIONS] %s is \"%.60s\"; expected seconds above 0", key, text),
                             g_steal_pointer (&assumed));
    return;
  }
  if (fabs (value * 1e12 - (double) whole) > 1e-3)
    lam_pulseq_problem_take (
        r->seq, LAM_PULSEQ_WARNING, 0, 0,
        g_strdup_printf ("[DEFINITIONS] %s is \"%.60s\" s, which is no whole number of ps", key, text),
        g_strdup_printf ("%" G_GINT64_FORMAT " ps", whole));
  *ps = whole;
}

void
lam_pulseq_read_rasters (LamPulseqReader *r)
{
  read_raster (r, "BlockDurationRaster", &r->seq->block_raster);
  read_raster (r, "GradientRasterTime", &r->seq->gradient_raster);
  read_raster (r, "RadiofrequencyRasterTime", &r->seq->rf_raster);
  read_raster (r, "AdcRasterTime", &r->seq->adc_raster);
}

void
lam_pulseq_check_signature (LamPulseq *seq, const char *data, gsize size)
{
  static const struct {
    const char *name;
    GChecksumType type;
  } kinds[] = {{"md5", G_CHECKSUM_MD5}, {"sha1", G_CHECKSUM_SHA1}, {"sha256", G_CHECKSUM_SHA256}};
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_ascii_strcasecmp (seq->signature_type, kinds[i].name) == 0) {
      g_autofree char *ours = g_compute_checksum_for_data (kinds[i].type, (const guchar *) data, size);
      gboolean same = g_ascii_strcasecmp (ours, seq->signature_hash) == 0;
      seq->signature = same ? LAM_PULSEQ_SIGNATURE_MATCHES : LAM_PULSEQ_SIGNATURE_DIFFERS;
      if (!same)
        lam_pulseq_problem_take (seq, LAM_PULSEQ_WARNING, 0, 0,
                                 g_strdup_printf ("the signature does not match: the file was changed after it was "
                                                  "signed (%s in the file, %s of what is there)",
                                                  seq->signature_hash, ours),
                                 NULL);
      return;
    }
  seq->signature = LAM_PULSEQ_SIGNATURE_UNKNOWN;
  lam_pulseq_problem_take (seq, LAM_PULSEQ_NOTE, 0, 0,
                           g_strdup_printf ("a signature of the kind \"%.40s\" cannot be checked", seq->signature_type),
                           NULL);
}

/* ---- events ---- */

typedef struct {
  LamPulseqReader *r;
  const char *section;
  const int64_t *line;
} Twice;

static void
twice (int32_t id, int64_t row, gpointer data)
{
  Twice *t = data;
  lam_pulseq_problem_take (t->r->seq, LAM_PULSEQ_ERROR, t->line ? t->line[row] : 0, t->line ? 1 : 0,
                           g_strdup_printf ("%s %d is there twice", t->section, id), g_strdup ("the last one"));
}

static void
lost (LamPulseqReader *r, const char *section, int32_t id, const int64_t *line, int64_t row, const char *why)
{
  lam_pulseq_problem_take (r->seq, LAM_PULSEQ_ERROR, line ? line[row] : 0, line ? 1 : 0,
                           g_strdup_printf ("%s %d: %s", section, id, why), g_strdup ("an event that does nothing"));
}

/* More than any coil makes, by orders of magnitude: 1 MHz are 23 mT, 1 GHz/m are 23 T/m. */
#define MOST_RF 1e6
#define MOST_GRADIENT 1e9

static void
too_large (LamPulseqReader *r, const char *section, int32_t id, const int64_t *line, int64_t row, double value,
           const char *unit, double tesla, const char *tesla_unit)
{
  char a[G_ASCII_DTOSTR_BUF_SIZE], b[G_ASCII_DTOSTR_BUF_SIZE];
  lam_pulseq_problem_take (r->seq, LAM_PULSEQ_ERROR, line ? line[row] : 0, line ? 1 : 0,
                           g_strdup_printf ("%s %d has an amplitude of %s %s (%s %s): is a unit wrong?", section, id,
                                            g_ascii_formatd (a, sizeof a, "%.4g", value), unit,
                                            g_ascii_formatd (b, sizeof b, "%.3g", tesla), tesla_unit),
                           NULL);
}

static void
check_adc (LamPulseqReader *r, int64_t i)
{
  const LamPulseqAdc *a = &r->seq->adc[i];
  if (a->samples == 0 || a->dwell == 0)
    lam_pulseq_problem_take (
        r->seq, LAM_PULSEQ_WARNING, r->adc_line ? r->adc_line[i] : 0, r->adc_line ? 1 : 0,
        g_strdup_printf (a->samples == 0
                             ? "ADC event %d reads no sample"
                             : "ADC event %d reads for 0 s: its dwell is 0, so all of its samples are of one time",
                         a->id),
        NULL);
}

/* Times of a shape: from 0 on, never back, and short enough. 1 yes, 2 no: looked at once. */
static gboolean
times_fine (LamPulseqReader *r, guint8 *known, int32_t row, int64_t raster, GError **error)
{
  if (known[row])
    return known[row] == 1;
  const double *t = lam_pulseq_shape_values (r->seq, row, error);
  int64_t n = r->seq->shape[row].samples;
  if (!t)
    return FALSE;
  gboolean ok = t[0] >= 0 && t[n - 1] * (double) raster <= (double) LAM_PULSEQ_MAX_PS;
  for (int64_t i = 1; ok && i < n; i++)
    ok = t[i] >= t[i - 1];
  known[row] = ok ? 1 : 2;
  return ok;
}

/* The magnitude, phase and time rows hold ids until now; 0 is none, -1 half a raster. */
static const char *
check_shapes (LamPulseqReader *r, guint8 *known, int64_t raster, int32_t *main, int32_t *phase, int32_t *time,
              gboolean half, GError **error)
{
  LamPulseq *s = r->seq;
  int32_t m = lam_pulseq_map_get (&r->shapes, *main) - 1, p = -1, t = LAM_PULSEQ_RASTER;
  gboolean no_phase = phase && *phase != 0 && (p = lam_pulseq_map_get (&r->shapes, *phase) - 1) < 0;
  gboolean half_raster = half && *time == -1;
  gboolean no_time = *time != 0 && !half_raster && (t = lam_pulseq_map_get (&r->shapes, *time) - 1) < 0;
  *main = LAM_PULSEQ_NO_SHAPE;
  if (phase)
    *phase = LAM_PULSEQ_NO_SHAPE;
  *time = LAM_PULSEQ_RASTER;
  if (m < 0)
    return "its shape is not there";
  if (no_phase)
    return "its phase shape is not there";
  if (no_time)
    return "its time shape is not there";
  if (p >= 0 && s->shape[p].samples != s->shape[m].samples)
    return "its phase shape has another number of samples than its magnitude";
  if (t >= 0 && s->shape[t].samples != s->shape[m].samples)
    return "its time shape has another number of samples than its amplitude";
  if (half_raster && s->shape[m].samples % 2 == 0)
    return "a gradient sampled at half the raster must have an odd number of samples";
  if (t >= 0 && !times_fine (r, known, t, raster, error))
    return "the times of its time shape go back, or are too long";
  *main = m;
  if (phase)
    *phase = p;
  *time = half_raster ? LAM_PULSEQ_HALF_RASTER : t;
  return NULL;
}

gboolean
lam_pulseq_finish_events (LamPulseqReader *r, GError **error)
{
  LamPulseq *s = r->seq;
  GError *failed = NULL;
  Twice t = {r, "shape", r->shape_line};
  lam_pulseq_map_init (&r->shapes, s->shape ? &s->shape->id : NULL, s->shapes, sizeof *s->shape, twice, &t);
  t = (Twice){r, "RF event", r->rf_line};
  lam_pulseq_map_init (&r->rfs, s->rf ? &s->rf->id : NULL, s->rfs, sizeof *s->rf, twice, &t);
  t = (Twice){r, "gradient", r->gradient_line};
  lam_pulseq_map_init (&r->gradients, s->gradient ? &s->gradient->id : NULL, s->gradients, sizeof *s->gradient, twice,
                       &t);
  t = (Twice){r, "ADC event", r->adc_line};
  lam_pulseq_map_init (&r->adcs, s->adc ? &s->adc->id : NULL, s->adcs, sizeof *s->adc, twice, &t);
  t = (Twice){r, "[EXTENSIONS]", NULL};
  lam_pulseq_map_init (&r->links, s->link ? &s->link->id : NULL, s->links, sizeof *s->link, twice, &t);

  g_autofree guint8 *rf_times = g_new0 (guint8, LAM_MAX (s->shapes, 1));
  g_autofree guint8 *gradient_times = g_new0 (guint8, LAM_MAX (s->shapes, 1));
  for (int64_t i = 0; i < s->rfs && !failed; i++) {
    LamPulseqRf *rf = &s->rf[i];
    const char *why = check_shapes (r, rf_times, s->rf_raster, &rf->magnitude, &rf->phase, &rf->time, FALSE, &failed);
    if (why)
      lost (r, "RF event", rf->id, r->rf_line, i, why);
    if (fabs (rf->amplitude) > MOST_RF)
      too_large (r, "RF event", rf->id, r->rf_line, i, rf->amplitude, "Hz", rf->amplitude / LAM_GAMMA_1H, "T");
  }
  for (int64_t i = 0; i < s->gradients && !failed; i++) {
    LamPulseqGradient *g = &s->gradient[i];
    const char *why = g->trapezoid ? NULL
                                   : check_shapes (r, gradient_times, s->gradient_raster, &g->shape, NULL, &g->time,
                                                   r->at_least_1_5, &failed);
    if (why)
      lost (r, "gradient", g->id, r->gradient_line, i, why);
    if (fabs (g->amplitude) > MOST_GRADIENT)
      too_large (r, "gradient", g->id, r->gradient_line, i, g->amplitude, "Hz/m", g->amplitude / LAM_GAMMA_1H, "T/m");
  }
  for (int64_t i = 0; i < s->adcs && !failed; i++) {
    LamPulseqAdc *a = &s->adc[i];
    int32_t row = lam_pulseq_map_get (&r->shapes, a->phase_shape) - 1;
    gboolean wrong = a->phase_shape != 0 && (row < 0 || s->shape[row].samples != a->samples);
    if (wrong)
      lam_pulseq_problem_take (
          s, LAM_PULSEQ_ERROR, r->adc_line ? r->adc_line[i] : 0, r->adc_line ? 1 : 0,
          g_strdup_printf (row < 0 ? "ADC event %d: its phase shape is not there"
                                   : "ADC event %d: its phase shape does not have as many samples as it reads",
                           a->id),
          g_strdup ("no phase modulation"));
    a->phase_shape = wrong || a->phase_shape == 0 ? LAM_PULSEQ_NO_SHAPE : row;
    check_adc (r, i);
  }
  if (failed) {
    g_propagate_error (error, failed);
    return FALSE;
  }
  lam_pulseq_resolve_links (s);
  return TRUE;
}

/* ---- blocks ---- */

/* The latest end of the events of block @b; @what names the event. */
static gboolean
events_end (LamPulseqReader *r, const int64_t *rf_end, const int64_t *gradient_end, int64_t b, int64_t *end,
            const char **what)
{
  LamPulseq *s = r->seq;
  *end = 0;
  *what = NULL;
  int32_t row = s->event[LAM_PULSEQ_RF][b] - 1;
  if (row >= 0 && rf_end[row] > *end) {
    *end = rf_end[row];
    *what = "RF pulse";
  }
  for (int c = LAM_PULSEQ_GX; c <= LAM_PULSEQ_GZ; c++)
    if ((row = s->event[c][b] - 1) >= 0 && gradient_end[row] > *end) {
      *end = gradient_end[row];
      *what = "gradient";
    }
  if ((row = s->event[LAM_PULSEQ_ADC][b] - 1) >= 0 && lam_pulseq_adc_end (&s->adc[row]) > *end) {
    *end = lam_pulseq_adc_end (&s->adc[row]);
    *what = "readout";
  }
  return *what != NULL;
}

/* Before 1.4: a block lasts as long as its longest event; triggers are events too. */
static int64_t
triggers_end (const LamPulseq *s, const LamPulseqMap *links, const LamPulseqMap *triggers, int64_t b)
{
  LamPulseqExtension *x = lam_pulseq_extension (s, LAM_PULSEQ_EXT_TRIGGERS);
  int64_t end = 0;
  for (int32_t at = s->event[LAM_PULSEQ_EXT][b] - 1; x && at >= 0;) {
    const LamPulseqLink *l = &s->link[at];
    int32_t row = l->type == x->type ? lam_pulseq_map_get (triggers, l->ref) - 1 : -1;
    if (row >= 0)
      end = LAM_MAX (end, x->row[row].trigger.delay + x->row[row].trigger.duration);
    at = l->next ? lam_pulseq_map_get (links, l->next) - 1 : -1;
  }
  return end;
}

/* A sampled gradient begins where the one before it on that axis ended, if that was at the end of its block, and ends where
 * its last two samples point. An event that plays several times is judged by the first. */
gboolean
lam_pulseq_guess_ends (const LamPulseq *s, double *first, double *last, GError **error)
{
  double before[3] = {0, 0, 0};
  g_autofree guint8 *known = g_new0 (guint8, LAM_MAX (s->gradients, 1));
  for (int64_t b = 0; b < s->blocks; b++)
    for (int axis = 0; axis < 3; axis++) {
      int32_t row = s->event[LAM_PULSEQ_GX + axis][b] - 1;
      const LamPulseqGradient *g = row >= 0 ? &s->gradient[row] : NULL;
      if (!g || g->trapezoid || g->shape < 0) {
        before[axis] = 0;
        continue;
      }
      if (!known[row]) {
        const double *v = lam_pulseq_shape_values (s, g->shape, error);
        int64_t n = s->shape[g->shape].samples;
        if (!v)
          return FALSE;
        known[row] = 1;
        first[row] = g->time >= 0 ? g->amplitude * v[0] : g->delay > 0 ? 0 : before[axis];
        last[row] = g->amplitude * (g->time >= 0 || n < 2 ? v[n - 1] : 0.5 * (3 * v[n - 1] - v[n - 2]));
      }
      int64_t end;
      if (!lam_pulseq_gradient_end (s, g, &end, error))
        return FALSE;
      before[axis] = end < s->duration[b] ? 0 : last[row];
    }
  return TRUE;
}

static gboolean
restore_ends (LamPulseqReader *r, GError **error)
{
  LamPulseq *s = r->seq;
  g_autofree double *first = g_new0 (double, LAM_MAX (s->gradients, 1));
  g_autofree double *last = g_new0 (double, LAM_MAX (s->gradients, 1));
  if (!lam_pulseq_guess_ends (s, first, last, error))
    return FALSE;
  for (int64_t i = 0; i < s->gradients; i++) {
    s->gradient[i].first = first[i];
    s->gradient[i].last = last[i];
  }
  return TRUE;
}

gboolean
lam_pulseq_finish_blocks (LamPulseqReader *r, GError **error)
{
  LamPulseq *s = r->seq;
  g_autofree int64_t *rf_end = g_new0 (int64_t, LAM_MAX (s->rfs, 1));
  g_autofree int64_t *gradient_end = g_new0 (int64_t, LAM_MAX (s->gradients, 1));
  int64_t total = 0, late = 0, first_late = 0, end, from;
  const char *what, *first_what = NULL;
  for (int64_t i = 0; i < s->rfs; i++) {
    if (!lam_pulseq_rf_duration (s, &s->rf[i], &rf_end[i], error))
      return FALSE;
    rf_end[i] += s->rf[i].delay;
  }
  for (int64_t i = 0; i < s->gradients; i++)
    if (!lam_pulseq_gradient_end (s, &s->gradient[i], &gradient_end[i], error))
      return FALSE;

  LamPulseqMap triggers = {0};
  LamPulseqExtension *x = lam_pulseq_extension (s, LAM_PULSEQ_EXT_TRIGGERS);
  if (x)
    lam_pulseq_map_init (&triggers, x->row ? &x->row->id : NULL, x->rows, sizeof *x->row, NULL, NULL);
  gboolean ok = TRUE;
  for (int64_t b = 0; ok && b < s->blocks; b++) {
    gboolean some = events_end (r, rf_end, gradient_end, b, &end, &what);
    if (!r->at_least_1_4)
      s->duration[b] = LAM_MAX (LAM_MAX (s->duration[b], end), x ? triggers_end (s, &r->links, &triggers, b) : 0);
    else if (some && end > s->duration[b] && late++ == 0) {
      first_late = b;
      first_what = what;
    }
    total += s->duration[b];
    if (!(ok = total >= 0 && total <= 4 * LAM_PULSEQ_MAX_PS))
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                   "%s: the blocks up to %" G_GINT64_FORMAT " last more than 46 days; expected a sequence", r->name,
                   b + 1);
  }
  if (x)
    lam_pulseq_map_clear (&triggers);
  if (!ok)
    return FALSE;
  if (late > 0)
    lam_pulseq_problem_take (
        s, LAM_PULSEQ_ERROR, 0, 0,
        g_strdup_printf ("in %" G_GINT64_FORMAT " block(s) an event ends after its block; the "
                         "first is the %s of block %" G_GINT64_FORMAT,
                         late, first_what, first_late + 1),
        g_strdup ("what lies beyond the block's end is not played; a readout that does is not simulated"));
  if (s->blocks == 0)
    lam_pulseq_problem_take (s, LAM_PULSEQ_NOTE, 0, 0, g_strdup ("the sequence has no blocks"),
                             g_strdup ("its duration is 0 s"));

  const char *text = lam_pulseq_definition (s, "TotalDuration");
  g_autofree char *copy = g_strdup (text ? text : "");
  double said;
  const char *p = copy;
  from = 0;
  if (text && lam_pulseq_scan_double (&p, &said) && lam_pulseq_time (said, 1e12, &from)
      && ABS (from - total) > LAM_MAX (total / 100000, s->block_raster))
    lam_pulseq_problem_take (s, LAM_PULSEQ_WARNING, 0, 0,
                             g_strdup_printf ("TotalDuration says %s s; the blocks add up to %" G_GINT64_FORMAT " us",
                                              text, total / 1000000),
                             g_strdup ("the blocks"));
  if (!r->at_least_1_5 && s->rfs > 0)
    lam_pulseq_problem_take (s, LAM_PULSEQ_NOTE, 0, 0, g_strdup ("files before 1.5 do not say what the pulses are for"),
                             g_strdup ("each counts as an excitation in k-space"));
  return r->at_least_1_5 || restore_ends (r, error);
}

/* ---- opening ---- */

static gboolean
is_binary (const char *data, gsize size)
{
  return size >= 8 && memcmp (data, LAM_PULSEQ_MAGIC, 8) == 0;
}

LamPulseq *
lam_pulseq_parse (const char *name, const char *text, gsize size, const LamIoControl *control, GError **error)
{
  LamPulseqReader r = {.seq = lam_pulseq_new (), .name = name, .control = control};
  r.seq->path = g_strdup (name);
  r.seq->binary = is_binary (text, size);
  gboolean ok;
  if (r.seq->binary)
    ok = lam_pulseq_read_binary (&r, text, size, error);
  else { /* a line always ends */
    char *copy = lam_alloc (size + 2, "text of the sequence", error);
    ok = copy != NULL;
    if (ok) {
      if (size > 0)
        memcpy (copy, text, size);
      copy[size] = '\n';
      copy[size + 1] = 0;
      ok = lam_pulseq_read_text (&r, copy, size, error);
    }
    lam_free (copy);
  }
  ok = ok && lam_pulseq_finish_blocks (&r, error);
  lam_pulseq_reader_clear (&r);
  if (!ok)
    g_clear_pointer (&r.seq, lam_pulseq_unref);
  return r.seq;
}

static char *
read_all (const char *path, const LamIoControl *control, gsize *size, GError **error)
{
  LamFileStamp stamp;
  if (!lam_file_stamp (path, &stamp, error))
    return NULL;
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  char *data = NULL;
  if (fd < 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened: %s", path, g_strerror (errno));
  else if (g_file_test (path, G_FILE_TEST_IS_DIR))
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: this is a folder", path);
  else
    data = lam_alloc (stamp.size + 2, "text of the sequence", error);
  gboolean ok = data != NULL;
  int64_t have = 0;
  while (ok && have < stamp.size) {
    ssize_t n = read (fd, data + have, LAM_MIN (PIECE, stamp.size - have));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be read: %s", path,
                   n < 0 ? g_strerror (errno) : "it got shorter meanwhile");
      ok = FALSE;
    }
    have += LAM_MAX (n, 0);
    ok = ok && lam_io_control_step (control, 0.3 * (double) have / (double) LAM_MAX (stamp.size, 1), "sequence", error);
  }
  if (fd >= 0)
    close (fd);
  if (!ok) {
    lam_free (data);
    return NULL;
  }
  data[have] = '\n';
  data[have + 1] = 0;
  *size = have;
  return data;
}

LamPulseq *
lam_pulseq_open (const char *path, const LamIoControl *control, GError **error)
{
  gsize size = 0;
  char *data = read_all (path, control, &size, error);
  if (!data)
    return NULL;
  LamPulseqReader r = {.seq = lam_pulseq_new (), .name = path, .control = control};
  r.seq->path = g_strdup (path);
  r.seq->binary = is_binary (data, size);
  gboolean ok =
      r.seq->binary ? lam_pulseq_read_binary (&r, data, size, error) : lam_pulseq_read_text (&r, data, size, error);
  lam_free (data);
  ok = ok && lam_pulseq_finish_blocks (&r, error);
  lam_pulseq_reader_clear (&r);
  if (!ok)
    g_clear_pointer (&r.seq, lam_pulseq_unref);
  return r.seq;
}

gboolean
lam_pulseq_file_is (const char *path)
{
  char head[4096];
  FILE *f = fopen (path, "rbe");
  gsize n = f ? fread (head, 1, sizeof head - 1, f) : 0;
  if (f)
    fclose (f);
  if (is_binary (head, n))
    return TRUE;
  head[n] = 0;
  if (n == 0 || memchr (head, 0, n))
    return FALSE;
  for (const char *p = head; (p = strchr (p, '['));) {
    if (g_str_has_prefix (p, "[VERSION]") || g_str_has_prefix (p, "[DEFINITIONS]") || g_str_has_prefix (p, "[BLOCKS]"))
      return TRUE;
    p++;
  }
  g_autofree char *lower = g_ascii_strdown (path, -1);
  return g_str_has_suffix (lower, ".seq");
}
