#include "mr/template.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "mr/templates-private.h"

#define MOST_FIELDS 24
#define MOST_VALUES 1000000

struct _LamProtocol {
  const LamTemplate *template;
  double *values[MOST_FIELDS];
  int n[MOST_FIELDS];
};

/* ---- the list ---- */

const LamTemplate *const *
lam_templates (int *n)
{
  static const LamTemplate *all[64];
  static gsize once;
  static int count;
  if (g_once_init_enter (&once)) {
    count = lam_train_templates (all);
    count += lam_closed_templates (all + count);
    g_once_init_leave (&once, 1);
  }
  *n = count;
  return all;
}

const LamTemplate *
lam_template_find (const char *name)
{
  int n;
  const LamTemplate *const *all = lam_templates (&n);
  for (int i = 0; i < n; i++)
    if (g_ascii_strcasecmp (all[i]->name, name) == 0)
      return all[i];
  return NULL;
}

static int
field_index (const LamTemplate *t, const char *name)
{
  for (int i = 0; t->fields[i].name; i++)
    if (strcmp (t->fields[i].name, name) == 0)
      return i;
  return -1;
}

const LamField *
lam_template_field (const LamTemplate *t, const char *name)
{
  int i = field_index (t, name);
  return i < 0 ? NULL : &t->fields[i];
}

/* ---- protocols ---- */

LamProtocol *
lam_protocol_new (const LamTemplate *t)
{
  LamProtocol *p = g_new0 (LamProtocol, 1);
  p->template = t;
  for (int i = 0; t->fields[i].name; i++) {
    g_assert (i < MOST_FIELDS);
    const LamField *f = &t->fields[i];
    p->n[i] = f->list ? f->n : 1;
    p->values[i] = g_memdup2 (f->list ? f->list : &f->value, p->n[i] * sizeof (double));
  }
  return p;
}

LamProtocol *
lam_protocol_copy (const LamProtocol *p)
{
  LamProtocol *c = g_memdup2 (p, sizeof *p);
  for (int i = 0; p->template->fields[i].name; i++)
    c->values[i] = g_memdup2 (p->values[i], p->n[i] * sizeof (double));
  return c;
}

void
lam_protocol_free (LamProtocol *p)
{
  for (int i = 0; i < MOST_FIELDS; i++)
    g_free (p->values[i]);
  g_free (p);
}

const LamTemplate *
lam_protocol_template (const LamProtocol *p)
{
  return p->template;
}

gboolean
lam_protocol_equal (const LamProtocol *a, const LamProtocol *b)
{
  if (lam_protocol_template (a) != lam_protocol_template (b))
    return FALSE;
  for (const LamField *f = lam_protocol_template (a)->fields; f->name; f++) {
    int n, m;
    const double *x = lam_protocol_get (a, f->name, &n), *y = lam_protocol_get (b, f->name, &m);
    if (n != m)
      return FALSE;
    for (int i = 0; i < n; i++)
      if (x[i] != y[i] && !(isnan (x[i]) && isnan (y[i])))
        return FALSE;
  }
  return TRUE;
}

static gboolean
check_value (const LamField *f, double v, int i, int n, GError **error)
{
  if (isnan (v) && isnan (f->value) && n == 1)
    return TRUE;
  if (v >= f->least && v <= f->most && (f->kind < LAM_FIELD_COUNT || v == floor (v)))
    return TRUE;
  g_autofree char *at = n > 1 ? g_strdup_printf ("[%d]", i) : g_strdup ("");
  const char *unit = *f->unit ? " " : "";
  if (f->kind >= LAM_FIELD_COUNT)
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s%s = %g: a whole number from %g to %g is needed", f->name, at,
                 v, f->least, f->most);
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s%s = %g%s%s: it must lie between %g and %g", f->name, at, v,
                 unit, f->unit, f->least, f->most);
  return FALSE;
}

gboolean
lam_protocol_set (LamProtocol *p, const char *name, const double *values, int n, GError **error)
{
  int at = field_index (p->template, name);
  if (at < 0) {
    g_autoptr (GString) known = g_string_new (NULL);
    for (const LamField *f = p->template->fields; f->name; f++)
      g_string_append_printf (known, "%s%s", known->len ? ", " : "", f->name);
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s has no \"%s\"; it has %s", p->template->name, name,
                 known->str);
    return FALSE;
  }
  const LamField *f = &p->template->fields[at];
  if (n < 1 || n > MOST_VALUES || (n > 1 && f->kind != LAM_FIELD_LIST)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s takes %s, not %d values", name,
                 f->kind == LAM_FIELD_LIST ? "one value or a list" : "one value", n);
    return FALSE;
  }
  for (int i = 0; i < n; i++)
    if (!check_value (f, values[i], i, n, error))
      return FALSE;
  double *copy = g_memdup2 (values, n * sizeof *values);
  g_free (p->values[at]);
  p->values[at] = copy;
  p->n[at] = n;
  return TRUE;
}

gboolean
lam_protocol_set_value (LamProtocol *p, const char *name, double value, GError **error)
{
  return lam_protocol_set (p, name, &value, 1, error);
}

const double *
lam_protocol_get (const LamProtocol *p, const char *name, int *n)
{
  int at = field_index (p->template, name);
  g_assert (at >= 0);
  if (n)
    *n = p->n[at];
  return p->values[at];
}

double
lam_protocol_value (const LamProtocol *p, const char *name)
{
  return lam_protocol_get (p, name, NULL)[0];
}

int
lam_protocol_enter (const LamProtocol *p, LamSequence *s, const char *name)
{
  int at = field_index (p->template, name);
  return lam_sequence_add_values (s, name, p->template->fields[at].unit, p->values[at], p->n[at]);
}

LamNumber
lam_protocol_number (const LamProtocol *p, const LamSequence *s, const char *name, int i)
{
  const LamProtocolEntry *e = lam_sequence_entry (s, name);
  return lam_sequence_number_at (s, e->first, e->n, i);
}

/* ---- closed forms ---- */

struct _LamClosed {
  const LamProtocol *p;
  const LamTissues *tissues;
  int64_t voxel;
  const char *by_tissue, *by_field;
  int by_index;
  double *re, *im, *d_re, *d_im;
};

LamDual
lam_closed_field (const LamClosed *c, const char *name, int i)
{
  int n, at;
  const double *v = lam_protocol_get (c->p, name, &n);
  at = n == 1 ? 0 : i;
  return (LamDual){v[at], c->by_field && at == c->by_index && strcmp (name, c->by_field) == 0};
}

int
lam_closed_count (const LamClosed *c, const char *name)
{
  int n;
  lam_protocol_get (c->p, name, &n);
  return n;
}

LamDual
lam_closed_tissue (const LamClosed *c, const char *name)
{
  return (LamDual){lam_tissues_named_at (c->tissues, name, c->voxel), c->by_tissue && strcmp (name, c->by_tissue) == 0};
}

gboolean
lam_closed_has (const LamClosed *c, const char *name)
{
  return lam_tissues_get (c->tissues, name, NULL) != NULL;
}

void
lam_closed_put (LamClosed *c, int sample, LamDual re, LamDual im)
{
  c->re[sample] = re.v;
  c->im[sample] = im.v;
  if (c->d_re)
    c->d_re[sample] = re.d;
  if (c->d_im)
    c->d_im[sample] = im.d;
}

int
lam_template_closed_samples (const LamProtocol *p)
{
  return p->template->samples (p);
}

void
lam_template_closed (const LamProtocol *p, const LamTissues *tissues, int64_t voxel, const char *by_tissue,
                     const char *by_field, int index, double *re, double *im, double *d_re, double *d_im)
{
  LamClosed c = {p, tissues, voxel, by_tissue, by_field, index, re, im, d_re, d_im};
  p->template->closed (&c);
}
