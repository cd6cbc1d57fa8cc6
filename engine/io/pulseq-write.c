#include "io/pulseq-write.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/pulseq-private.h"
#include "mr/pulseq-event.h"

#define PIECE (1 << 20)

/* A gradient as times and values, where the version has no other way to say it. */
typedef struct {
  int32_t shape, time; /* ids */
  const LamPulseqGradient *g;
} Explicit;

typedef struct {
  const LamPulseq *seq;
  int minor;
  LamAtomicFile *file;
  GChecksum *sum;
  GString *text;
  int64_t written;
  const LamIoControl *control;
  GPtrArray *told;
  int64_t raster;    /* of block durations, ps */
  int32_t next_id;   /* of shapes that are added */
  Explicit *instead; /* [gradients]; g NULL: as it is */
} Out;

static void
tell (Out *o, char *text_take)
{
  g_ptr_array_add (o->told, text_take);
}

static gboolean
flush (Out *o, GError **error)
{
  if (!lam_atomic_pwrite (o->file, o->text->str, o->text->len, o->written, error))
    return FALSE;
  o->written += o->text->len;
  g_string_truncate (o->text, 0);
  return TRUE;
}

/* Between rows. */
static gboolean
step (Out *o, GError **error)
{
  if (o->text->len < PIECE)
    return TRUE;
  g_checksum_update (o->sum, (const guchar *) o->text->str, o->text->len);
  return flush (o, error) && lam_io_control_step (o->control, 0.5, "sequence", error);
}

/* ---- numbers ---- */

static void
put_int (Out *o, int64_t v)
{
  char text[24], *p = text + sizeof text;
  guint64 left = v < 0 ? -(guint64) v : (guint64) v;
  do
    *--p = '0' + left % 10;
  while ((left /= 10) > 0);
  if (v < 0)
    *--p = '-';
  g_string_append_len (o->text, p, text + sizeof text - p);
}

/* As few digits as read back the same. */
static void
put_double (Out *o, double v)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  char format[] = "%.00g";
  if (v == floor (v) && fabs (v) < 1e15 && !(v == 0 && signbit (v))) {
    put_int (o, (int64_t) v);
    return;
  }
  static const int digits[] = {6, 9, 12, 15, 16, 17};
  for (guint i = 0; i < G_N_ELEMENTS (digits); i++) {
    double back;
    const char *p = text;
    format[2] = '0' + digits[i] / 10;
    format[3] = '0' + digits[i] % 10;
    g_ascii_formatd (text, sizeof text, format, v);
    if (lam_pulseq_scan_double (&p, &back) && back == v)
      break;
  }
  g_string_append (o->text, text);
}

/* A time in units of 10^@places ps, exactly. */
static void
put_time (Out *o, int64_t ps, int places)
{
  int64_t unit = 1;
  for (int i = 0; i < places; i++)
    unit *= 10;
  if (ps < 0)
    g_string_append_c (o->text, '-');
  ps = ABS (ps);
  put_int (o, ps / unit);
  if (ps % unit) {
    g_string_append_c (o->text, '.');
    for (int64_t rest = ps % unit; rest > 0; rest %= unit) {
      unit /= 10;
      g_string_append_c (o->text, '0' + (char) (rest / unit));
      if (unit == 1)
        break;
    }
  }
}

static void
space (Out *o)
{
  g_string_append_c (o->text, ' ');
}

static int32_t
shape_id (const Out *o, int32_t row)
{
  return row >= 0 ? o->seq->shape[row].id : 0;
}

/* ---- what the version can hold ---- */

static gboolean
cannot (GError **error, const char *what, int32_t id, const char *why)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s %d: %s, which Pulseq 1.4 cannot hold; write 1.5", what, id,
               why);
  return FALSE;
}

static gboolean
check_version (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  gboolean used = FALSE;
  if (o->minor >= 5)
    return TRUE;
  for (int64_t i = 0; i < s->rfs; i++) {
    if (s->rf[i].freq_ppm != 0 || s->rf[i].phase_ppm != 0)
      return cannot (error, "RF event", s->rf[i].id, "its offset is in ppm");
    used = used || s->rf[i].use != LAM_PULSEQ_USE_UNDEFINED;
  }
  for (int64_t i = 0; i < s->adcs; i++) {
    if (s->adc[i].freq_ppm != 0 || s->adc[i].phase_ppm != 0)
      return cannot (error, "ADC event", s->adc[i].id, "its offset is in ppm");
    if (s->adc[i].phase_shape >= 0)
      return cannot (error, "ADC event", s->adc[i].id, "it has a phase for each sample");
  }
  for (int64_t i = 0; i < s->links; i++)
    for (guint k = 0; k < s->extensions->len; k++) {
      const LamPulseqExtension *x = s->extensions->pdata[k];
      if (x->type == s->link[i].type && (x->kind == LAM_PULSEQ_EXT_ROTATIONS || x->kind == LAM_PULSEQ_EXT_RF_SHIMS))
        return cannot (error, "[EXTENSIONS]", s->link[i].id,
                       x->kind == LAM_PULSEQ_EXT_ROTATIONS ? "it is a rotation" : "it is an RF shim");
    }
  if (used)
    tell (o, g_strdup ("what the pulses are for, and where their centres are, is not in files of 1.4"));
  return TRUE;
}

/* 1.4 has no ends for sampled gradients: where a reader would not find ours, it gets all points with their times. */
static gboolean
plan_gradients (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  o->instead = g_new0 (Explicit, LAM_MAX (s->gradients, 1));
  o->next_id = 1;
  for (int64_t i = 0; i < s->shapes; i++)
    o->next_id = LAM_MAX (o->next_id, s->shape[i].id + 1);
  if (o->minor >= 5)
    return TRUE;
  g_autofree double *first = g_new0 (double, LAM_MAX (s->gradients, 1)),
                    *last = g_new0 (double, LAM_MAX (s->gradients, 1));
  if (!lam_pulseq_guess_ends (s, first, last, error))
    return FALSE;
  int64_t changed = 0;
  for (int64_t i = 0; i < s->gradients; i++) {
    const LamPulseqGradient *g = &s->gradient[i];
    double small = 1e-6 * fabs (g->amplitude);
    if (g->trapezoid || g->shape < 0 || g->time >= 0)
      continue;
    if (g->time == LAM_PULSEQ_RASTER && fabs (g->first - first[i]) <= small && fabs (g->last - last[i]) <= small)
      continue;
    if (g->amplitude == 0 && (g->first != 0 || g->last != 0))
      return cannot (error, "gradient", g->id, "it has ends and no amplitude");
    if (o->next_id > G_MAXINT32 - 4)
      return cannot (error, "gradient", g->id, "it needs more shapes than there are ids");
    o->instead[i] = (Explicit){o->next_id, o->next_id + 1, g};
    o->next_id += 2;
    changed++;
  }
  if (changed)
    tell (o,
          g_strdup_printf ("%" G_GINT64_FORMAT " sampled gradient(s) are written with the times of their samples, so "
                           "that their ends are kept",
                           changed));
  return TRUE;
}

/* Block durations are whole raster steps from 1.4 on; before, they need not be. */
static gboolean
plan_raster (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  int64_t raster = s->block_raster;
  for (int64_t b = 0; b < s->blocks; b++)
    for (int64_t x = s->duration[b], rest; x > 0; x = rest) { /* the greatest common divisor */
      rest = raster % x;
      raster = x;
    }
  o->raster = s->block_raster;
  for (int64_t b = 0; b < s->blocks; b++)
    if (s->duration[b] % o->raster) {
      o->raster = raster;
      break;
    }
  if (o->raster < 100000) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "the blocks' durations have no common raster of 100 ns or more, which files from 1.4 on need");
    return FALSE;
  }
  if (o->raster != s->block_raster)
    tell (o, g_strdup_printf ("BlockDurationRaster is %" G_GINT64_FORMAT
                              " ns, since some blocks are not whole steps of %" G_GINT64_FORMAT " ns",
                              o->raster / 1000, s->block_raster / 1000));
  return TRUE;
}

/* ---- the sections ---- */

static void
put_header (Out *o)
{
  const LamPulseq *s = o->seq;
  int revision = s->minor == o->minor ? s->revision : o->minor == 4 ? 1 : 0;
  g_string_append_printf (
      o->text,
      "# Pulseq sequence file\n# Created by Lamina\n\n[VERSION]\nmajor 1\nminor %d\nrevision %d\n\n[DEFINITIONS]\n",
      o->minor, revision);
  const struct {
    const char *key;
    int64_t now, then;
  } rasters[] = {{"AdcRasterTime", s->adc_raster, s->adc_raster},
                 {"BlockDurationRaster", o->raster, s->block_raster},
                 {"GradientRasterTime", s->gradient_raster, s->gradient_raster},
                 {"RadiofrequencyRasterTime", s->rf_raster, s->rf_raster}};
  for (guint i = 0; i < G_N_ELEMENTS (rasters); i++)
    if (!lam_pulseq_definition (s, rasters[i].key) || rasters[i].now != rasters[i].then) {
      g_string_append_printf (o->text, "%s ", rasters[i].key);
      put_double (o, (double) rasters[i].now / 1e12);
      g_string_append_c (o->text, '\n');
    }
  for (guint i = 0; i < s->definitions->len; i++) {
    const LamPulseqDefinition *d = s->definitions->pdata[i];
    if (o->raster != s->block_raster && g_str_equal (d->key, "BlockDurationRaster"))
      continue;
    g_string_append_printf (o->text, "%s %s\n", d->key, d->value);
  }
}

static gboolean
put_blocks (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  gboolean own = s->block_id != NULL;
  for (int64_t b = 1; own && b < s->blocks; b++)
    own = s->block_id[b] > s->block_id[b - 1];
  g_string_append (o->text, "\n# NUM DUR RF GX GY GZ ADC EXT\n[BLOCKS]\n");
  for (int64_t b = 0; b < s->blocks; b++) {
    const int32_t rf = s->event[LAM_PULSEQ_RF][b], adc = s->event[LAM_PULSEQ_ADC][b], ext = s->event[LAM_PULSEQ_EXT][b];
    put_int (o, own ? s->block_id[b] : b + 1);
    space (o);
    put_int (o, s->duration[b] / o->raster);
    space (o);
    put_int (o, rf ? s->rf[rf - 1].id : 0);
    for (int c = LAM_PULSEQ_GX; c <= LAM_PULSEQ_GZ; c++) {
      space (o);
      put_int (o, s->event[c][b] ? s->gradient[s->event[c][b] - 1].id : 0);
    }
    space (o);
    put_int (o, adc ? s->adc[adc - 1].id : 0);
    space (o);
    put_int (o, ext ? s->link[ext - 1].id : 0);
    g_string_append_c (o->text, '\n');
    if (!step (o, error))
      return FALSE;
  }
  return TRUE;
}

/* Of rows with one id only the last is meant. */
#define MAP(map, table, n) lam_pulseq_map_init (map, (table) ? &(table)->id : NULL, n, sizeof *(table), NULL, NULL)

static gboolean
put_rf (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  LamPulseqMap map;
  gboolean ok = TRUE;
  MAP (&map, s->rf, s->rfs);
  if (s->rfs > 0)
    g_string_append (o->text, o->minor >= 5
                                  ? "\n# id amplitude(Hz) magnitude phase time center(us) delay(us) freq(ppm) "
                                    "phase(rad/MHz) freq(Hz) phase(rad) use\n[RF]\n"
                                  : "\n# id amplitude(Hz) magnitude phase time delay(us) freq(Hz) phase(rad)\n[RF]\n");
  for (int64_t i = 0; ok && i < s->rfs; i++) {
    const LamPulseqRf *e = &s->rf[i];
    LamPulseqPulse pulse;
    if (lam_pulseq_map_get (&map, e->id) != i + 1)
      continue;
    put_int (o, e->id);
    space (o);
    put_double (o, e->amplitude);
    space (o);
    put_int (o, shape_id (o, e->magnitude));
    space (o);
    put_int (o, shape_id (o, e->phase));
    space (o);
    put_int (o, shape_id (o, e->time));
    space (o);
    if (o->minor >= 5) {
      if (!e->has_center && !(ok = lam_pulseq_pulse (s, e, &pulse, error)))
        break;
      put_time (o, lam_pulseq_rf_center (e, &pulse), 6);
      space (o);
    }
    put_time (o, e->delay, 6);
    space (o);
    if (o->minor >= 5) {
      put_double (o, e->freq_ppm);
      space (o);
      put_double (o, e->phase_ppm);
      space (o);
    }
    put_double (o, e->freq);
    space (o);
    put_double (o, e->phase_rad);
    if (o->minor >= 5)
      g_string_append_printf (o->text, " %c", lam_pulseq_use_letter (e->use));
    g_string_append_c (o->text, '\n');
    ok = step (o, error);
  }
  lam_pulseq_map_clear (&map);
  return ok;
}

static gboolean
put_gradients (Out *o, gboolean trapezoids, GError **error)
{
  const LamPulseq *s = o->seq;
  LamPulseqMap map;
  gboolean ok = TRUE, any = FALSE;
  MAP (&map, s->gradient, s->gradients);
  for (int64_t i = 0; ok && i < s->gradients; i++) {
    const LamPulseqGradient *g = &s->gradient[i];
    if (g->trapezoid != trapezoids || lam_pulseq_map_get (&map, g->id) != i + 1)
      continue;
    if (!any)
      g_string_append (o->text, trapezoids ? "\n# id amplitude(Hz/m) rise(us) flat(us) fall(us) delay(us)\n[TRAP]\n"
                                : o->minor >= 5 ? "\n# id amplitude(Hz/m) first(Hz/m) last(Hz/m) shape time "
                                                  "delay(us)\n[GRADIENTS]\n"
                                                : "\n# id amplitude(Hz/m) shape time delay(us)\n[GRADIENTS]\n");
    any = TRUE;
    put_int (o, g->id);
    space (o);
    put_double (o, g->amplitude);
    space (o);
    if (trapezoids) {
      put_time (o, g->rise, 6);
      space (o);
      put_time (o, g->flat, 6);
      space (o);
      put_time (o, g->fall, 6);
    } else {
      if (o->minor >= 5) {
        put_double (o, g->first);
        space (o);
        put_double (o, g->last);
        space (o);
      }
      put_int (o, o->instead[i].g ? o->instead[i].shape : shape_id (o, g->shape));
      space (o);
      put_int (o, o->instead[i].g                     ? o->instead[i].time
                  : g->time == LAM_PULSEQ_HALF_RASTER ? -1
                                                      : shape_id (o, g->time));
    }
    space (o);
    put_time (o, g->delay, 6);
    g_string_append_c (o->text, '\n');
    ok = step (o, error);
  }
  lam_pulseq_map_clear (&map);
  return ok;
}

static gboolean
put_adc (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  LamPulseqMap map;
  gboolean ok = TRUE;
  MAP (&map, s->adc, s->adcs);
  if (s->adcs > 0)
    g_string_append (o->text, o->minor >= 5
                                  ? "\n# id num dwell(ns) delay(us) freq(ppm) phase(rad/MHz) freq(Hz) phase(rad) "
                                    "phase_shape\n[ADC]\n"
                                  : "\n# id num dwell(ns) delay(us) freq(Hz) phase(rad)\n[ADC]\n");
  for (int64_t i = 0; ok && i < s->adcs; i++) {
    const LamPulseqAdc *a = &s->adc[i];
    if (lam_pulseq_map_get (&map, a->id) != i + 1)
      continue;
    put_int (o, a->id);
    space (o);
    put_int (o, a->samples);
    space (o);
    put_time (o, a->dwell, 3);
    space (o);
    put_time (o, a->delay, 6);
    space (o);
    if (o->minor >= 5) {
      put_double (o, a->freq_ppm);
      space (o);
      put_double (o, a->phase_ppm);
      space (o);
    }
    put_double (o, a->freq);
    space (o);
    put_double (o, a->phase_rad);
    if (o->minor >= 5) {
      space (o);
      put_int (o, shape_id (o, a->phase_shape));
    }
    g_string_append_c (o->text, '\n');
    ok = step (o, error);
  }
  lam_pulseq_map_clear (&map);
  return ok;
}

static void
put_extension_row (Out *o, const LamPulseqExtension *x, const LamPulseqExtensionRow *row)
{
  put_int (o, row->id);
  space (o);
  switch (x->kind) {
  case LAM_PULSEQ_EXT_TRIGGERS:
    g_string_append_printf (o->text, "%d %d ", row->trigger.type, row->trigger.channel);
    put_time (o, row->trigger.delay, 6);
    space (o);
    put_time (o, row->trigger.duration, 6);
    break;
  case LAM_PULSEQ_EXT_LABELSET:
  case LAM_PULSEQ_EXT_LABELINC:
    put_int (o, row->label.value);
    g_string_append_printf (o->text, " %s", row->label.name);
    break;
  case LAM_PULSEQ_EXT_DELAYS:
    put_int (o, row->delay.number);
    space (o);
    put_time (o, row->delay.offset, 6);
    space (o);
    put_double (o, row->delay.factor);
    g_string_append_printf (o->text, " %s", row->delay.hint);
    break;
  case LAM_PULSEQ_EXT_ROTATIONS:
    for (int i = 0; i < 4; i++) {
      put_double (o, row->rotation[i]);
      if (i < 3)
        space (o);
    }
    break;
  case LAM_PULSEQ_EXT_RF_SHIMS:
    put_int (o, row->shim.channels);
    for (int64_t i = 0; i < 2 * row->shim.channels; i++) {
      space (o);
      put_double (o, row->shim.values[i]);
    }
    break;
  case LAM_PULSEQ_EXT_UNKNOWN:
    break;
  }
  g_string_append_c (o->text, '\n');
}

/* Text that was kept: with one empty line behind it at most. */
static void
put_kept (Out *o, const char *header, const char *text)
{
  g_autofree char *copy = g_strdup (text);
  g_string_append_printf (o->text, "\n%s\n%s\n", header, g_strchomp (copy));
}

static gboolean
put_extensions (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  LamPulseqMap map;
  gboolean ok = TRUE;
  MAP (&map, s->link, s->links);
  if (s->links > 0)
    g_string_append (o->text, "\n# id type ref next\n[EXTENSIONS]\n");
  for (int64_t i = 0; ok && i < s->links; i++) {
    const LamPulseqLink *l = &s->link[i];
    if (lam_pulseq_map_get (&map, l->id) == i + 1)
      g_string_append_printf (o->text, "%d %d %d %d\n", l->id, l->type, l->ref, l->next);
    ok = step (o, error);
  }
  lam_pulseq_map_clear (&map);
  for (guint k = 0; ok && k < s->extensions->len; k++) {
    const LamPulseqExtension *x = s->extensions->pdata[k];
    g_autofree char *header = g_strdup_printf ("extension %s %d", x->name, x->type);
    if (x->kind == LAM_PULSEQ_EXT_UNKNOWN) {
      put_kept (o, header, x->text);
      continue;
    }
    g_string_append_printf (o->text, "\n%s\n", header);
    for (int64_t i = 0; ok && i < x->rows; i++) {
      put_extension_row (o, x, &x->row[i]);
      ok = step (o, error);
    }
  }
  for (guint k = 0; k < s->sections->len; k++) {
    const LamPulseqSection *x = s->sections->pdata[k];
    put_kept (o, x->header, x->text);
  }
  return ok;
}

static gboolean
put_samples (Out *o, int32_t id, int64_t samples, const double *values, int64_t n, GError **error)
{
  g_string_append_printf (o->text, "\nshape_id %d\nnum_samples %" G_GINT64_FORMAT "\n", id, samples);
  for (int64_t i = 0; i < n; i++) {
    put_double (o, values[i]);
    g_string_append_c (o->text, '\n');
    if (!step (o, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
put_explicit (Out *o, const Explicit *e, GError **error)
{
  LamPulseqLine l;
  if (!lam_pulseq_line (o->seq, e->g, &l, error))
    return FALSE;
  double *v = lam_alloc_n (l.points, sizeof *v, "samples of a gradient", error);
  if (!v)
    return FALSE;
  for (int64_t i = 0; i < l.points; i++)
    v[i] = l.amplitude != 0 ? lam_pulseq_line_value (&l, i) / l.amplitude : 0;
  gboolean ok = put_samples (o, e->shape, l.points, v, l.points, error);
  for (int64_t i = 0; i < l.points; i++)
    v[i] = (double) (lam_pulseq_line_time (&l, i) - l.delay) / (double) l.raster;
  ok = ok && put_samples (o, e->time, l.points, v, l.points, error);
  lam_free (v);
  return ok;
}

static gboolean
put_shapes (Out *o, GError **error)
{
  const LamPulseq *s = o->seq;
  LamPulseqMap map;
  gboolean ok = TRUE, any = s->shapes > 0;
  MAP (&map, s->shape, s->shapes);
  if (any)
    g_string_append (o->text, "\n[SHAPES]\n");
  for (int64_t i = 0; ok && i < s->shapes; i++) {
    const LamPulseqShape *shape = &s->shape[i];
    if (lam_pulseq_map_get (&map, shape->id) != i + 1)
      continue;
    /* As many numbers as samples means "as they are" from 1.4 on. */
    gboolean open = shape->compressed && shape->stored == shape->samples;
    const double *v = open ? lam_pulseq_shape_values (s, (int32_t) i, error) : s->stored + shape->offset;
    ok = v && put_samples (o, shape->id, shape->samples, v, shape->stored, error);
  }
  lam_pulseq_map_clear (&map);
  for (int64_t i = 0; ok && i < s->gradients; i++)
    ok = !o->instead[i].g || put_explicit (o, &o->instead[i], error);
  return ok;
}

static gboolean
put_all (Out *o, LamPulseqSign sign, char **hash, GError **error)
{
  put_header (o);
  if (!put_blocks (o, error) || !put_rf (o, error) || !put_gradients (o, FALSE, error)
      || !put_gradients (o, TRUE, error) || !put_adc (o, error) || !put_extensions (o, error) || !put_shapes (o, error))
    return FALSE;
  g_checksum_update (o->sum, (const guchar *) o->text->str, o->text->len);
  const char *type = sign == LAM_PULSEQ_SIGN ? "md5" : o->seq->signature_type;
  const char *digest = sign == LAM_PULSEQ_SIGN ? g_checksum_get_string (o->sum) : o->seq->signature_hash;
  if (sign != LAM_PULSEQ_SIGN_NOT && type && digest) {
    g_string_append_printf (o->text,
                            "\n[SIGNATURE]\n# The digest of all that comes before the line's end in front of "
                            "[SIGNATURE].\nType %s\nHash %s\n",
                            type, digest);
    if (hash)
      *hash = g_strdup (digest);
  }
  return flush (o, error) && lam_atomic_commit (o->file, error);
}

gboolean
lam_pulseq_write (const LamPulseq *seq, const char *path, int minor, LamPulseqSign sign, const LamIoControl *control,
                  GPtrArray **told, char **hash, GError **error)
{
  if (hash)
    *hash = NULL;
  if (minor != 4 && minor != 5) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "Pulseq files of version 1.%d cannot be written; write 1.4 or 1.5", minor);
    return FALSE;
  }
  Out o = {.seq = seq, .minor = minor, .control = control};
  o.told = g_ptr_array_new_with_free_func (g_free);
  o.text = g_string_sized_new (PIECE + 4096);
  o.sum = g_checksum_new (G_CHECKSUM_MD5);
  gboolean ok = check_version (&o, error) && plan_raster (&o, error) && plan_gradients (&o, error)
                && (o.file = lam_atomic_new (path, error)) && put_all (&o, sign, hash, error);
  lam_atomic_free (o.file);
  g_checksum_free (o.sum);
  g_string_free (o.text, TRUE);
  g_free (o.instead);
  if (ok && told)
    *told = g_steal_pointer (&o.told);
  g_clear_pointer (&o.told, g_ptr_array_unref);
  return ok;
}
