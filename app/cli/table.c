#include "config.h"

#include "cli/table.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "cli/common.h"
#include "core/error.h"

#define MOST_BYTES (64 << 20)

static void refuse (GError **error, const char *path, int64_t line, const char *format, ...) G_GNUC_PRINTF (4, 5);

static void
refuse (GError **error, const char *path, int64_t line, const char *format, ...)
{
  va_list list;
  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  if (line > 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: line %" G_GINT64_FORMAT ": %s"), path, line, text);
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: %s", path, text);
}

static char *
read_text (const char *path, GError **error)
{
  GStatBuf s;
  char *text = NULL;
  gsize length;
  if (g_stat (path, &s) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, _ ("%s: cannot be opened: %s"), path, g_strerror (errno));
    return NULL;
  }
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR)) {
    refuse (error, path, 0, _ ("is not a plain file"));
    return NULL;
  }
  if (s.st_size > MOST_BYTES) {
    refuse (error, path, 0, _ ("is too large for a table of a few numbers"));
    return NULL;
  }
  if (!g_file_get_contents (path, &text, &length, error))
    return NULL;
  if (strlen (text) != length) {
    refuse (error, path, 0, _ ("is no text"));
    g_free (text);
    return NULL;
  }
  return text;
}

/* Cells without blanks and quotes round them. */
static GStrv
cells_of (const char *line)
{
  gboolean blank = !strpbrk (line, ",;\t");
  GStrv cells = g_strsplit_set (line, blank ? " " : ",;\t", -1);
  GPtrArray *all = g_ptr_array_new ();
  for (int i = 0; cells[i]; i++) {
    char *c = g_strstrip (cells[i]);
    size_t n = strlen (c);
    gboolean quoted = n >= 2 && c[0] == '"' && c[n - 1] == '"';
    if (n > 0 || !blank)
      g_ptr_array_add (all, quoted ? g_strndup (c + 1, n - 2) : g_strdup (c));
  }
  g_strfreev (cells);
  g_ptr_array_add (all, NULL);
  return (GStrv) g_ptr_array_free (all, FALSE);
}

static gboolean
number (const char *text, double *x)
{
  char *end;
  *x = g_ascii_strtod (text, &end);
  return *text && *end == 0;
}

/* Which cell of the names, or of a first line of numbers; -1 with an error. */
static int
choose (GStrv cells, gboolean names, const char *path, const char *name, GError **error)
{
  int n = (int) g_strv_length (cells), found = -1;
  for (int i = 0; names && i < n; i++)
    if (g_ascii_strcasecmp (cells[i], name) == 0 && found < 0)
      found = i;
  if (found >= 0 || n == 1)
    return MAX (found, 0);
  if (names) {
    g_autofree char *all = g_strjoinv (", ", cells);
    refuse (error, path, 0, _ ("it has no column \"%s\"; it has %s"), name, all);
  } else
    refuse (error, path, 0, _ ("it has %d columns and no line of names above them: which one is %s?"), n, name);
  return -1;
}

static GPtrArray *tables; /* of char *: what was read */

gboolean
lam_cli_spares_tables (const char *output, GError **error)
{
  for (guint i = 0; tables && i < tables->len; i++)
    if (!lam_cli_not_same (g_ptr_array_index (tables, i), output, error))
      return FALSE;
  return TRUE;
}

GArray *
lam_cli_table_column (const char *path, const char *name, GError **error)
{
  g_autofree char *text = read_text (path, error);
  if (!text)
    return NULL;
  if (!tables)
    tables = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (tables, g_strdup (path));
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (double));
  g_auto (GStrv) lines = g_strsplit (g_str_has_prefix (text, "\357\273\277") ? text + 3 : text, "\n", -1);
  int column = -1;
  int64_t ended = 0;
  for (int64_t i = 0; lines[i]; i++) {
    if (!*g_strstrip (lines[i]) || *lines[i] == '#')
      continue;
    g_auto (GStrv) cells = cells_of (lines[i]);
    double x;
    if (column < 0) {
      gboolean names = FALSE;
      for (int c = 0; cells[c]; c++)
        names = names || (*cells[c] && !number (cells[c], &x));
      if ((column = choose (cells, names, path, name, error)) < 0)
        return NULL;
      if (names)
        continue;
    }
    const char *cell = column < (int) g_strv_length (cells) ? cells[column] : "";
    if (!*cell) {
      ended = ended ? ended : i + 1;
      continue;
    }
    if (ended) {
      refuse (error, path, ended, _ ("%s ends here, and goes on in line %" G_GINT64_FORMAT), name, i + 1);
      return NULL;
    }
    if (!number (cell, &x)) {
      refuse (error, path, i + 1, _ ("\"%.40s\" is no number"), cell);
      return NULL;
    }
    g_array_append_val (list, x);
  }
  if (list->len == 0) {
    refuse (error, path, 0, _ ("it has no value of %s"), name);
    return NULL;
  }
  return g_steal_pointer (&list);
}
