/* pulseq-binary.c: the binary form of 1.5 (its sections and numbers are those of the specification of 1.5.2). Little-endian;
 * times are whole ps, block durations raster steps. Every count is held against the bytes that are left before anything is
 * allocated. Problems name byte offsets. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/pulseq-private.h"

typedef struct {
  LamPulseqReader *r;
  const char *data;
  gsize size, at;
} Bytes;

static gboolean
refuse (const Bytes *b, GError **error, const char *what)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: byte %" G_GSIZE_FORMAT ": %s", b->r->name, b->at, what);
  return FALSE;
}

static gboolean
get (Bytes *b, void *to, gsize n, GError **error)
{
  if (b->size - b->at < n)
    return refuse (b, error, "the file is cut off here");
  memcpy (to, b->data + b->at, n);
  b->at += n;
  return TRUE;
}

static gboolean
get_i32 (Bytes *b, int32_t low, int32_t *value, GError **error)
{
  int32_t v = 0;
  if (!get (b, &v, sizeof v, error))
    return FALSE;
  *value = GINT32_FROM_LE (v);
  return (*value >= low && *value < G_MAXINT32) || refuse (b, error, "a number is out of range; the file is broken");
}

static gboolean
get_i64 (Bytes *b, int64_t low, int64_t high, int64_t *value, GError **error)
{
  int64_t v = 0;
  if (!get (b, &v, sizeof v, error))
    return FALSE;
  *value = GINT64_FROM_LE (v);
  return (*value >= low && *value <= high) || refuse (b, error, "a number is out of range; the file is broken");
}

static gboolean
get_ps (Bytes *b, int64_t *value, GError **error)
{
  return get_i64 (b, 0, LAM_PULSEQ_MAX_PS, value, error);
}

static gboolean
get_f64 (Bytes *b, double *value, GError **error)
{
  guint64 v = 0;
  if (!get (b, &v, sizeof v, error))
    return FALSE;
  v = GUINT64_FROM_LE (v);
  memcpy (value, &v, sizeof v);
  return isfinite (*value) || refuse (b, error, "a value is not a finite number");
}

/* How many rows follow, each of at least @bytes. */
static gboolean
get_count (Bytes *b, int64_t bytes, int64_t *n, GError **error)
{
  if (!get_i64 (b, 0, G_MAXINT32 - 2, n, error))
    return FALSE;
  if (*n > (int64_t) (b->size - b->at) / bytes)
    return refuse (b, error, "the file is cut off, or says more rows than it has");
  return TRUE;
}

/* @n bytes as text; g_free (). */
static char *
get_text (Bytes *b, int64_t n, GError **error)
{
  if (n < 0 || n > (int64_t) (b->size - b->at)) {
    refuse (b, error, "a text is longer than the file");
    return NULL;
  }
  g_autofree char *raw = g_strndup (b->data + b->at, n); /* an end mark is no part of it */
  b->at += n;
  return g_utf8_make_valid (raw, -1);
}

/* Rows in a table that may hold some already. */
static gboolean
more_rows (void **table, int64_t have, int64_t n, int64_t size, const char *what, GError **error)
{
  void *rows = lam_alloc_n (have + n, size, what, error);
  if (!rows)
    return FALSE;
  memset (rows, 0, (have + n) * size);
  if (have > 0)
    memcpy (rows, *table, have * size);
  lam_free (*table);
  *table = rows;
  return TRUE;
}

/* ---- sections ---- */

static gboolean
read_definitions (Bytes *b, GError **error)
{
  int64_t n;
  if (!get_count (b, 9, &n, error))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    int32_t length = 0, count = 0;
    char type = 0;
    if (!get_i32 (b, 0, &length, error))
      return FALSE;
    LamPulseqDefinition *d = g_new0 (LamPulseqDefinition, 1);
    g_ptr_array_add (b->r->seq->definitions, d);
    if (!(d->key = get_text (b, length, error)) || !get_i32 (b, 0, &count, error) || !get (b, &type, 1, error))
      return FALSE;
    if (type == 'c') {
      if (!(d->value = get_text (b, count, error)))
        return FALSE;
      g_strdelimit (d->value, "\n\r", ' ');
      continue;
    }
    if (type != 'f' && type != 'i')
      return refuse (b, error, "a definition is of a type that is not known");
    if (count > (int64_t) (b->size - b->at) / (type == 'f' ? 8 : 4))
      return refuse (b, error, "a definition is longer than the file");
    g_autoptr (GString) text = g_string_new (NULL);
    for (int32_t k = 0; k < count; k++) {
      char number[G_ASCII_DTOSTR_BUF_SIZE];
      double v = 0;
      int32_t whole = 0;
      if (!(type == 'f' ? get_f64 (b, &v, error) : get_i32 (b, G_MININT32, &whole, error)))
        return FALSE;
      for (int digits = 6; digits <= 17; digits++) {
        char form[8];
        g_snprintf (form, sizeof form, "%%.%dg", digits);
        g_ascii_formatd (number, sizeof number, form, type == 'f' ? v : whole);
        if (g_ascii_strtod (number, NULL) == (type == 'f' ? v : whole))
          break;
      }
      g_string_append_printf (text, "%s%s", k ? " " : "", number);
    }
    d->value = g_string_free (g_steal_pointer (&text), FALSE);
  }
  return TRUE;
}

static gboolean
read_blocks (Bytes *b, GError **error)
{
  LamPulseq *s = b->r->seq;
  const LamPulseqMap *maps[] = {&b->r->rfs,       &b->r->gradients, &b->r->gradients,
                                &b->r->gradients, &b->r->adcs,      &b->r->links};
  static const char *const names[] = {"RF event", "gradient", "gradient", "gradient", "ADC event", "extension"};
  int64_t n;
  if (!get_count (b, 32, &n, error) || !lam_pulseq_reserve (s, s->blocks + n, error))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    int64_t steps = 0, row = s->blocks;
    if (!get_i64 (b, 0, LAM_PULSEQ_MAX_PS, &steps, error))
      return FALSE;
    s->duration[row] = lam_mul_size (steps, s->block_raster);
    if (s->duration[row] < 0 || s->duration[row] > LAM_PULSEQ_MAX_PS)
      return refuse (b, error, "a block lasts more than 11 days");
    for (int c = 0; c < LAM_PULSEQ_COLUMNS; c++) {
      int32_t id = 0;
      if (!get_i32 (b, 0, &id, error))
        return FALSE;
      s->event[c][row] = id ? lam_pulseq_map_get (maps[c], id) : 0;
      if (id && !s->event[c][row])
        lam_pulseq_problem_take (
            s, LAM_PULSEQ_ERROR, b->at - 3, 0,
            g_strdup_printf ("block %" G_GINT64_FORMAT " means %s %d, which is not there", row + 1, names[c], id),
            g_strdup ("none"));
    }
    s->blocks++;
    if ((i & 0xffff) == 0
        && !lam_io_control_step (b->r->control, 0.5 + 0.5 * (double) i / (double) n, "sequence", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_rf (Bytes *b, GError **error)
{
  LamPulseq *s = b->r->seq;
  int64_t n;
  if (!get_count (b, 73, &n, error) || !more_rows ((void **) &s->rf, s->rfs, n, sizeof *s->rf, "RF events", error))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    LamPulseqRf *e = &s->rf[s->rfs];
    char use = 0;
    if (!get_i32 (b, 1, &e->id, error) || !get_f64 (b, &e->amplitude, error) || !get_i32 (b, 0, &e->magnitude, error)
        || !get_i32 (b, 0, &e->phase, error) || !get_i32 (b, 0, &e->time, error) || !get_ps (b, &e->center, error)
        || !get_ps (b, &e->delay, error) || !get_f64 (b, &e->freq_ppm, error) || !get_f64 (b, &e->phase_ppm, error)
        || !get_f64 (b, &e->freq, error) || !get_f64 (b, &e->phase_rad, error) || !get (b, &use, 1, error))
      return FALSE;
    e->has_center = TRUE;
    if (!lam_pulseq_use_from_letter (use, &e->use))
      lam_pulseq_problem_take (
          s, LAM_PULSEQ_ERROR, b->at, 0,
          g_strdup_printf ("RF event %d: its use is the byte %d; expected one of e r i s p o u", e->id, (guchar) use),
          g_strdup ("undefined"));
    s->rfs++;
  }
  return TRUE;
}

static gboolean
read_gradients (Bytes *b, gboolean trapezoid, GError **error)
{
  LamPulseq *s = b->r->seq;
  int64_t n;
  if (!get_count (b, 44, &n, error)
      || !more_rows ((void **) &s->gradient, s->gradients, n, sizeof *s->gradient, "gradients", error))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    LamPulseqGradient *g = &s->gradient[s->gradients];
    g->trapezoid = trapezoid;
    if (!get_i32 (b, 1, &g->id, error) || !get_f64 (b, &g->amplitude, error)
        || !(trapezoid ? get_ps (b, &g->rise, error) && get_ps (b, &g->flat, error) && get_ps (b, &g->fall, error)
                       : get_f64 (b, &g->first, error) && get_f64 (b, &g->last, error)
                             && get_i32 (b, 0, &g->shape, error) && get_i32 (b, -1, &g->time, error))
        || !get_ps (b, &g->delay, error))
      return FALSE;
    s->gradients++;
  }
  return TRUE;
}

static gboolean
read_adc (Bytes *b, GError **error)
{
  LamPulseq *s = b->r->seq;
  int64_t n;
  if (!get_count (b, 64, &n, error) || !more_rows ((void **) &s->adc, s->adcs, n, sizeof *s->adc, "ADC events", error))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    LamPulseqAdc *a = &s->adc[s->adcs];
    if (!get_i32 (b, 1, &a->id, error) || !get_i64 (b, 0, LAM_PULSEQ_MAX_PS, &a->samples, error)
        || !get_ps (b, &a->dwell, error) || !get_ps (b, &a->delay, error) || !get_f64 (b, &a->freq_ppm, error)
        || !get_f64 (b, &a->phase_ppm, error) || !get_f64 (b, &a->freq, error) || !get_f64 (b, &a->phase_rad, error)
        || !get_i32 (b, 0, &a->phase_shape, error))
      return FALSE;
    int64_t all = lam_mul_size (a->samples, a->dwell);
    if (all < 0 || all > LAM_PULSEQ_MAX_PS || (a->dwell == 0 && a->samples > LAM_PULSEQ_MAX_SAMPLES))
      return refuse (b, error, "an ADC event reads more samples than can be played");
    s->adcs++;
  }
  return TRUE;
}

static gboolean
read_shapes (Bytes *b, GError **error)
{
  LamPulseq *s = b->r->seq;
  int64_t n, numbers = 0;
  if (s->shapes > 0)
    return refuse (b, error, "there are shapes twice");
  if (!get_count (b, 20, &n, error))
    return FALSE;
  Bytes ahead = *b; /* how many numbers in all */
  for (int64_t i = 0; i < n; i++) {
    int64_t samples, stored;
    int32_t id;
    if (!get_i32 (&ahead, 1, &id, error) || !get_i64 (&ahead, 1, LAM_PULSEQ_MAX_SAMPLES, &samples, error)
        || !get_count (&ahead, 4, &stored, error))
      return FALSE;
    ahead.at += stored * 4;
    numbers += stored;
  }
  if (!more_rows ((void **) &s->shape, 0, n, sizeof *s->shape, "shapes", error)
      || !more_rows ((void **) &s->stored, 0, numbers, sizeof *s->stored, "samples of shapes", error))
    return FALSE;
  numbers = 0;
  for (int64_t i = 0; i < n; i++) {
    LamPulseqShape *shape = &s->shape[s->shapes];
    const char *why = NULL;
    if (!get_i32 (b, 1, &shape->id, error) || !get_i64 (b, 1, LAM_PULSEQ_MAX_SAMPLES, &shape->samples, error)
        || !get_count (b, 4, &shape->stored, error))
      return FALSE;
    shape->offset = numbers;
    for (int64_t k = 0; k < shape->stored; k++) {
      guint32 bits = 0;
      float v;
      if (!get (b, &bits, 4, error))
        return FALSE;
      bits = GUINT32_FROM_LE (bits);
      memcpy (&v, &bits, 4);
      if (!isfinite (v))
        return refuse (b, error, "a sample is not a finite number");
      s->stored[numbers++] = v;
    }
    shape->compressed = shape->stored != shape->samples;
    s->shapes++;
    if (shape->compressed && !lam_pulseq_shape_valid (s->stored + shape->offset, shape->stored, shape->samples, &why)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                   "%s: byte %" G_GSIZE_FORMAT ": shape %d: %s; the file is broken there", b->r->name, b->at, shape->id,
                   why);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_links (Bytes *b, GError **error)
{
  LamPulseq *s = b->r->seq;
  int64_t n;
  if (!get_count (b, 16, &n, error)
      || !more_rows ((void **) &s->link, s->links, n, sizeof *s->link, "extensions", error))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    LamPulseqLink *l = &s->link[s->links];
    l->rotation = -1;
    if (!get_i32 (b, 1, &l->id, error) || !get_i32 (b, 0, &l->type, error) || !get_i32 (b, 0, &l->ref, error)
        || !get_i32 (b, 0, &l->next, error))
      return FALSE;
    s->links++;
  }
  return TRUE;
}

static gboolean
read_extension_row (Bytes *b, LamPulseqExtensionKind kind, LamPulseqExtensionRow *row, GError **error)
{
  if (!get_i32 (b, 1, &row->id, error))
    return FALSE;
  switch (kind) {
  case LAM_PULSEQ_EXT_TRIGGERS:
    return get_i32 (b, 0, &row->trigger.type, error) && get_i32 (b, 0, &row->trigger.channel, error)
           && get_ps (b, &row->trigger.delay, error) && get_ps (b, &row->trigger.duration, error);
  case LAM_PULSEQ_EXT_LABELSET:
  case LAM_PULSEQ_EXT_LABELINC: {
    int32_t value = 0, number = 0;
    if (!get_i32 (b, G_MININT32, &value, error) || !get_i32 (b, 1, &number, error))
      return FALSE;
    const char *name = lam_pulseq_label_name (number);
    row->label.value = value;
    row->label.name = name ? g_strdup (name) : g_strdup_printf ("LABEL%d", number);
    if (!name)
      lam_pulseq_problem_take (b->r->seq, LAM_PULSEQ_WARNING, b->at, 0,
                               g_strdup_printf ("label number %d is not known", number), g_strdup (row->label.name));
    return TRUE;
  }
  case LAM_PULSEQ_EXT_DELAYS: {
    int32_t number = 0, length = 0;
    if (!get_i32 (b, G_MININT32, &number, error)
        || !get_i64 (b, -LAM_PULSEQ_MAX_PS, LAM_PULSEQ_MAX_PS, &row->delay.offset, error)
        || !get_f64 (b, &row->delay.factor, error) || !get_i32 (b, 0, &length, error)
        || !(row->delay.hint = get_text (b, length, error)))
      return FALSE;
    row->delay.number = number;
    g_strdelimit (row->delay.hint, "\n\r", ' ');
    return TRUE;
  }
  case LAM_PULSEQ_EXT_ROTATIONS: {
    double norm = 0;
    for (int i = 0; i < 4; i++) {
      if (!get_f64 (b, &row->rotation[i], error))
        return FALSE;
      norm += row->rotation[i] * row->rotation[i];
    }
    if (!(norm > 1e-12 && norm < 1e12))
      return refuse (b, error, "a rotation's quaternion is 0; expected one of length 1");
    for (int i = 0; i < 4; i++)
      row->rotation[i] /= sqrt (norm);
    return TRUE;
  }
  case LAM_PULSEQ_EXT_RF_SHIMS: {
    int32_t channels = 0;
    if (!get_i32 (b, 0, &channels, error))
      return FALSE;
    if (channels > 4096)
      return refuse (b, error, "an RF shim has more than 4096 channels");
    row->shim.channels = channels;
    row->shim.values = g_new0 (double, LAM_MAX (2 * channels, 1));
    for (int i = 0; i < 2 * channels; i++)
      if (!get_f64 (b, &row->shim.values[i], error))
        return FALSE;
    return TRUE;
  }
  case LAM_PULSEQ_EXT_UNKNOWN:
    break;
  }
  return TRUE;
}

static gboolean
read_extension (Bytes *b, const char *name, int64_t bytes, GError **error)
{
  int32_t type = 0;
  int64_t n;
  if (!get_i32 (b, 0, &type, error) || !get_count (b, bytes, &n, error))
    return FALSE;
  if (lam_pulseq_extension (b->r->seq, lam_pulseq_extension_kind (name)))
    return refuse (b, error, "an extension is there twice");
  LamPulseqExtension *x = lam_pulseq_extension_new (name, type);
  g_ptr_array_add (b->r->seq->extensions, x);
  if (n > 0 && !more_rows ((void **) &x->row, 0, n, sizeof *x->row, "extension of the sequence", error))
    return FALSE;
  while (x->rows < n) {
    x->rows++;
    if (!read_extension_row (b, x->kind, &x->row[x->rows - 1], error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_signature (Bytes *b, gsize begin, GError **error)
{
  LamPulseq *s = b->r->seq;
  int32_t length = 0;
  int64_t size = 0;
  lam_pulseq_changed (s); /* the last signature counts */
  if (!get_i32 (b, 0, &length, error) || !(s->signature_type = get_text (b, length, error))
      || !get_i32 (b, 0, &length, error))
    return FALSE;
  if (length > 1024 || length > (int64_t) (b->size - b->at))
    return refuse (b, error, "the signature is longer than the file");
  g_autoptr (GString) hash = g_string_new (NULL);
  for (int32_t i = 0; i < length; i++)
    g_string_append_printf (hash, "%02x", (guchar) b->data[b->at++]);
  s->signature_hash = g_string_free (g_steal_pointer (&hash), FALSE);
  if (!get_i64 (b, 0, G_MAXINT64, &size, error))
    return FALSE;
  if (size != (int64_t) begin)
    lam_pulseq_problem_take (s, LAM_PULSEQ_WARNING, b->at, 0,
                             g_strdup_printf ("the signature says that it begins at byte %" G_GINT64_FORMAT, size),
                             g_strdup_printf ("byte %" G_GSIZE_FORMAT, begin));
  lam_pulseq_check_signature (s, b->data, begin);
  return TRUE;
}

/* Legacy delays: no block of 1.5 means them. */
static gboolean
skip_delays (Bytes *b, GError **error)
{
  int64_t n;
  if (!get_count (b, 12, &n, error))
    return FALSE;
  b->at += n * 12;
  return TRUE;
}

gboolean
lam_pulseq_read_binary (LamPulseqReader *r, const char *data, gsize size, GError **error)
{
  Bytes b = {r, data, size, 8};
  int64_t version[3] = {0}, blocks_at = -1;
  for (int i = 0; i < 3; i++)
    if (!get_i64 (&b, 0, 1000000, &version[i], error))
      return FALSE;
  r->seq->major = (int) version[0];
  r->seq->minor = (int) version[1];
  r->seq->revision = (int) version[2];
  if (!lam_pulseq_check_version (r, 0, error))
    return FALSE;
  if (!r->at_least_1_5 || r->seq->revision < 2) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: this binary file is of Pulseq version %d.%d.%d; binary files can be read from 1.5.2 on. "
                 "Write it as text",
                 r->name, r->seq->major, r->seq->minor, r->seq->revision);
    return FALSE;
  }
  /* Blocks mean events, which come later: they are read at the end. */
  while (b.at < size) {
    gsize begin = b.at;
    int64_t code = 0, n;
    gboolean ok = FALSE;
    if (!get_i64 (&b, G_MININT64, G_MAXINT64, &code, error))
      return FALSE;
    switch (code ^ LAM_PULSEQ_SECTION (0)) {
    case 1:
      ok = read_definitions (&b, error);
      break;
    case 2:
      if (blocks_at >= 0)
        return refuse (&b, error, "there are blocks twice");
      blocks_at = b.at;
      if ((ok = get_count (&b, 32, &n, error)))
        b.at += n * 32;
      break;
    case 3:
      ok = read_rf (&b, error);
      break;
    case 4:
      ok = read_gradients (&b, FALSE, error);
      break;
    case 5:
      ok = read_gradients (&b, TRUE, error);
      break;
    case 6:
      ok = read_adc (&b, error);
      break;
    case 7:
      ok = skip_delays (&b, error);
      break;
    case 8:
      ok = read_shapes (&b, error);
      break;
    case 9:
      ok = read_links (&b, error);
      break;
    case 10:
      ok = read_extension (&b, "TRIGGERS", 28, error);
      break;
    case 11:
      ok = read_extension (&b, "LABELSET", 12, error);
      break;
    case 12:
      ok = read_extension (&b, "LABELINC", 12, error);
      break;
    case 13:
      ok = read_extension (&b, "DELAYS", 28, error);
      break;
    case 14:
      ok = read_extension (&b, "RF_SHIMS", 8, error);
      break;
    case 15:
      ok = read_extension (&b, "ROTATIONS", 36, error);
      break;
    case 0xFFFFFF:
      ok = read_signature (&b, begin, error);
      break;
    default: {
      b.at = begin;
      return refuse (&b, error, "a section of a kind that is not known, whose length is not known either");
    }
    }
    if (!ok)
      return FALSE;
  }
  lam_pulseq_read_rasters (r);
  if (blocks_at < 0)
    lam_pulseq_problem_take (r->seq, LAM_PULSEQ_ERROR, 0, 0, g_strdup ("there are no blocks in the file"),
                             g_strdup ("a sequence without blocks"));
  if (!lam_pulseq_finish_events (r, error))
    return FALSE;
  b.at = LAM_MAX (blocks_at, 0);
  return blocks_at < 0 || read_blocks (&b, error);
}
