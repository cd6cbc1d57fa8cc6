#include "pulseq-util.h"

#include <math.h>
#include <string.h>

char *
pulseq_gre (int64_t blocks, gsize *size)
{
  const int steps = 256;
  GString *t = g_string_sized_new (blocks * 40 + (1 << 20));
  g_string_append (t,
                   "[VERSION]\nmajor 1\nminor 5\nrevision 0\n\n[DEFINITIONS]\nAdcRasterTime 1e-07\n"
                   "BlockDurationRaster 1e-05\nGradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n\n[BLOCKS]\n");
  for (int64_t b = 0; b < blocks; b++) {
    int64_t n = b / 5 % steps;
    int which = b % 5, rf = (int) n + 1, gy = 10 + (int) n;
    static const int durations[] = {316, 100, 336, 500, 148};
    g_string_append_printf (t, "%" G_GINT64_FORMAT " %d %d %d %d %d %d 0\n", b + 1, durations[which],
                            which == 0 ? rf : 0,
                            which == 1   ? 2
                            : which == 2 ? 3
                            : which == 4 ? 4
                                         : 0,
                            which == 1 || which == 4 ? gy : 0,
                            which == 0   ? 1
                            : which == 1 ? 5
                            : which == 4 ? 6
                                         : 0,
                            which == 2 ? rf : 0);
  }
  g_string_append (t, "\n[RF]\n");
  for (int n = 0; n < steps; n++) {
    char phase[32];
    g_ascii_formatd (phase, sizeof phase, "%.9g", fmod (117 * 0.5 * n * (n + 1.0), 360) * G_PI / 180);
    g_string_append_printf (t, "%d 49.09 1 2 0 1500 100 0 0 0 %s e\n", n + 1, phase);
  }
  g_string_append (t, "\n[TRAP]\n1 444444 50 3000 50 0\n2 -201613 100 800 100 0\n3 78125 80 3200 80 0\n"
                      "4 300000 90 1000 90 0\n5 -750000 90 820 90 0\n6 600000 90 1000 90 0\n");
  for (int n = 0; n < steps; n++)
    g_string_append_printf (t, "%d %d 100 800 100 0\n", 10 + n, (n - steps / 2) * 4340);
  g_string_append (t, "\n[ADC]\n");
  for (int n = 0; n < steps; n++) {
    char phase[32];
    g_ascii_formatd (phase, sizeof phase, "%.9g", fmod (117 * 0.5 * n * (n + 1.0), 360) * G_PI / 180);
    g_string_append_printf (t, "%d 256 12500 80 0 0 0 %s 0\n", n + 1, phase);
  }
  g_string_append (t, "\n[SHAPES]\n\nshape_id 1\nnum_samples 3000\n");
  for (int i = 0; i < 3000; i++) {
    char v[32];
    double x = (i - 1499.5) / 3000 * 4;
    g_string_append_printf (t, "%s\n", g_ascii_formatd (v, sizeof v, "%.9g", fabs (sin (G_PI * x) / (G_PI * x))));
  }
  g_string_append (t, "\nshape_id 2\nnum_samples 3000\n0.5\n0\n0\n747\n-0.5\n0\n0\n1498\n0.5\n0\n0\n746\n");
  *size = t->len;
  return g_string_free (t, FALSE);
}

char *
pulseq_empty (int64_t blocks, int64_t steps, gsize *size)
{
  GString *t = g_string_sized_new (blocks * 32 + 4096);
  g_string_append (t,
                   "[VERSION]\nmajor 1\nminor 5\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\n"
                   "BlockDurationRaster 1e-05\nGradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n[BLOCKS]\n");
  for (int64_t b = 0; b < blocks; b++)
    g_string_append_printf (t, "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " 0 0 0 0 0 0\n", b + 1, steps);
  *size = t->len;
  return g_string_free (t, FALSE);
}

/* ---- the binary form ---- */

static void
put (GByteArray *a, const void *p, gsize n)
{
  g_byte_array_append (a, p, n);
}

static void
i32 (GByteArray *a, int64_t v)
{
  gint32 le = GINT32_TO_LE ((gint32) v);
  put (a, &le, 4);
}

static void
i64 (GByteArray *a, int64_t v)
{
  gint64 le = GINT64_TO_LE (v);
  put (a, &le, 8);
}

static void
f64 (GByteArray *a, double v)
{
  put (a, &v, 8); /* the machines that the tests run on are little-endian */
}

static void
section (GByteArray *a, int64_t n)
{
  i64 (a, (int64_t) (UINT64_C (0xFFFFFFFF00000000) | (guint64) n));
}

static int32_t
shape_id (const LamPulseq *s, int32_t row)
{
  return row >= 0 ? s->shape[row].id : 0;
}

static void
put_gradients (GByteArray *a, const LamPulseq *s, gboolean trapezoids)
{
  int64_t n = 0;
  for (int64_t i = 0; i < s->gradients; i++)
    n += s->gradient[i].trapezoid == trapezoids;
  if (n == 0)
    return;
  section (a, trapezoids ? 5 : 4);
  i64 (a, n);
  for (int64_t i = 0; i < s->gradients; i++) {
    const LamPulseqGradient *g = &s->gradient[i];
    if (g->trapezoid != trapezoids)
      continue;
    i32 (a, g->id);
    f64 (a, g->amplitude);
    if (trapezoids) {
      i64 (a, g->rise);
      i64 (a, g->flat);
      i64 (a, g->fall);
    } else {
      f64 (a, g->first);
      f64 (a, g->last);
      i32 (a, shape_id (s, g->shape));
      i32 (a, g->time == LAM_PULSEQ_HALF_RASTER ? -1 : shape_id (s, g->time));
    }
    i64 (a, g->delay);
  }
}

static void
put_extension (GByteArray *a, const LamPulseqExtension *x)
{
  static const int codes[] = {10, 11, 12, 13, 15, 14};
  section (a, codes[x->kind]);
  i32 (a, x->type);
  i64 (a, x->rows);
  for (int64_t i = 0; i < x->rows; i++) {
    const LamPulseqExtensionRow *r = &x->row[i];
    i32 (a, r->id);
    switch (x->kind) {
    case LAM_PULSEQ_EXT_TRIGGERS:
      i32 (a, r->trigger.type);
      i32 (a, r->trigger.channel);
      i64 (a, r->trigger.delay);
      i64 (a, r->trigger.duration);
      break;
    case LAM_PULSEQ_EXT_LABELSET:
    case LAM_PULSEQ_EXT_LABELINC: {
      int number = 1;
      while (g_strcmp0 (lam_pulseq_label_name (number), r->label.name) != 0)
        number++;
      i32 (a, r->label.value);
      i32 (a, number);
      break;
    }
    case LAM_PULSEQ_EXT_DELAYS:
      i32 (a, r->delay.number);
      i64 (a, r->delay.offset);
      f64 (a, r->delay.factor);
      i32 (a, strlen (r->delay.hint));
      put (a, r->delay.hint, strlen (r->delay.hint));
      break;
    case LAM_PULSEQ_EXT_ROTATIONS:
      for (int k = 0; k < 4; k++)
        f64 (a, r->rotation[k]);
      break;
    case LAM_PULSEQ_EXT_RF_SHIMS:
      i32 (a, r->shim.channels);
      for (int64_t k = 0; k < 2 * r->shim.channels; k++)
        f64 (a, r->shim.values[k]);
      break;
    case LAM_PULSEQ_EXT_UNKNOWN:
      break;
    }
  }
}

GByteArray *
pulseq_binary (const LamPulseq *s)
{
  GByteArray *a = g_byte_array_new ();
  put (a, "\001pulseq\002", 8);
  i64 (a, 1);
  i64 (a, 5);
  i64 (a, 2);
  section (a, 1);
  i64 (a, s->definitions->len);
  for (guint i = 0; i < s->definitions->len; i++) {
    const LamPulseqDefinition *d = s->definitions->pdata[i];
    char *end;
    double v = g_ascii_strtod (d->value, &end);
    i32 (a, strlen (d->key));
    put (a, d->key, strlen (d->key));
    if (!*end && end > d->value) { /* one number */
      i32 (a, 1);
      put (a, "f", 1);
      f64 (a, v);
    } else {
      i32 (a, strlen (d->value));
      put (a, "c", 1);
      put (a, d->value, strlen (d->value));
    }
  }
  section (a, 2);
  i64 (a, s->blocks);
  for (int64_t b = 0; b < s->blocks; b++) {
    i64 (a, s->duration[b] / s->block_raster);
    const int32_t *e[LAM_PULSEQ_COLUMNS];
    memcpy (e, s->event, sizeof e);
    i32 (a, e[0][b] ? s->rf[e[0][b] - 1].id : 0);
    for (int c = 1; c <= 3; c++)
      i32 (a, e[c][b] ? s->gradient[e[c][b] - 1].id : 0);
    i32 (a, e[4][b] ? s->adc[e[4][b] - 1].id : 0);
    i32 (a, e[5][b] ? s->link[e[5][b] - 1].id : 0);
  }
  if (s->rfs > 0) {
    section (a, 3);
    i64 (a, s->rfs);
  }
  for (int64_t i = 0; i < s->rfs; i++) {
    const LamPulseqRf *r = &s->rf[i];
    char use = lam_pulseq_use_letter (r->use);
    i32 (a, r->id);
    f64 (a, r->amplitude);
    i32 (a, shape_id (s, r->magnitude));
    i32 (a, shape_id (s, r->phase));
    i32 (a, shape_id (s, r->time));
    i64 (a, r->center);
    i64 (a, r->delay);
    f64 (a, r->freq_ppm);
    f64 (a, r->phase_ppm);
    f64 (a, r->freq);
    f64 (a, r->phase_rad);
    put (a, &use, 1);
  }
  put_gradients (a, s, FALSE);
  put_gradients (a, s, TRUE);
  if (s->adcs > 0) {
    section (a, 6);
    i64 (a, s->adcs);
  }
  for (int64_t i = 0; i < s->adcs; i++) {
    const LamPulseqAdc *r = &s->adc[i];
    i32 (a, r->id);
    i64 (a, r->samples);
    i64 (a, r->dwell);
    i64 (a, r->delay);
    f64 (a, r->freq_ppm);
    f64 (a, r->phase_ppm);
    f64 (a, r->freq);
    f64 (a, r->phase_rad);
    i32 (a, shape_id (s, r->phase_shape));
  }
  section (a, 8);
  i64 (a, s->shapes);
  for (int64_t i = 0; i < s->shapes; i++) {
    i32 (a, s->shape[i].id);
    i64 (a, s->shape[i].samples);
    i64 (a, s->shape[i].stored);
    for (int64_t k = 0; k < s->shape[i].stored; k++) {
      float v = (float) s->stored[s->shape[i].offset + k];
      put (a, &v, 4);
    }
  }
  section (a, 9);
  i64 (a, s->links);
  for (int64_t i = 0; i < s->links; i++) {
    i32 (a, s->link[i].id);
    i32 (a, s->link[i].type);
    i32 (a, s->link[i].ref);
    i32 (a, s->link[i].next);
  }
  for (guint i = 0; i < s->extensions->len; i++)
    put_extension (a, s->extensions->pdata[i]);
  g_autofree char *digest = g_compute_checksum_for_data (G_CHECKSUM_MD5, a->data, a->len);
  gsize signed_size = a->len;
  section (a, 0xFFFFFF);
  i32 (a, 3);
  put (a, "md5", 3);
  i32 (a, 16);
  for (int i = 0; i < 16; i++) {
    guint8 byte = (guint8) (g_ascii_xdigit_value (digest[2 * i]) << 4 | g_ascii_xdigit_value (digest[2 * i + 1]));
    put (a, &byte, 1);
  }
  i64 (a, (int64_t) signed_size);
  return a;
}

/* ---- comparing ---- */

static void
same_shape (const LamPulseq *a, int32_t x, const LamPulseq *b, int32_t y, gboolean single)
{
  g_assert_cmpint (x < 0 ? x : 0, ==, y < 0 ? y : 0);
  if (x < 0)
    return;
  g_assert_cmpint (a->shape[x].samples, ==, b->shape[y].samples);
  const double *p = lam_pulseq_shape_values (a, x, NULL), *q = lam_pulseq_shape_values (b, y, NULL);
  for (int64_t i = 0; i < a->shape[x].samples; i++)
    g_assert_cmpfloat_with_epsilon (p[i], q[i], single ? 1e-4 : 1e-15);
}

static void
same_events (const LamPulseq *a, const LamPulseq *b, gboolean single)
{
  g_assert_cmpint (a->rfs, ==, b->rfs);
  g_assert_cmpint (a->gradients, ==, b->gradients);
  g_assert_cmpint (a->adcs, ==, b->adcs);
  g_assert_cmpint (a->links, ==, b->links);
  for (int64_t i = 0; i < a->rfs; i++) {
    const LamPulseqRf *x = &a->rf[i], *y = &b->rf[i];
    g_assert_cmpint (x->id, ==, y->id);
    g_assert_cmpint (x->delay, ==, y->delay);
    g_assert_cmpfloat (x->amplitude, ==, y->amplitude);
    g_assert_cmpfloat (x->freq, ==, y->freq);
    g_assert_cmpfloat (x->phase_rad, ==, y->phase_rad);
    g_assert_cmpfloat (x->freq_ppm, ==, y->freq_ppm);
    g_assert_cmpfloat (x->phase_ppm, ==, y->phase_ppm);
    if (x->has_center && y->has_center)
      g_assert_cmpint (x->center, ==, y->center);
    g_assert_cmpint (x->time < 0 ? x->time : 0, ==, y->time < 0 ? y->time : 0);
    same_shape (a, x->magnitude, b, y->magnitude, single);
    same_shape (a, x->phase, b, y->phase, single);
    same_shape (a, x->time, b, y->time, FALSE);
  }
  for (int64_t i = 0; i < a->gradients; i++) {
    const LamPulseqGradient *x = &a->gradient[i], *y = &b->gradient[i];
    g_assert_cmpint (x->id, ==, y->id);
    g_assert_cmpint (x->trapezoid, ==, y->trapezoid);
    g_assert_cmpint (x->delay, ==, y->delay);
    g_assert_cmpfloat (x->amplitude, ==, y->amplitude);
    g_assert_cmpint (x->rise, ==, y->rise);
    g_assert_cmpint (x->flat, ==, y->flat);
    g_assert_cmpint (x->fall, ==, y->fall);
    if (x->trapezoid)
      continue;
    if (x->time < 0) {                                                      /* else the samples say it */
      double small = a->minor == b->minor ? 0 : 1e-6 * fabs (x->amplitude); /* 1.4 does not hold them */
      g_assert_cmpfloat_with_epsilon (x->first, y->first, small + 1e-300);
      g_assert_cmpfloat_with_epsilon (x->last, y->last, small + 1e-300);
    }
    g_assert_cmpint (x->time < 0 ? x->time : 0, ==, y->time < 0 ? y->time : 0);
    same_shape (a, x->shape, b, y->shape, single);
    same_shape (a, x->time, b, y->time, FALSE);
  }
  for (int64_t i = 0; i < a->adcs; i++) {
    const LamPulseqAdc *x = &a->adc[i], *y = &b->adc[i];
    g_assert_cmpint (x->id, ==, y->id);
    g_assert_cmpint (x->samples, ==, y->samples);
    g_assert_cmpint (x->dwell, ==, y->dwell);
    g_assert_cmpint (x->delay, ==, y->delay);
    g_assert_cmpfloat (x->freq, ==, y->freq);
    g_assert_cmpfloat (x->phase_rad, ==, y->phase_rad);
    g_assert_cmpfloat (x->freq_ppm, ==, y->freq_ppm);
    g_assert_cmpfloat (x->phase_ppm, ==, y->phase_ppm);
    same_shape (a, x->phase_shape, b, y->phase_shape, single);
  }
}

static void
same_extensions (const LamPulseq *a, const LamPulseq *b)
{
  for (int64_t i = 0; i < a->links; i++) {
    g_assert_cmpint (a->link[i].id, ==, b->link[i].id);
    g_assert_cmpint (a->link[i].type, ==, b->link[i].type);
    g_assert_cmpint (a->link[i].ref, ==, b->link[i].ref);
    g_assert_cmpint (a->link[i].next, ==, b->link[i].next);
    g_assert_cmpint (a->link[i].rotation, ==, b->link[i].rotation);
  }
  g_assert_cmpint (a->extensions->len, ==, b->extensions->len);
  for (guint k = 0; k < a->extensions->len; k++) {
    const LamPulseqExtension *x = a->extensions->pdata[k], *y = b->extensions->pdata[k];
    g_assert_cmpstr (x->name, ==, y->name);
    g_assert_cmpint (x->type, ==, y->type);
    g_assert_cmpint (x->rows, ==, y->rows);
    if (x->kind == LAM_PULSEQ_EXT_UNKNOWN) {
      g_autofree char *p = g_strdup (x->text), *q = g_strdup (y->text);
      g_assert_cmpstr (g_strchomp (p), ==, g_strchomp (q));
    }
    for (int64_t i = 0; i < x->rows; i++) {
      const LamPulseqExtensionRow *p = &x->row[i], *q = &y->row[i];
      g_assert_cmpint (p->id, ==, q->id);
      if (x->kind == LAM_PULSEQ_EXT_TRIGGERS)
        g_assert_cmpmem (&p->trigger, sizeof p->trigger, &q->trigger, sizeof q->trigger);
      if (x->kind == LAM_PULSEQ_EXT_LABELSET || x->kind == LAM_PULSEQ_EXT_LABELINC) {
        g_assert_cmpint (p->label.value, ==, q->label.value);
        g_assert_cmpstr (p->label.name, ==, q->label.name);
      }
      if (x->kind == LAM_PULSEQ_EXT_DELAYS) {
        g_assert_cmpint (p->delay.number, ==, q->delay.number);
        g_assert_cmpint (p->delay.offset, ==, q->delay.offset);
        g_assert_cmpfloat (p->delay.factor, ==, q->delay.factor);
        g_assert_cmpstr (p->delay.hint, ==, q->delay.hint);
      }
      for (int c = 0; x->kind == LAM_PULSEQ_EXT_ROTATIONS && c < 4; c++)
        g_assert_cmpfloat_with_epsilon (p->rotation[c], q->rotation[c], 1e-15);
      if (x->kind == LAM_PULSEQ_EXT_RF_SHIMS) {
        g_assert_cmpint (p->shim.channels, ==, q->shim.channels);
        for (int64_t c = 0; c < 2 * p->shim.channels; c++)
          g_assert_cmpfloat (p->shim.values[c], ==, q->shim.values[c]);
      }
    }
  }
}

void
pulseq_assert_same (const LamPulseq *a, const LamPulseq *b, gboolean single)
{
  g_assert_cmpint (a->blocks, ==, b->blocks);
  for (int64_t i = 0; i < a->blocks; i++) {
    g_assert_cmpint (a->duration[i], ==, b->duration[i]);
    for (int c = 0; c < LAM_PULSEQ_COLUMNS; c++)
      g_assert_cmpint (a->event[c][i], ==, b->event[c][i]);
  }
  same_events (a, b, single);
  same_extensions (a, b);
  for (guint i = 0; i < a->definitions->len; i++) {
    const LamPulseqDefinition *d = a->definitions->pdata[i];
    const char *other = lam_pulseq_definition (b, d->key);
    char *end;
    double v = g_ascii_strtod (d->value, &end);
    if (!*end && end > d->value)
      g_assert_cmpfloat (v, ==, g_ascii_strtod (other, NULL));
    else
      g_assert_cmpstr (d->value, ==, other);
  }
  for (guint i = 0; i < a->sections->len; i++) {
    const LamPulseqSection *x = a->sections->pdata[i], *y = b->sections->pdata[i];
    g_assert_cmpstr (x->header, ==, y->header);
    g_autofree char *p = g_strdup (x->text), *q = g_strdup (y->text);
    g_assert_cmpstr (g_strchomp (p), ==, g_strchomp (q));
  }
}
