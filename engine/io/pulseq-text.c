/* pulseq-text.c: the text form. One pass finds the sections and counts their rows, so that every table is allocated once;
 * then versions and definitions are read, events and shapes, and last the blocks, which mean them. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/pulseq-private.h"

typedef enum {
  VERSION,
  DEFINITIONS,
  BLOCKS,
  RF,
  GRADIENTS,
  TRAP,
  ADC,
  DELAYS,
  SHAPES,
  EXTENSIONS,
  SIGNATURE,
  EXTENSION,
  OTHER,
} Kind;

static const char *const names[] = {"[VERSION]", "[DEFINITIONS]", "[BLOCKS]", "[RF]",         "[GRADIENTS]", "[TRAP]",
                                    "[ADC]",     "[DELAYS]",      "[SHAPES]", "[EXTENSIONS]", "[SIGNATURE]"};

typedef struct {
  Kind kind;
  const char *header, *begin, *end; /* its rows are in [begin, end) */
  int64_t line;                     /* of the header, from 1 */
  int64_t rows;                     /* lines that are neither empty nor comments */
  int64_t shapes;                   /* lines that begin with "shape_id" */
} Section;

typedef struct {
  LamPulseqReader *r;
  const char *p, *end; /* what is still to be read of the section */
  int64_t line;        /* of p */
  const char *row;     /* where the line of p begins */
  gboolean extra;      /* more columns than expected were met, and told */
} Rows;

/* ---- numbers ---- */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

gboolean
lam_pulseq_scan_double (const char **text, double *value)
{
  const char *p = *text;
  gboolean minus = *p == '-', any = FALSE;
  uint64_t digits = 0;
  int shift = 0, count = 0;
  if (*p == '-' || *p == '+')
    p++;
  /* Leading zeros are no digits; beyond 15 the slow way is taken anyway. */
  for (; g_ascii_isdigit (*p); p++, any = TRUE) {
    digits = count < 19 ? digits * 10 + (*p - '0') : digits;
    count += digits > 0;
  }
  if (*p == '.')
    for (p++; g_ascii_isdigit (*p); p++, any = TRUE, shift--) {
      digits = count < 19 ? digits * 10 + (*p - '0') : digits;
      count += digits > 0;
    }
  if (!any)
    return FALSE;
  if (*p == 'e' || *p == 'E') {
    const char *q = p + 1;
    gboolean down = *q == '-';
    int e = 0;
    if (*q == '-' || *q == '+')
      q++;
    if (g_ascii_isdigit (*q)) {
      for (; g_ascii_isdigit (*q); q++)
        e = LAM_MIN (e * 10 + (*q - '0'), 100000);
      shift += down ? -e : e;
      p = q;
    }
  }
  /* Both factors are exact, so that one rounding is left; else the slow way. */
  if (count <= 15 && shift >= -22 && shift <= 22)
    *value = shift < 0 ? (double) digits / powers[-shift] : (double) digits * powers[shift];
  else if (digits == 0)
    *value = 0;
  else {
    g_autofree char *copy = g_strndup (*text, p - *text);
    *value = fabs (g_ascii_strtod (copy, NULL));
  }
  if (minus)
    *value = -*value;
  *text = p;
  return TRUE;
}

gboolean
lam_pulseq_scan_int (const char **text, int64_t *value)
{
  const char *p = *text;
  gboolean minus = *p == '-';
  int64_t v = 0;
  int count = 0;
  if (*p == '-' || *p == '+')
    p++;
  for (; g_ascii_isdigit (*p) && count < 18; p++, count++)
    v = v * 10 + (*p - '0');
  if (count == 0 || count == 18 || *p == '.' || *p == 'e' || *p == 'E') { /* "1e3" is a whole number too */
    double x;
    p = *text;
    if (!lam_pulseq_scan_double (&p, &x) || x != floor (x) || fabs (x) > 9e15)
      return FALSE;
    *value = (int64_t) x;
  } else
    *value = minus ? -v : v;
  *text = p;
  return TRUE;
}

/* ---- lines ---- */

static gboolean
is_space (char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* Fails at @at of the line. */
static gboolean refuse (const Rows *t, const char *at, GError **error, const char *format, ...) G_GNUC_PRINTF (4, 5);
static gboolean
refuse (const Rows *t, const char *at, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s:%" G_GINT64_FORMAT ":%d: %s", t->r->name, t->line,
               (int) LAM_MIN (at - t->row + 1, G_MAXINT), text);
  return FALSE;
}

/* Up to 30 bytes of the word at @p, printable. g_free (). */
static char *
word_at (const char *p)
{
  int n = 0;
  while (n < 30 && p[n] && !is_space (p[n]) && p[n] != '\n')
    n++;
  g_autofree char *raw = g_strndup (p, n);
  return n ? g_strescape (raw, NULL) : g_strdup ("the line's end");
}

static Rows
rows_of (LamPulseqReader *r, const Section *s)
{
  return (Rows){.r = r, .p = s->begin, .end = s->end, .line = s->line + 1, .row = s->begin};
}

/* To the first word of the next line that holds something. FALSE: the section is over. */
static gboolean
next_row (Rows *t)
{
  while (t->p < t->end) {
    t->row = t->p;
    while (is_space (*t->p))
      t->p++;
    if (*t->p != '\n' && *t->p != '#')
      return TRUE;
    t->p = (const char *) memchr (t->p, '\n', t->end - t->p) + 1;
    t->line++;
  }
  return FALSE;
}

/* Behind the line; what is left on it was not asked for. */
static void
end_row (Rows *t, const char *section)
{
  while (is_space (*t->p))
    t->p++;
  if (*t->p != '\n' && *t->p != '#' && !t->extra) {
    t->extra = TRUE;
    lam_pulseq_problem_take (t->r->seq, LAM_PULSEQ_WARNING, t->line, t->p - t->row + 1,
                             g_strdup_printf ("%s: this row has more columns than its version knows", section),
                             g_strdup ("they have no meaning, here and below"));
  }
  t->p = (const char *) memchr (t->p, '\n', t->end - t->p) + 1;
  t->line++;
}

static gboolean
get_int (Rows *t, const char *what, int64_t low, int64_t high, int64_t *value, GError **error)
{
  while (is_space (*t->p))
    t->p++;
  const char *at = t->p;
  if (!lam_pulseq_scan_int (&t->p, value) || !(is_space (*t->p) || *t->p == '\n') || *value < low || *value > high) {
    g_autofree char *word = word_at (at);
    return refuse (t, at, error, "%s is %s; expected a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                   what, word, low, high);
  }
  return TRUE;
}

static gboolean
get_int32 (Rows *t, const char *what, int32_t low, int32_t *value, GError **error)
{
  int64_t v = 0;
  gboolean ok = get_int (t, what, low, G_MAXINT32 - 1, &v, error);
  *value = (int32_t) v;
  return ok;
}

static gboolean
get_double (Rows *t, const char *what, double *value, GError **error)
{
  while (is_space (*t->p))
    t->p++;
  const char *at = t->p;
  if (!lam_pulseq_scan_double (&t->p, value) || !(is_space (*t->p) || *t->p == '\n') || !isfinite (*value)) {
    g_autofree char *word = word_at (at);
    return refuse (t, at, error, "%s is %s; expected a number", what, word);
  }
  return TRUE;
}

/* A time in units of @ps. */
static gboolean
get_time (Rows *t, const char *what, double ps, gboolean negative, int64_t *value, GError **error)
{
  double v = 0;
  while (is_space (*t->p))
    t->p++;
  const char *at = t->p;
  if (!get_double (t, what, &v, error))
    return FALSE;
  if (!lam_pulseq_time (v, ps, value) || (!negative && *value < 0)) {
    g_autofree char *word = word_at (at);
    return refuse (t, at, error, "%s is %s; expected a time from 0 on, of 11 days at most", what, word);
  }
  return TRUE;
}

/* The rest of the line without spaces at its ends; g_free (). */
static char *
get_rest (Rows *t)
{
  while (is_space (*t->p))
    t->p++;
  const char *end = memchr (t->p, '\n', t->end - t->p);
  char *text = g_strndup (t->p, end - t->p);
  t->p = end;
  return g_strchomp (text);
}

static char *
get_word (Rows *t)
{
  while (is_space (*t->p))
    t->p++;
  const char *from = t->p;
  while (!is_space (*t->p) && *t->p != '\n')
    t->p++;
  return g_strndup (from, t->p - from);
}

/* ---- sections ---- */

static Kind
kind_of (const char *header, gsize n)
{
  for (int i = 0; i < (int) G_N_ELEMENTS (names); i++)
    if (strlen (names[i]) == n && memcmp (names[i], header, n) == 0)
      return i;
  return n >= 10 && memcmp (header, "extension ", 10) == 0 ? EXTENSION : OTHER;
}

static GArray *
find_sections (const char *text, gsize size)
{
  GArray *sections = g_array_new (FALSE, FALSE, sizeof (Section));
  Section *now = NULL;
  int64_t line = 1;
  const char *stop = text + size + (size > 0 && text[size - 1] != '\n'); /* the last line ends too */
  for (const char *p = text; p < stop; line++) {
    const char *row = p, *end = memchr (p, '\n', stop - p);
    while (is_space (*p))
      p++;
    if (*p == '[' || (*p == 'e' && g_str_has_prefix (p, "extension "))) {
      const char *last = end;
      while (last > p && is_space (last[-1]))
        last--;
      Section s = {.kind = kind_of (p, last - p), .header = p, .begin = end + 1, .end = stop, .line = line};
      if (now)
        now->end = row;
      g_array_append_val (sections, s);
      now = &g_array_index (sections, Section, sections->len - 1);
    } else if (now && *p != '#' && p < end) {
      now->rows++;
      now->shapes += *p == 's';
    }
    p = end + 1;
  }
  if (now)
    now->end = stop;
  return sections;
}

static int64_t
count_rows (const GArray *sections, Kind kind)
{
  int64_t n = 0;
  for (guint i = 0; i < sections->len; i++) {
    const Section *s = &g_array_index (sections, Section, i);
    n += s->kind == kind ? s->rows : 0;
  }
  return n;
}

/* ---- the parts ---- */

static gboolean
read_version (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  LamPulseq *seq = r->seq;
  gboolean major = FALSE, minor = FALSE;
  while (next_row (&t)) {
    g_autofree char *word = get_word (&t);
    int *to = g_str_equal (word, "major")      ? &seq->major
              : g_str_equal (word, "minor")    ? &seq->minor
              : g_str_equal (word, "revision") ? &seq->revision
                                               : NULL;
    if (!to)
      return refuse (&t, t.row, error, "[VERSION] says \"%.30s\"; expected major, minor or revision", word);
    major = major || to == &seq->major;
    minor = minor || to == &seq->minor;
    while (is_space (*t.p))
      t.p++;
    int64_t v = 0;
    const char *at = t.p;
    if (!g_ascii_isdigit (*t.p))
      return refuse (&t, at, error, "[VERSION] %s: expected a number", word);
    while (g_ascii_isdigit (*t.p) && v < 1000000)
      v = v * 10 + (*t.p++ - '0');
    *to = (int) v;
    if (!is_space (*t.p) && *t.p != '\n') { /* "1post1" of development versions */
      g_autofree char *said = word_at (at);
      g_autofree char *rest = get_rest (&t);
      if (to != &seq->revision)
        return refuse (&t, at, error, "[VERSION] %s is %s; expected a number", word, said);
      lam_pulseq_problem_take (seq, LAM_PULSEQ_NOTE, t.line, at - t.row + 1,
                               g_strdup_printf ("revision \"%s\" is no number", said),
                               g_strdup_printf ("revision %d", *to));
    }
    end_row (&t, "[VERSION]");
  }
  t.line = s->line;
  t.row = s->header;
  if (!major || !minor)
    return refuse (&t, t.row, error, "[VERSION] lacks %s", major ? "minor" : "major");
  return lam_pulseq_check_version (r, s->line, error);
}

static void
read_definitions (LamPulseqReader *r, const Section *s)
{
  Rows t = rows_of (r, s);
  while (next_row (&t)) {
    LamPulseqDefinition *d = g_new0 (LamPulseqDefinition, 1);
    d->key = get_word (&t);
    d->value = get_rest (&t);
    if (!g_utf8_validate (d->key, -1, NULL) || !g_utf8_validate (d->value, -1, NULL)) {
      char *key = g_utf8_make_valid (d->key, -1), *value = g_utf8_make_valid (d->value, -1);
      lam_pulseq_problem_take (r->seq, LAM_PULSEQ_WARNING, t.line, 1, g_strdup ("[DEFINITIONS]: this is no UTF-8 text"),
                               g_strdup_printf ("%s %s", key, value));
      g_free (d->key);
      g_free (d->value);
      d->key = key;
      d->value = value;
    }
    g_ptr_array_add (r->seq->definitions, d);
    end_row (&t, "[DEFINITIONS]");
  }
}

static void
read_signature (LamPulseqReader *r, const Section *s, const char *text)
{
  Rows t = rows_of (r, s);
  LamPulseq *seq = r->seq;
  while (next_row (&t)) {
    g_autofree char *key = get_word (&t), *raw = get_rest (&t), *value = g_utf8_make_valid (raw, -1);
    char **to = g_str_equal (key, "Type")   ? &seq->signature_type
                : g_str_equal (key, "Hash") ? &seq->signature_hash
                                            : NULL;
    if (to) {
      g_free (*to);
      *to = g_steal_pointer (&value);
    }
    end_row (&t, "[SIGNATURE]");
  }
  if (!seq->signature_type || !seq->signature_hash) {
    lam_pulseq_problem_take (seq, LAM_PULSEQ_WARNING, s->line, 1,
                             g_strdup_printf ("[SIGNATURE] has no %s", seq->signature_type ? "Hash" : "Type"),
                             g_strdup ("no signature"));
    lam_pulseq_changed (seq);
    return;
  }
  /* Signed is what comes before the line's end in front of [SIGNATURE]. */
  const char *end = s->header;
  while (end > text && end[-1] != '\n')
    end--;
  lam_pulseq_check_signature (seq, text, end > text ? end - 1 - text : 0);
}

static void *
table (int64_t n, int64_t size, const char *what, int64_t **line, GError **error)
{
  void *rows = lam_alloc_n (n, size, what, error);
  if (rows && line && !(*line = lam_alloc_n (n, sizeof **line, what, error))) {
    lam_free (rows);
    return NULL;
  }
  if (rows)
    memset (rows, 0, n * size);
  return rows;
}

static gboolean
read_rf (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  while (next_row (&t)) {
    LamPulseqRf *e = &r->seq->rf[r->seq->rfs];
    r->rf_line[r->seq->rfs] = t.line;
    if (!get_int32 (&t, "the RF event's id", 1, &e->id, error)
        || !get_double (&t, "its amplitude", &e->amplitude, error)
        || !get_int32 (&t, "its magnitude shape", 0, &e->magnitude, error)
        || !get_int32 (&t, "its phase shape", 0, &e->phase, error)
        || (r->at_least_1_4 && !get_int32 (&t, "its time shape", 0, &e->time, error))
        || (r->at_least_1_5 && !get_time (&t, "its centre", 1e6, FALSE, &e->center, error))
        || !get_time (&t, "its delay", 1e6, FALSE, &e->delay, error)
        || (r->at_least_1_5
            && (!get_double (&t, "its frequency in ppm", &e->freq_ppm, error)
                || !get_double (&t, "its phase in rad/MHz", &e->phase_ppm, error)))
        || !get_double (&t, "its frequency", &e->freq, error) || !get_double (&t, "its phase", &e->phase_rad, error))
      return FALSE;
    e->has_center = r->at_least_1_5;
    while (is_space (*t.p))
      t.p++;
    if (r->at_least_1_5) {
      const char *at = t.p;
      g_autofree char *said = word_at (at), *use = get_word (&t);
      if (strlen (use) != 1 || !lam_pulseq_use_from_letter (*use, &e->use))
        lam_pulseq_problem_take (
            r->seq, LAM_PULSEQ_ERROR, t.line, at - t.row + 1,
            g_strdup_printf ("RF event %d: its use is %s; expected one of e r i s p o u", e->id, said),
            g_strdup ("undefined"));
    }
    r->seq->rfs++;
    end_row (&t, "[RF]");
  }
  return TRUE;
}

static gboolean
read_gradients (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  gboolean trapezoid = s->kind == TRAP;
  while (next_row (&t)) {
    LamPulseqGradient *g = &r->seq->gradient[r->seq->gradients];
    r->gradient_line[r->seq->gradients] = t.line;
    g->trapezoid = trapezoid;
    gboolean ok =
        get_int32 (&t, "the gradient's id", 1, &g->id, error) && get_double (&t, "its amplitude", &g->amplitude, error);
    if (ok && trapezoid)
      ok = get_time (&t, "its rise time", 1e6, FALSE, &g->rise, error)
           && get_time (&t, "its flat time", 1e6, FALSE, &g->flat, error)
           && get_time (&t, "its fall time", 1e6, FALSE, &g->fall, error);
    else if (ok)
      ok = (!r->at_least_1_5
            || (get_double (&t, "its first value", &g->first, error)
                && get_double (&t, "its last value", &g->last, error)))
           && get_int32 (&t, "its shape", 0, &g->shape, error)
           && (!r->at_least_1_4 || get_int32 (&t, "its time shape", r->at_least_1_5 ? -1 : 0, &g->time, error));
    if (!ok || !get_time (&t, "its delay", 1e6, FALSE, &g->delay, error))
      return FALSE;
    r->seq->gradients++;
    end_row (&t, names[s->kind]);
  }
  return TRUE;
}

static gboolean
read_adc (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  while (next_row (&t)) {
    LamPulseqAdc *a = &r->seq->adc[r->seq->adcs];
    r->adc_line[r->seq->adcs] = t.line;
    if (!get_int32 (&t, "the ADC event's id", 1, &a->id, error)
        || !get_int (&t, "its number of samples", 0, LAM_PULSEQ_MAX_PS, &a->samples, error)
        || !get_time (&t, "its dwell", 1e3, FALSE, &a->dwell, error)
        || !get_time (&t, "its delay", 1e6, FALSE, &a->delay, error)
        || (r->at_least_1_5
            && (!get_double (&t, "its frequency in ppm", &a->freq_ppm, error)
                || !get_double (&t, "its phase in rad/MHz", &a->phase_ppm, error)))
        || !get_double (&t, "its frequency", &a->freq, error) || !get_double (&t, "its phase", &a->phase_rad, error)
        || (r->at_least_1_5 && !get_int32 (&t, "its phase shape", 0, &a->phase_shape, error)))
      return FALSE;
    int64_t all = lam_mul_size (a->samples, a->dwell);
    if (all < 0 || all > LAM_PULSEQ_MAX_PS || (a->dwell == 0 && a->samples > LAM_PULSEQ_MAX_SAMPLES))
      return refuse (&t, t.row, error,
                     "ADC event %d reads %" G_GINT64_FORMAT " samples, which is more than can be played", a->id,
                     a->samples);
    r->seq->adcs++;
    end_row (&t, "[ADC]");
  }
  return TRUE;
}

static gboolean
read_delays (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  if (r->at_least_1_4) {
    lam_pulseq_problem_take (r->seq, LAM_PULSEQ_WARNING, s->line, 1,
                             g_strdup ("[DELAYS] is not for versions from 1.4 on"), g_strdup ("it has no meaning"));
    return TRUE;
  }
  while (next_row (&t)) {
    if (!get_int32 (&t, "the delay's id", 1, &r->delay[r->delay_rows].id, error)
        || !get_time (&t, "the delay", 1e6, FALSE, &r->delay[r->delay_rows].ps, error))
      return FALSE;
    r->delay_rows++;
    end_row (&t, "[DELAYS]");
  }
  return TRUE;
}

static gboolean
read_links (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  while (next_row (&t)) {
    LamPulseqLink *l = &r->seq->link[r->seq->links];
    l->rotation = -1;
    if (!get_int32 (&t, "the extension's id", 1, &l->id, error) || !get_int32 (&t, "its type", 0, &l->type, error)
        || !get_int32 (&t, "what it means", 0, &l->ref, error) || !get_int32 (&t, "the next one", 0, &l->next, error))
      return FALSE;
    r->seq->links++;
    end_row (&t, "[EXTENSIONS]");
  }
  return TRUE;
}

/* ---- shapes ---- */

static gboolean
shape_done (LamPulseqReader *r, const Rows *t, GError **error)
{
  LamPulseqShape *shape = &r->seq->shape[r->seq->shapes - 1];
  const double *stored = r->seq->stored + shape->offset;
  const char *why = NULL;
  gboolean ok = TRUE;
  shape->compressed = !r->at_least_1_4 || shape->stored != shape->samples;
  if (shape->samples < 1 || shape->samples > LAM_PULSEQ_MAX_SAMPLES) {
    why = "its num_samples is not from 1 to 67108864";
    ok = FALSE;
  } else if (shape->compressed)
    ok = lam_pulseq_shape_valid (stored, shape->stored, shape->samples, &why);
  if (ok)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
               "%s:%" G_GINT64_FORMAT ": shape %d (num_samples %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
               " numbers): %s; the file is broken there",
               r->name, r->shape_line[r->seq->shapes - 1], shape->id, shape->samples, shape->stored, why);
  return FALSE;
}

static gboolean
read_shapes (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  LamPulseq *seq = r->seq;
  LamPulseqShape *now = NULL;
  int64_t used = seq->shapes > 0 ? seq->shape[seq->shapes - 1].offset + seq->shape[seq->shapes - 1].stored : 0;
  gboolean counted = FALSE;
  while (next_row (&t)) {
    if (g_str_has_prefix (t.p, "shape_id")) {
      if (now && !shape_done (r, &t, error))
        return FALSE;
      t.p += strlen ("shape_id");
      r->shape_line[seq->shapes] = t.line;
      now = &seq->shape[seq->shapes++];
      now->offset = used;
      counted = FALSE;
      if (!get_int32 (&t, "the shape's id", 1, &now->id, error))
        return FALSE;
    } else if (g_str_has_prefix (t.p, "num_samples")) {
      if (!now || counted)
        return refuse (&t, t.p, error, "expected shape_id, then num_samples, then samples");
      t.p += strlen ("num_samples");
      counted = TRUE;
      if (!get_int (&t, "num_samples", 0, G_MAXINT64, &now->samples, error))
        return FALSE;
    } else {
      if (!now || !counted)
        return refuse (&t, t.p, error, "a sample before shape_id and num_samples");
      if (!get_double (&t, "the sample", &seq->stored[used++], error))
        return FALSE;
      now->stored++;
    }
    end_row (&t, "[SHAPES]");
    if ((t.line & 0xffff) == 0 && !lam_io_control_step (r->control, 0.5, "sequence", error))
      return FALSE;
  }
  return !now || shape_done (r, &t, error);
}

/* ---- extensions ---- */

static gboolean
read_extension_row (Rows *t, LamPulseqExtensionKind kind, LamPulseqExtensionRow *row, GError **error)
{
  if (!get_int32 (t, "the object's id", 1, &row->id, error))
    return FALSE;
  switch (kind) {
  case LAM_PULSEQ_EXT_TRIGGERS:
    return get_int32 (t, "its type", 0, &row->trigger.type, error)
           && get_int32 (t, "its channel", 0, &row->trigger.channel, error)
           && get_time (t, "its delay", 1e6, FALSE, &row->trigger.delay, error)
           && get_time (t, "its duration", 1e6, FALSE, &row->trigger.duration, error);
  case LAM_PULSEQ_EXT_LABELSET:
  case LAM_PULSEQ_EXT_LABELINC: {
    if (!get_int (t, "its value", -LAM_PULSEQ_MAX_PS, LAM_PULSEQ_MAX_PS, &row->label.value, error))
      return FALSE;
    g_autofree char *raw = get_word (t);
    row->label.name = g_utf8_make_valid (raw, -1);
    return *row->label.name || refuse (t, t->p, error, "the label's name is missing");
  }
  case LAM_PULSEQ_EXT_DELAYS: {
    if (!get_int (t, "its number", -LAM_PULSEQ_MAX_PS, LAM_PULSEQ_MAX_PS, &row->delay.number, error)
        || !get_time (t, "its offset", 1e6, TRUE, &row->delay.offset, error)
        || !get_double (t, "its factor", &row->delay.factor, error))
      return FALSE;
    g_autofree char *raw = get_rest (t);
    row->delay.hint = g_utf8_make_valid (raw, -1);
    return TRUE;
  }
  case LAM_PULSEQ_EXT_ROTATIONS: {
    double norm = 0;
    for (int i = 0; i < 4; i++) {
      if (!get_double (t, "the quaternion", &row->rotation[i], error))
        return FALSE;
      norm += row->rotation[i] * row->rotation[i];
    }
    if (!(norm > 1e-12 && norm < 1e12))
      return refuse (t, t->row, error, "the quaternion is 0; expected one of length 1");
    if (fabs (norm - 1) > 1e-3)
      lam_pulseq_problem_take (t->r->seq, LAM_PULSEQ_WARNING, t->line, 1,
                               g_strdup_printf ("rotation %d is no quaternion of length 1", row->id),
                               g_strdup ("it is made so"));
    for (int i = 0; i < 4; i++)
      row->rotation[i] /= sqrt (norm);
    return TRUE;
  }
  case LAM_PULSEQ_EXT_RF_SHIMS:
    if (!get_int (t, "its number of channels", 0, 4096, &row->shim.channels, error))
      return FALSE;
    row->shim.values = g_new0 (double, LAM_MAX (2 * row->shim.channels, 1));
    for (int64_t i = 0; i < 2 * row->shim.channels; i++)
      if (!get_double (t, i % 2 ? "the channel's phase" : "the channel's magnitude", &row->shim.values[i], error))
        return FALSE;
    return TRUE;
  case LAM_PULSEQ_EXT_UNKNOWN:
    break;
  }
  return TRUE;
}

static gboolean
read_extension (LamPulseqReader *r, const Section *s, GError **error)
{
  const char *end = memchr (s->header, '\n', s->end - s->header + 1);
  g_autofree char *raw = g_strndup (s->header, end - s->header), *header = g_utf8_make_valid (raw, -1);
  g_auto (GStrv) words = g_strsplit_set (g_strstrip (header), " \t", -1);
  const char *name = NULL, *number = NULL;
  for (int i = 1; words[i]; i++)
    if (*words[i]) {
      name = name ? name : words[i];
      number = words[i];
    }
  int64_t type = 0;
  Rows t = rows_of (r, s);
  const char *p = number ? number : "";
  if (!name || number == name || !lam_pulseq_scan_int (&p, &type) || *p || type < 0 || type >= G_MAXINT32) {
    t.line = s->line;
    t.row = s->header;
    return refuse (&t, s->header, error, "expected \"extension NAME NUMBER\"");
  }
  LamPulseqExtension *x = lam_pulseq_extension_new (name, (int32_t) type);
  g_ptr_array_add (r->seq->extensions, x);
  for (guint i = 0; i + 1 < r->seq->extensions->len; i++) {
    LamPulseqExtension *other = r->seq->extensions->pdata[i];
    if (other->type == x->type || g_str_equal (other->name, x->name)) {
      t.line = s->line;
      t.row = s->header;
      return refuse (&t, s->header, error, "extension %s %d: this name or number is there already", name, x->type);
    }
  }
  if (x->kind == LAM_PULSEQ_EXT_UNKNOWN) {
    g_autofree char *text = g_strndup (s->begin, s->end - s->begin);
    x->text = g_utf8_make_valid (text, -1);
    lam_pulseq_problem_take (r->seq, LAM_PULSEQ_WARNING, s->line, 1,
                             g_strdup_printf ("the extension \"%s\" is not known", x->name),
                             g_strdup ("it is kept, and has no effect here"));
    return TRUE;
  }
  if (s->rows > 0 && !(x->row = table (s->rows, sizeof *x->row, "extension of the sequence", NULL, error)))
    return FALSE;
  while (next_row (&t)) {
    x->rows++;
    if (!read_extension_row (&t, x->kind, &x->row[x->rows - 1], error))
      return FALSE;
    end_row (&t, x->name);
  }
  return TRUE;
}

/* ---- blocks ---- */

static const char *const columns[] = {"RF event",    "GX gradient", "GY gradient",
                                      "GZ gradient", "ADC event",   "extension"};

static gboolean
read_blocks (LamPulseqReader *r, const Section *s, GError **error)
{
  Rows t = rows_of (r, s);
  LamPulseq *seq = r->seq;
  const LamPulseqMap *maps[] = {&r->rfs, &r->gradients, &r->gradients, &r->gradients, &r->adcs, &r->links};
  gboolean extensions = seq->minor >= 3, in_order = TRUE, short_row = FALSE;
  int64_t before = 0, id, value;
  while (next_row (&t)) {
    int64_t b = seq->blocks;
    if (!get_int (&t, "the block's number", 0, G_MAXINT32 - 1, &id, error)
        || !get_int (&t, r->at_least_1_4 ? "its duration" : "its delay", 0, LAM_PULSEQ_MAX_PS, &value, error))
      return FALSE;
    if (r->at_least_1_4) {
      int64_t ps = lam_mul_size (value, seq->block_raster);
      if (ps < 0 || ps > LAM_PULSEQ_MAX_PS)
        return refuse (&t, t.row, error,
                       "block %" G_GINT64_FORMAT " lasts %" G_GINT64_FORMAT " raster steps; expected 11 days at most",
                       id, value);
      seq->duration[b] = ps;
    } else {
      int32_t row = lam_pulseq_map_get (&r->delays, value);
      seq->duration[b] = row ? r->delay[row - 1].ps : 0;
      if (value != 0 && !row)
        lam_pulseq_problem_take (seq, LAM_PULSEQ_ERROR, t.line, 1,
                                 g_strdup_printf ("block %" G_GINT64_FORMAT " means delay %" G_GINT64_FORMAT
                                                  ", which is not there",
                                                  id, value),
                                 g_strdup ("no delay"));
    }
    for (int c = 0; c < LAM_PULSEQ_COLUMNS; c++) {
      seq->event[c][b] = 0;
      if (c == LAM_PULSEQ_EXT) {
        while (is_space (*t.p))
          t.p++;
        if (!extensions || *t.p == '\n') {
          if (extensions && !short_row)
            lam_pulseq_problem_take (seq, LAM_PULSEQ_WARNING, t.line, t.p - t.row + 1,
                                     g_strdup ("[BLOCKS]: this row has no column for extensions"), g_strdup ("none"));
          short_row = short_row || extensions;
          continue;
        }
      }
      while (is_space (*t.p))
        t.p++;
      const char *at = t.p;
      if (!get_int (&t, columns[c], 0, G_MAXINT32 - 1, &value, error))
        return FALSE;
      if (value == 0)
        continue;
      seq->event[c][b] = lam_pulseq_map_get (maps[c], value);
      if (seq->event[c][b] == 0)
        lam_pulseq_problem_take (seq, LAM_PULSEQ_ERROR, t.line, at - t.row + 1,
                                 g_strdup_printf ("block %" G_GINT64_FORMAT " means %s %" G_GINT64_FORMAT
                                                  ", which is not there",
                                                  id, columns[c], value),
                                 g_strdup ("none"));
    }
    if (id != before + 1 && !seq->block_id) {
      if (!(seq->block_id = lam_alloc_n (seq->capacity, sizeof *seq->block_id, "blocks of the sequence", error)))
        return FALSE;
      for (int64_t i = 0; i < b; i++)
        seq->block_id[i] = (int32_t) i + 1;
    }
    if (id <= before && in_order) {
      in_order = FALSE;
      lam_pulseq_problem_take (
          seq, LAM_PULSEQ_WARNING, t.line, 1,
          g_strdup_printf ("block %" G_GINT64_FORMAT " comes after block %" G_GINT64_FORMAT, id, before),
          g_strdup ("blocks are played in the order of the file"));
    }
    if (seq->block_id)
      seq->block_id[b] = (int32_t) id;
    before = id;
    seq->blocks++;
    end_row (&t, "[BLOCKS]");
    if ((b & 0xffff) == 0
        && !lam_io_control_step (r->control, 0.5 + 0.5 * (double) b / (double) seq->capacity, "sequence", error))
      return FALSE;
  }
  return TRUE;
}

/* ---- all of it ---- */

static gboolean
make_tables (LamPulseqReader *r, const GArray *sections, GError **error)
{
  LamPulseq *seq = r->seq;
  int64_t rf = count_rows (sections, RF), gradients = count_rows (sections, GRADIENTS) + count_rows (sections, TRAP);
  int64_t adc = count_rows (sections, ADC), delays = count_rows (sections, DELAYS);
  int64_t links = count_rows (sections, EXTENSIONS), numbers = count_rows (sections, SHAPES), shapes = 0;
  for (guint i = 0; i < sections->len; i++)
    shapes += g_array_index (sections, Section, i).kind == SHAPES ? g_array_index (sections, Section, i).shapes : 0;
  return (rf == 0 || (seq->rf = table (rf, sizeof *seq->rf, "RF events", &r->rf_line, error)))
         && (gradients == 0
             || (seq->gradient = table (gradients, sizeof *seq->gradient, "gradients", &r->gradient_line, error)))
         && (adc == 0 || (seq->adc = table (adc, sizeof *seq->adc, "ADC events", &r->adc_line, error)))
         && (links == 0 || (seq->link = table (links, sizeof *seq->link, "extensions", NULL, error)))
         && (shapes == 0 || (seq->shape = table (shapes, sizeof *seq->shape, "shapes", &r->shape_line, error)))
         && (numbers == 0 || (seq->stored = table (numbers, sizeof *seq->stored, "samples of shapes", NULL, error)))
         && (delays == 0 || (r->delay = table (delays, sizeof *r->delay, "delays", NULL, error)))
         && lam_pulseq_reserve (seq, count_rows (sections, BLOCKS), error);
}

/* What the file says must be understood. */
static void
check_required (LamPulseqReader *r)
{
  const char *text = lam_pulseq_definition (r->seq, "RequiredExtensions");
  g_auto (GStrv) words = g_strsplit_set (text ? text : "", " \t", -1);
  for (char **w = words; *w; w++)
    if (**w && lam_pulseq_extension_kind (*w) == LAM_PULSEQ_EXT_UNKNOWN)
      lam_pulseq_problem_take (r->seq, LAM_PULSEQ_ERROR, 0, 0,
                               g_strdup_printf ("the file requires the extension \"%s\", which is not known", *w),
                               g_strdup ("it has no effect here"));
}

static gboolean
read_events (LamPulseqReader *r, const Section *s, GError **error)
{
  switch (s->kind) {
  case RF:
    return read_rf (r, s, error);
  case GRADIENTS:
  case TRAP:
    return read_gradients (r, s, error);
  case ADC:
    return read_adc (r, s, error);
  case DELAYS:
    return read_delays (r, s, error);
  case SHAPES:
    return read_shapes (r, s, error);
  case EXTENSIONS:
    return read_links (r, s, error);
  case EXTENSION:
    return read_extension (r, s, error);
  case OTHER: {
    LamPulseqSection *x = g_new0 (LamPulseqSection, 1);
    g_autofree char *header =
        g_strndup (s->header, (const char *) memchr (s->header, '\n', s->begin - s->header) - s->header);
    g_autofree char *text = g_strndup (s->begin, s->end - s->begin);
    x->header = g_strchomp (g_utf8_make_valid (header, -1));
    x->text = g_utf8_make_valid (text, -1);
    g_ptr_array_add (r->seq->sections, x);
    lam_pulseq_problem_take (r->seq, LAM_PULSEQ_WARNING, s->line, 1,
                             g_strdup_printf ("the section %.60s is not known", x->header),
                             g_strdup ("it is kept, and has no effect here"));
    return TRUE;
  }
  default:
    return TRUE;
  }
}

gboolean
lam_pulseq_read_text (LamPulseqReader *r, const char *text, gsize size, GError **error)
{
  g_autoptr (GArray) sections = find_sections (text, size);
  const Section *found[G_N_ELEMENTS (names)] = {NULL};
  for (guint i = 0; i < sections->len; i++) {
    const Section *s = &g_array_index (sections, Section, i);
    if (s->kind < G_N_ELEMENTS (names))
      found[s->kind] = found[s->kind] ? found[s->kind] : s;
  }
  if (!found[VERSION]) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 sections->len
                     ? "%s: there is no [VERSION] section; expected a Pulseq file, which says its version before "
                       "anything else"
                     : "%s: this is not a Pulseq file: it has neither sections such as [VERSION] and [BLOCKS] nor "
                       "the mark of a binary one",
                 r->name);
    return FALSE;
  }
  if (!read_version (r, found[VERSION], error))
    return FALSE;
  for (guint i = 0; i < sections->len; i++)
    if (g_array_index (sections, Section, i).kind == DEFINITIONS)
      read_definitions (r, &g_array_index (sections, Section, i));
  lam_pulseq_read_rasters (r);
  if (!make_tables (r, sections, error))
    return FALSE;
  for (guint i = 0; i < sections->len; i++)
    if (!read_events (r, &g_array_index (sections, Section, i), error))
      return FALSE;
  if (!found[BLOCKS])
    lam_pulseq_problem_take (r->seq, LAM_PULSEQ_ERROR, 0, 0, g_strdup ("there is no [BLOCKS] section"),
                             g_strdup ("a sequence without blocks"));
  if (!lam_pulseq_finish_events (r, error))
    return FALSE;
  lam_pulseq_map_init (&r->delays, r->delay ? &r->delay->id : NULL, r->delay_rows, sizeof *r->delay, NULL, NULL);
  for (guint i = 0; i < sections->len; i++)
    if (g_array_index (sections, Section, i).kind == BLOCKS
        && !read_blocks (r, &g_array_index (sections, Section, i), error))
      return FALSE;
  check_required (r);
  if (found[SIGNATURE])
    read_signature (r, found[SIGNATURE], text);
  return TRUE;
}
