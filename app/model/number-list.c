#include "config.h"

#include "model/number-list.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/error.h"

#define MOST 1000000

/* ---- formulas: + - * / ^, brackets, functions, n, N, pi ---- */

typedef struct {
  const char *text, *at;
  double n, count;
  gboolean wrong;
  int depth;
} Formula;

static double sum (Formula *f);

static void
skip (Formula *f)
{
  while (g_ascii_isspace (*f->at))
    f->at++;
}

static gboolean
eat (Formula *f, char c)
{
  skip (f);
  if (*f->at != c)
    return FALSE;
  f->at++;
  return TRUE;
}

static double
call (Formula *f, const char *name, gsize length)
{
  static const struct {
    const char *name;
    double (*call) (double);
  } functions[] = {{"sin", sin}, {"cos", cos}, {"tan", tan},  {"sqrt", sqrt},
                   {"exp", exp}, {"log", log}, {"abs", fabs}, {"floor", floor}};
  double x = sum (f);
  if (!eat (f, ')'))
    f->wrong = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (strlen (functions[i].name) == length && strncmp (functions[i].name, name, length) == 0)
      return functions[i].call (x);
  f->wrong = TRUE;
  return 0;
}

static double
atom (Formula *f)
{
  skip (f);
  if (eat (f, '(')) {
    double x = sum (f);
    if (!eat (f, ')'))
      f->wrong = TRUE;
    return x;
  }
  if (g_ascii_isdigit (*f->at) || *f->at == '.') {
    char *end;
    double x = g_ascii_strtod (f->at, &end);
    f->at = end;
    return x;
  }
  const char *name = f->at;
  while (g_ascii_isalpha (*f->at))
    f->at++;
  gsize length = f->at - name;
  if (length > 0 && eat (f, '('))
    return call (f, name, length);
  if (length == 2 && strncmp (name, "pi", 2) == 0)
    return G_PI;
  if (length == 1 && (*name == 'n' || *name == 'N'))
    return *name == 'n' ? f->n : f->count;
  f->wrong = TRUE;
  return 0;
}

static double
power (Formula *f)
{
  if (++f->depth > 100)
    f->wrong = TRUE;
  double sign = 1;
  while (!f->wrong && (eat (f, '-') || eat (f, '+')))
    sign = f->at[-1] == '-' ? -sign : sign;
  double x = f->wrong ? 0 : atom (f);
  if (!f->wrong && eat (f, '^'))
    x = pow (x, power (f));
  f->depth--;
  return sign * x;
}

static double
product (Formula *f)
{
  double x = power (f);
  for (;;) {
    if (f->wrong)
      return x;
    if (eat (f, '*'))
      x *= power (f);
    else if (eat (f, '/'))
      x /= power (f);
    else
      return x;
  }
}

static double
sum (Formula *f)
{
  double x = product (f);
  for (;;) {
    if (f->wrong)
      return x;
    if (eat (f, '+'))
      x += product (f);
    else if (eat (f, '-'))
      x -= product (f);
    else
      return x;
  }
}

gboolean
lam_formula (const char *text, double n, double count, double *value, GError **error)
{
  Formula f = {.text = text, .at = text, .n = n, .count = count};
  *value = sum (&f);
  skip (&f);
  if (!f.wrong && *f.at == 0)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               _ ("\"%s\" is not understood at character %d. Numbers, n, N, pi, + - * / ^, brackets and sin, cos, tan, "
                  "sqrt, exp, log, "
                  "abs, floor are."),
               text, (int) (f.at - text) + 1);
  return FALSE;
}

/* ---- lists ---- */

static gboolean
number (const char *text, double *x)
{
  char *end;
  g_autofree char *word = g_strstrip (g_strdup (text));
  *x = g_ascii_strtod (word, &end);
  return *word && *end == 0 && isfinite (*x);
}

/* FALSE: not a list of plain words. */
static gboolean
append (GArray *list, const char *word)
{
  g_auto (GStrv) range = g_strsplit (word, ":", -1), times = g_strsplit (word, "*", -1);
  double a, b, n;
  if (g_strv_length (range) == 3 && number (range[0], &a) && number (range[1], &b) && number (range[2], &n) && n >= 1
      && n <= MOST && n == floor (n)) {
    for (int i = 0; i < (int) n; i++) {
      double x = n == 1 ? a : a + (b - a) * i / (n - 1);
      g_array_append_val (list, x);
    }
    return TRUE;
  }
  if (g_strv_length (times) == 2 && number (times[0], &a) && number (times[1], &n) && n >= 1 && n <= MOST
      && n == floor (n)) {
    for (int i = 0; i < (int) n; i++)
      g_array_append_val (list, a);
    return TRUE;
  }
  if (!number (word, &a))
    return FALSE;
  g_array_append_val (list, a);
  return TRUE;
}

double *
lam_number_list_parse (const char *text, int count, int *n, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (double));
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  gboolean plain = TRUE;
  for (int i = 0; plain && words[i]; i++)
    plain = append (list, words[i]) && list->len <= MOST;
  if (!plain) {
    g_array_set_size (list, 0);
    for (int i = 0; i < count; i++) {
      double x;
      if (!lam_formula (text, i, count, &x, error))
        return NULL;
      if (!isfinite (x)) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("\"%s\" is not a number at n = %d"), text, i);
        return NULL;
      }
      g_array_append_val (list, x);
    }
  }
  *n = (int) list->len;
  return (double *) (void *) g_array_free (g_steal_pointer (&list), FALSE);
}
