#include "mr/number-list.h"

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
  g_set_error (
      error, LAM_ERROR, LAM_ERROR_INVALID,
      "\"%s\" is not understood at character %d. Numbers, n (from 0), N (how many), pi, + - * / ^, brackets and "
      "sin, cos, tan, sqrt, exp, log, abs, floor are.",
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
  return *word && *end == 0;
}

static gboolean
count_of (const char *text, int *n)
{
  double x;
  if (!number (text, &x) || !(x >= 1 && x <= MOST) || x != floor (x))
    return FALSE;
  *n = (int) x;
  return TRUE;
}

typedef enum {
  PLAIN, /* a number, FROM:TO:COUNT, VALUE*COUNT; its values were appended */
  WRONG, /* meant as one of these */
  OTHER,
} Kind;

static Kind
append_plain (GArray *list, const char *word)
{
  g_auto (GStrv) range = g_strsplit (word, ":", -1), times = g_strsplit (word, "*", -1);
  double a, b;
  int n;
  if (g_strv_length (range) == 3) {
    if (!number (range[0], &a) || !number (range[1], &b) || !count_of (range[2], &n) || !isfinite (a) || !isfinite (b))
      return WRONG;
    for (int i = 0; i < n; i++) {
      double x = n == 1 ? a : a + (b - a) * i / (n - 1);
      g_array_append_val (list, x);
    }
    return PLAIN;
  }
  if (g_strv_length (times) == 2 && number (times[0], &a) && number (times[1], &b)) {
    if (!count_of (times[1], &n)) /* 3*0.5 is a number, 3*0 a slip */
      return b == floor (b) ? WRONG : OTHER;
    for (int i = 0; i < n; i++)
      g_array_append_val (list, a);
    return PLAIN;
  }
  if (!number (word, &a))
    return OTHER;
  g_array_append_val (list, a);
  return PLAIN;
}

static gboolean
append_formula (GArray *list, const char *text, int count, GError **error)
{
  for (int i = 0; i < count; i++) {
    double x;
    if (!lam_formula (text, i, count, &x, error))
      return FALSE;
    if (!isfinite (x)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\" is not a number at n = %d", text, i);
      return FALSE;
    }
    g_array_append_val (list, x);
  }
  return TRUE;
}

/* Whether @text is a formula that has one value, whatever n and N. */
static gboolean
is_constant (const char *text)
{
  double a, b, c;
  return lam_formula (text, 0, 1, &a, NULL) && lam_formula (text, 3, 11, &b, NULL)
         && lam_formula (text, 5, 13, &c, NULL) && a == b && a == c;
}

/* FORMULA:COUNT; where it is all there is also a formula alone, of @count values. */
static gboolean
append_other (GArray *list, const char *word, gboolean alone, int count, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (word, ":", -1);
  int n;
  if (g_strv_length (parts) == 2 && count_of (parts[1], &n))
    return append_formula (list, g_strstrip (parts[0]), n, error);
  if (alone && g_strv_length (parts) == 1 && *g_strstrip (parts[0])) {
    double x;
    if (count > 0 || is_constant (parts[0]))
      return append_formula (list, parts[0], MAX (count, 1), error);
    if (lam_formula (parts[0], 0, 1, &x, error))
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "how many values \"%s\" makes is not said: write %s:200", word,
                   parts[0]);
    return FALSE;
  }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "\"%s\" is no list of numbers; write 10,20 or FROM:TO:COUNT or VALUE*COUNT, or FORMULA:COUNT with a "
               "formula of n",
               word);
  return FALSE;
}

gboolean
lam_number_list_wants_count (const char *text)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (double));
  return !strpbrk (text, ",:") && append_plain (list, text) == OTHER && !is_constant (text);
}

double *
lam_number_list_parse (const char *text, int count, int *n, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (double));
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  gboolean alone = g_strv_length (words) == 1;
  for (int i = 0; words[i]; i++) {
    Kind kind = append_plain (list, words[i]);
    if (kind != PLAIN && !append_other (list, words[i], alone && kind == OTHER, count, error))
      return NULL;
    if (list->len > MOST) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\": more than %d values", text, MOST);
      return NULL;
    }
  }
  if (list->len == 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "no value is there");
  *n = (int) list->len;
  return list->len == 0 ? NULL : (double *) (void *) g_array_free (g_steal_pointer (&list), FALSE);
}
