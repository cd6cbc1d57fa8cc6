#include "config.h"

#include "cli/common.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "core/error.h"
#include "io/file.h"

gboolean lam_cli_json;

const GOptionEntry lam_cli_common_entries[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &lam_cli_json, N_ ("Print JSON, for programs to read"), NULL},
    {NULL},
};

G_DEFINE_QUARK (lam - cli - usage, lam_cli_usage)

void
lam_cli_usage_error (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (LAM_CLI_USAGE, 0, format, args));
  va_end (args);
}

gboolean
lam_cli_to_usage (GError **error)
{
  if (error && *error)
    (*error)->domain = LAM_CLI_USAGE;
  return FALSE;
}

gboolean
lam_cli_parse (const LamCliHelp *help, const GOptionEntry *const *groups, int least, int most, int *argc, char ***argv,
               GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (help->arguments);
  g_autofree char *program = g_strconcat ("lamina ", (*argv)[0], NULL);
  g_autofree char *description = g_strdup_printf ("%s\n%s\n", _ ("Example:"), help->example);
  g_set_prgname (program);
  g_option_context_set_summary (context, _ (help->summary));
  g_option_context_set_description (context, description);
  for (; *groups; groups++)
    g_option_context_add_main_entries (context, *groups, GETTEXT_PACKAGE);
  g_option_context_add_main_entries (context, lam_cli_common_entries, GETTEXT_PACKAGE);
  gboolean json = lam_cli_json, ok = g_option_context_parse (context, argc, argv, error);
  g_set_prgname ("lamina");
  if (!ok) {
    lam_cli_json = json; /* the parser takes back what it read */
    return lam_cli_to_usage (error);
  }
  int n = *argc - 1;
  /* "--" itself stays in the list when an argument that starts with a dash follows. */
  if (n > 0 && g_str_equal ((*argv)[1], "--")) {
    memmove (*argv + 1, *argv + 2, n * sizeof **argv);
    *argc = n--;
  }
  if (n >= least && n <= most)
    return TRUE;
  if (n > most)
    g_set_error (error, LAM_CLI_USAGE, LAM_CLI_TOO_MANY, _ ("\"%s\": one argument too many; expected: %s %s"),
                 (*argv)[most + 1], program, help->arguments);
  else
    lam_cli_usage_error (error, _ ("an argument is missing; expected: %s %s"), program, help->arguments);
  return FALSE;
}

/* ---- values ---- */

/* All of @text as a number, blanks round it allowed. */
static gboolean
to_double (const char *text, double *out)
{
  char *end = NULL;
  double x = g_ascii_strtod (text, &end);
  if (end == text)
    return FALSE;
  while (g_ascii_isspace (*end))
    end++;
  *out = x;
  return *end == '\0' && !isnan (x);
}

static gboolean
to_int (const char *text, int64_t *out)
{
  g_autofree char *plain = g_strstrip (g_strdup (text));
  gint64 x;
  if (!g_ascii_string_to_signed (*plain == '+' ? plain + 1 : plain, 10, G_MININT64, G_MAXINT64, &x, NULL))
    return FALSE;
  *out = x;
  return TRUE;
}

gboolean
lam_cli_double (const char *option, const char *text, double low, double high, double *out, GError **error)
{
  double x;
  if (!text)
    return TRUE;
  if (to_double (text, &x) && x >= low && x <= high) {
    *out = x;
    return TRUE;
  }
  if (strchr (text, ','))
    lam_cli_usage_error (error, _ ("%s %s: numbers are written with a point; expected %s to %s"), option, text,
                         lam_cli_number (low), lam_cli_number (high));
  else
    lam_cli_usage_error (error, _ ("%s %s: expected a number from %s to %s"), option, text, lam_cli_number (low),
                         lam_cli_number (high));
  return FALSE;
}

gboolean
lam_cli_int (const char *option, const char *text, int64_t low, int64_t high, int64_t *out, GError **error)
{
  int64_t x;
  if (!text)
    return TRUE;
  if (to_int (text, &x) && x >= low && x <= high) {
    *out = x;
    return TRUE;
  }
  if (high == INT64_MAX)
    lam_cli_usage_error (error, _ ("%s %s: expected a whole number, %" G_GINT64_FORMAT " or above"), option, text, low);
  else
    lam_cli_usage_error (error, _ ("%s %s: expected a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT),
                         option, text, low, high);
  return FALSE;
}

gboolean
lam_cli_length (const char *option, const char *text, gboolean infinite, double *out, GError **error)
{
  double x;
  if (!text)
    return TRUE;
  if (to_double (text, &x) && x > 0 && (infinite || isfinite (x))) {
    *out = x;
    return TRUE;
  }
  lam_cli_usage_error (error, _ ("%s %s: expected a length above 0%s"), option, text, infinite ? _ (", or inf") : "");
  return FALSE;
}

gboolean
lam_cli_pair (const char *option, const char *form, const char *text, double *a, double *b, GError **error)
{
  if (!text)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  double x, y;
  if (g_strv_length (parts) == 2 && to_double (parts[0], &x) && to_double (parts[1], &y) && isfinite (x)
      && isfinite (y)) {
    *a = x;
    *b = y;
    return TRUE;
  }
  lam_cli_usage_error (error, _ ("%s %s: expected two numbers, %s"), option, text, form);
  return FALSE;
}

gboolean
lam_cli_range (const char *option, const char *text, LamRange *out, GError **error)
{
  if (!text)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  LamRange r;
  if (g_strv_length (parts) == 2 && to_int (parts[0], &r.begin) && to_int (parts[1], &r.end) && r.begin >= 0
      && r.end > r.begin) {
    *out = r;
    return TRUE;
  }
  lam_cli_usage_error (error, _ ("%s %s: expected A:B, the first index (from 0) and the one after the last"), option,
                       text);
  return FALSE;
}

gboolean
lam_cli_shape (const char *option, const char *text, int64_t out[3], GError **error)
{
  if (!text)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit_set (text, "xX", -1);
  gboolean ok = g_strv_length (parts) == 3;
  for (int i = 0; ok && i < 3; i++)
    ok = to_int (parts[i], &out[i]) && out[i] >= 1;
  if (!ok)
    lam_cli_usage_error (error, _ ("%s %s: expected ROWSxCOLUMNSxSLICES, such as 256x256x64, each 1 or above"), option,
                         text);
  return ok;
}

gboolean
lam_cli_choice (const char *option, const char *text, const char *const *names, int *index, GError **error)
{
  if (!text)
    return TRUE;
  for (int i = 0; names[i]; i++)
    if (g_str_equal (text, names[i])) {
      *index = i;
      return TRUE;
    }
  g_autofree char *all = g_strjoinv (", ", (char **) names);
  lam_cli_usage_error (error, _ ("%s %s: expected one of %s"), option, text, all);
  return FALSE;
}

/* ---- text ---- */

char *
lam_cli_command_line (int argc, char **argv)
{
  static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "%+-./:=@_,";
  GString *line = g_string_new ("lamina");
  for (int i = 0; i < argc; i++) {
    g_autofree char *quoted =
        *argv[i] && strspn (argv[i], plain) == strlen (argv[i]) ? g_strdup (argv[i]) : g_shell_quote (argv[i]);
    g_string_append_printf (line, " %s", quoted);
  }
  return g_string_free (line, FALSE);
}

static char *
ring (void)
{
  static char buffers[16][64];
  static guint next;
  return buffers[next++ % G_N_ELEMENTS (buffers)];
}

const char *
lam_cli_format (const char *format, double x)
{
  return g_ascii_formatd (ring (), 64, format, x);
}

const char *
lam_cli_number (double x)
{
  return isinf (x) ? x > 0 ? "inf" : "-inf" : lam_cli_format ("%.6g", x);
}

const char *
lam_cli_bytes (int64_t bytes)
{
  char *text = ring ();
  if (bytes < 0)
    return _ ("too large");
  g_autofree char *size = g_format_size (bytes);
  char *wide = strstr (size, "\302\240"); /* a space that breaks no line: plain in a terminal, where people search */
  if (wide) {
    *wide = ' ';
    memmove (wide + 1, wide + 2, strlen (wide + 2) + 1);
  }
  g_snprintf (text, 64, "%s (%" G_GINT64_FORMAT ")", size, bytes);
  return text;
}

void
lam_cli_print (const char *format, ...)
{
  if (lam_cli_json)
    return;
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  lam_cli_progress_clear ();
  fputs (text, stdout);
  fputc ('\n', stdout);
  fflush (stdout);
}

void
lam_cli_warn (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  lam_cli_progress_clear ();
  fprintf (stderr, "lamina: %s\n", text);
}

const char *
lam_cli_error_name (const GError *error)
{
  static const char *const names[] = {"failed",    "invalid",   "missing",       "format", "io",
                                      "no-memory", "cancelled", "not-supported", "changed"};
  if (error->domain == LAM_CLI_USAGE)
    return "usage";
  return error->domain == LAM_ERROR && error->code >= 0 && error->code < (int) G_N_ELEMENTS (names) ? names[error->code]
                                                                                                    : "failed";
}

int
lam_cli_fail (const GError *error)
{
  gboolean usage = error->domain == LAM_CLI_USAGE;
  lam_cli_warn ("%s", error->message);
  if (usage)
    fprintf (stderr, "%s\n", _ ("See `lamina help' or `lamina COMMAND --help'."));
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_begin ();
    lam_json_open (b, "error");
    lam_json_text (b, "code", lam_cli_error_name (error));
    lam_json_text (b, "message", error->message);
    lam_json_close (b);
    lam_json_print (b);
  }
  if (usage)
    return LAM_EXIT_USAGE;
  return g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED) ? LAM_EXIT_CANCELLED : LAM_EXIT_FAILED;
}

/* ---- files ---- */

gboolean
lam_cli_not_same (const char *input, const char *output, GError **error)
{
  GStatBuf a, b;
  if (!input || g_stat (input, &a) != 0 || g_stat (output, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               _ ("%s is the input file itself; it would be replaced by the result: give another name with -o"),
               output);
  return FALSE;
}

const char *const lam_cli_table_suffixes[] = {".csv", ".txt", NULL};
const char *const lam_cli_h5_suffixes[] = {".h5", ".hdf5", NULL};

gboolean
lam_cli_suffix (const char *output, const char *what, const char *const *suffixes, GError **error)
{
  g_autofree char *lower = g_ascii_strdown (output, -1);
  for (int i = 0; suffixes[i]; i++)
    if (g_str_has_suffix (lower, suffixes[i]))
      return TRUE;
  g_autofree char *all = g_strjoinv (_ (" or "), (char **) suffixes);
  lam_cli_usage_error (error, _ ("%s: %s: a name that ends in %s was expected"), output, what, all);
  return FALSE;
}

gboolean
lam_cli_writable (const char *output, GError **error)
{
  LamAtomicFile *file = lam_atomic_new (output, error);
  lam_atomic_free (file);
  return file != NULL;
}
