#include "mr/pulseq.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

#define MAX_PROBLEMS 1000

static void
problem_free (gpointer data)
{
  LamPulseqProblem *p = data;
  g_free (p->text);
  g_free (p->assumed);
  g_free (p);
}

static void
definition_free (gpointer data)
{
  LamPulseqDefinition *d = data;
  g_free (d->key);
  g_free (d->value);
  g_free (d);
}

static void
section_free (gpointer data)
{
  LamPulseqSection *s = data;
  g_free (s->header);
  g_free (s->text);
  g_free (s);
}

static void
extension_free (gpointer data)
{
  lam_pulseq_extension_free (data);
}

LamPulseq *
lam_pulseq_new (void)
{
  LamPulseq *seq = g_new0 (LamPulseq, 1);
  g_atomic_ref_count_init (&seq->refs);
  seq->extensions = g_ptr_array_new_with_free_func (extension_free);
  seq->definitions = g_ptr_array_new_with_free_func (definition_free);
  seq->sections = g_ptr_array_new_with_free_func (section_free);
  seq->problems = g_ptr_array_new_with_free_func (problem_free);
  seq->block_raster = seq->gradient_raster = 10000000;
  seq->rf_raster = 1000000;
  seq->adc_raster = 100000;
  return seq;
}

LamPulseq *
lam_pulseq_ref (LamPulseq *seq)
{
  g_atomic_ref_count_inc (&seq->refs);
  return seq;
}

void
lam_pulseq_unref (LamPulseq *seq)
{
  if (!seq || !g_atomic_ref_count_dec (&seq->refs))
    return;
  for (int64_t i = 0; i < seq->shapes; i++)
    lam_free (seq->shape[i].values);
  for (int c = 0; c < LAM_PULSEQ_COLUMNS; c++)
    lam_free (seq->event[c]);
  lam_free (seq->duration);
  lam_free (seq->block_id);
  lam_free (seq->rf);
  lam_free (seq->gradient);
  lam_free (seq->adc);
  lam_free (seq->link);
  lam_free (seq->shape);
  lam_free (seq->stored);
  g_ptr_array_unref (seq->extensions);
  g_ptr_array_unref (seq->definitions);
  g_ptr_array_unref (seq->sections);
  g_ptr_array_unref (seq->problems);
  g_free (seq->path);
  g_free (seq->signature_type);
  g_free (seq->signature_hash);
  g_free (seq);
}

/* ---- blocks ---- */

static gboolean
grow (void **column, int64_t used, int64_t capacity, int64_t size, GError **error)
{
  void *more = lam_alloc_n (capacity, size, "blocks of the sequence", error);
  if (!more)
    return FALSE;
  if (used > 0)
    memcpy (more, *column, used * size);
  lam_free (*column);
  *column = more;
  return TRUE;
}

gboolean
lam_pulseq_reserve (LamPulseq *seq, int64_t blocks, GError **error)
{
  if (blocks <= seq->capacity)
    return TRUE;
  gboolean ok = grow ((void **) &seq->duration, seq->blocks, blocks, sizeof *seq->duration, error);
  for (int c = 0; ok && c < LAM_PULSEQ_COLUMNS; c++)
    ok = grow ((void **) &seq->event[c], seq->blocks, blocks, sizeof *seq->event[c], error);
  if (ok && seq->block_id)
    ok = grow ((void **) &seq->block_id, seq->blocks, blocks, sizeof *seq->block_id, error);
  if (ok)
    seq->capacity = blocks;
  return ok;
}

gboolean
lam_pulseq_append (LamPulseq *seq, int64_t duration_ps, const int32_t event[LAM_PULSEQ_COLUMNS], GError **error)
{
  const int64_t rows[LAM_PULSEQ_COLUMNS] = {seq->rfs,       seq->gradients, seq->gradients,
                                            seq->gradients, seq->adcs,      seq->links};
  for (int c = 0; c < LAM_PULSEQ_COLUMNS; c++)
    if (event[c] < 0 || event[c] > rows[c] || duration_ps < 0) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "a new block needs a duration of 0 or more and events that are there: row %d of %" G_GINT64_FORMAT
                   ", duration %" G_GINT64_FORMAT " ps",
                   event[c], rows[c], duration_ps);
      return FALSE;
    }
  if (seq->blocks == seq->capacity && !lam_pulseq_reserve (seq, LAM_MAX (64, 2 * seq->capacity), error))
    return FALSE;
  int64_t b = seq->blocks++;
  seq->duration[b] = duration_ps;
  for (int c = 0; c < LAM_PULSEQ_COLUMNS; c++)
    seq->event[c][b] = event[c];
  if (seq->block_id)
    seq->block_id[b] = b > 0 ? LAM_MIN (seq->block_id[b - 1], G_MAXINT32 - 1) + 1 : 1;
  lam_pulseq_changed (seq);
  return TRUE;
}

void
lam_pulseq_changed (LamPulseq *seq)
{
  seq->signature = LAM_PULSEQ_SIGNATURE_NONE;
  g_clear_pointer (&seq->signature_type, g_free);
  g_clear_pointer (&seq->signature_hash, g_free);
}

void
lam_pulseq_signed (LamPulseq *seq, const char *md5)
{
  char *hash = g_strdup (md5);
  lam_pulseq_changed (seq);
  seq->signature = LAM_PULSEQ_SIGNATURE_MATCHES;
  seq->signature_type = g_strdup ("md5");
  seq->signature_hash = hash;
}

/* ---- problems and definitions ---- */

void
lam_pulseq_problem_take (LamPulseq *seq, LamPulseqSeverity severity, int64_t line, int64_t column, char *text,
                         char *assumed)
{
  if (seq->problems->len >= MAX_PROBLEMS) {
    LamPulseqProblem *last = seq->problems->pdata[MAX_PROBLEMS - 1];
    last->severity = LAM_MAX (last->severity, severity);
    g_free (last->text);
    last->text = g_strdup ("there are more problems, which are not listed");
    g_clear_pointer (&last->assumed, g_free);
    last->line = last->column = 0;
    g_free (text);
    g_free (assumed);
    return;
  }
  LamPulseqProblem *p = g_new (LamPulseqProblem, 1);
  *p = (LamPulseqProblem){severity, line, column, text, assumed};
  g_ptr_array_add (seq->problems, p);
}

int64_t
lam_pulseq_problems (const LamPulseq *seq, LamPulseqSeverity severity)
{
  int64_t n = 0;
  for (guint i = 0; i < seq->problems->len; i++)
    n += ((LamPulseqProblem *) seq->problems->pdata[i])->severity == severity;
  return n;
}

static LamPulseqDefinition *
find_definition (const LamPulseq *seq, const char *key)
{
  for (guint i = 0; i < seq->definitions->len; i++) {
    LamPulseqDefinition *d = seq->definitions->pdata[i];
    if (g_str_equal (d->key, key))
      return d;
  }
  return NULL;
}

const char *
lam_pulseq_definition (const LamPulseq *seq, const char *key)
{
  LamPulseqDefinition *d = find_definition (seq, key);
  return d ? d->value : NULL;
}

void
lam_pulseq_define (LamPulseq *seq, const char *key, const char *value)
{
  LamPulseqDefinition *d = find_definition (seq, key);
  if (!d) {
    d = g_new0 (LamPulseqDefinition, 1);
    d->key = g_strdup (key);
    g_ptr_array_add (seq->definitions, d);
  }
  char *copy = g_strdup (value);
  g_free (d->value);
  d->value = copy;
  lam_pulseq_changed (seq);
}

/* ---- extensions ---- */

static const char *const extension_names[] = {"TRIGGERS", "LABELSET", "LABELINC", "DELAYS", "ROTATIONS", "RF_SHIMS"};

LamPulseqExtensionKind
lam_pulseq_extension_kind (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (extension_names); i++)
    if (g_str_equal (name, extension_names[i]))
      return i;
  return LAM_PULSEQ_EXT_UNKNOWN;
}

LamPulseqExtension *
lam_pulseq_extension (const LamPulseq *seq, LamPulseqExtensionKind kind)
{
  for (guint i = 0; i < seq->extensions->len; i++) {
    LamPulseqExtension *x = seq->extensions->pdata[i];
    if (x->kind == kind)
      return x;
  }
  return NULL;
}

LamPulseqExtension *
lam_pulseq_extension_new (const char *name, int32_t type)
{
  LamPulseqExtension *x = g_new0 (LamPulseqExtension, 1);
  x->name = g_strdup (name);
  x->type = type;
  x->kind = lam_pulseq_extension_kind (name);
  return x;
}

void
lam_pulseq_extension_free (LamPulseqExtension *x)
{
  if (!x)
    return;
  for (int64_t i = 0; i < x->rows; i++) {
    LamPulseqExtensionRow *r = &x->row[i];
    if (x->kind == LAM_PULSEQ_EXT_LABELSET || x->kind == LAM_PULSEQ_EXT_LABELINC)
      g_free (r->label.name);
    else if (x->kind == LAM_PULSEQ_EXT_DELAYS)
      g_free (r->delay.hint);
    else if (x->kind == LAM_PULSEQ_EXT_RF_SHIMS)
      g_free (r->shim.values);
  }
  lam_free (x->row);
  g_free (x->name);
  g_free (x->text);
  g_free (x);
}

static LamPulseqExtension *
extension_of_type (const LamPulseq *seq, int32_t type)
{
  for (guint i = 0; i < seq->extensions->len; i++) {
    LamPulseqExtension *x = seq->extensions->pdata[i];
    if (x->type == type)
      return x;
  }
  return NULL;
}

void
lam_pulseq_resolve_links (LamPulseq *seq)
{
  g_autoptr (GHashTable) rows = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) turns = g_hash_table_new (NULL, NULL);
  LamPulseqExtension *rotations = lam_pulseq_extension (seq, LAM_PULSEQ_EXT_ROTATIONS);
  for (int64_t i = 0; rotations && i < rotations->rows; i++)
    g_hash_table_insert (turns, GINT_TO_POINTER (rotations->row[i].id), GINT_TO_POINTER ((int) i + 1));
  for (int64_t i = 0; i < seq->links; i++)
    g_hash_table_insert (rows, GINT_TO_POINTER (seq->link[i].id), GINT_TO_POINTER ((int) i + 1));

  /* Each link is looked at once: from it along its chain until one that is known, then back. A chain longer than there are
   * links goes in a circle. */
  g_autofree int32_t *chain = g_new (int32_t, LAM_MAX (seq->links, 1));
  g_autofree guint8 *state = g_new0 (guint8, LAM_MAX (seq->links, 1)); /* 1: on this chain, 2: known */
  for (int64_t i = 0; i < seq->links; i++) {
    int64_t n = 0;
    for (int32_t at = (int32_t) i; at >= 0 && state[at] != 2;) {
      LamPulseqLink *l = &seq->link[at];
      state[at] = 1;
      chain[n++] = at;
      int32_t next = GPOINTER_TO_INT (g_hash_table_lookup (rows, GINT_TO_POINTER (l->next))) - 1;
      if (l->next != 0 && (next < 0 || state[next] == 1)) {
        lam_pulseq_problem_take (seq, LAM_PULSEQ_ERROR, 0, 0,
                                 g_strdup_printf (next < 0 ? "[EXTENSIONS] %d goes on with %d, which is not there"
                                                           : "[EXTENSIONS] %d goes on with %d, in a circle",
                                                  l->id, l->next),
                                 g_strdup ("the list ends here"));
        l->next = 0;
        next = -1;
      }
      at = l->next == 0 ? -1 : next;
    }
    while (n-- > 0) {
      LamPulseqLink *l = &seq->link[chain[n]];
      LamPulseqExtension *x = extension_of_type (seq, l->type);
      int32_t next = l->next ? GPOINTER_TO_INT (g_hash_table_lookup (rows, GINT_TO_POINTER (l->next))) - 1 : -1;
      l->rotation = next >= 0 ? seq->link[next].rotation : -1;
      if (!x)
        lam_pulseq_problem_take (
            seq, LAM_PULSEQ_WARNING, 0, 0,
            g_strdup_printf ("[EXTENSIONS] %d is of type %d, which no extension has", l->id, l->type),
            g_strdup ("it has no effect"));
      else if (x->kind == LAM_PULSEQ_EXT_ROTATIONS) {
        int32_t turn = GPOINTER_TO_INT (g_hash_table_lookup (turns, GINT_TO_POINTER (l->ref))) - 1;
        if (turn < 0)
          lam_pulseq_problem_take (
              seq, LAM_PULSEQ_ERROR, 0, 0,
              g_strdup_printf ("[EXTENSIONS] %d means rotation %d, which is not there", l->id, l->ref),
              g_strdup ("no rotation"));
        else
          l->rotation = turn;
      }
      state[chain[n]] = 2;
    }
  }
}

gboolean
lam_pulseq_rotation (const LamPulseq *seq, int64_t block, double R[9])
{
  static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t link = seq->event[LAM_PULSEQ_EXT][block] - 1, turn = link >= 0 ? seq->link[link].rotation : -1;
  memcpy (R, unit, sizeof unit);
  if (turn < 0)
    return FALSE;
  const double *q = lam_pulseq_extension (seq, LAM_PULSEQ_EXT_ROTATIONS)->row[turn].rotation;
  double w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = 1 - 2 * (y * y + z * z);
  R[1] = 2 * (x * y - w * z);
  R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z);
  R[4] = 1 - 2 * (x * x + z * z);
  R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y);
  R[7] = 2 * (y * z + w * x);
  R[8] = 1 - 2 * (x * x + y * y);
  return TRUE;
}

/* ---- small things ---- */

gboolean
lam_pulseq_needs_f0 (const LamPulseq *seq)
{
  for (int64_t i = 0; i < seq->rfs; i++)
    if (seq->rf[i].freq_ppm != 0 || seq->rf[i].phase_ppm != 0)
      return TRUE;
  for (int64_t i = 0; i < seq->adcs; i++)
    if (seq->adc[i].freq_ppm != 0 || seq->adc[i].phase_ppm != 0)
      return TRUE;
  return FALSE;
}

static const struct {
  char letter;
  const char *name;
} uses[] = {
    {'u', "undefined"},  {'e', "excitation"},  {'r', "refocusing"}, {'i', "inversion"},
    {'s', "saturation"}, {'p', "preparation"}, {'o', "other"},
};

const char *
lam_pulseq_use_name (LamPulseqUse use)
{
  return uses[use].name;
}

char
lam_pulseq_use_letter (LamPulseqUse use)
{
  return uses[use].letter;
}

gboolean
lam_pulseq_use_from_letter (char letter, LamPulseqUse *use)
{
  for (guint i = 0; i < G_N_ELEMENTS (uses); i++)
    if (uses[i].letter == letter) {
      *use = i;
      return TRUE;
    }
  *use = LAM_PULSEQ_USE_UNDEFINED;
  return FALSE;
}

const char *
lam_pulseq_signature_name (LamPulseqSignature s)
{
  static const char *const names[] = {"none", "matches", "does not match", "not checked"};
  return names[s];
}

const char *
lam_pulseq_label_name (int64_t number)
{
  static const char *const names[] = {"SLC", "SEG",   "REP",  "AVG",   "SET",   "ECO",   "PHS", "LIN",
                                      "PAR", "ACQ",   "TRID", "NAV",   "REV",   "SMS",   "REF", "IMA",
                                      "OFF", "NOISE", "PMC",  "NOROT", "NOPOS", "NOSCL", "ONCE"};
  return number >= 1 && number <= (int64_t) G_N_ELEMENTS (names) ? names[number - 1] : NULL;
}
