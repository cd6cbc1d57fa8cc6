#include "cli-util.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static char *folder;

void
cli_init (void)
{
  g_autoptr (GError) error = NULL;
  folder = g_dir_make_tmp ("lamina-cli-XXXXXX", &error);
  g_assert_no_error (error);
  g_setenv ("XDG_STATE_HOME", folder, TRUE);
  g_setenv ("XDG_CONFIG_HOME", folder, TRUE);
  g_setenv ("LC_ALL", "C.UTF-8", TRUE);
  g_unsetenv ("LAMINA_DEVICES");
}

static void
remove_all (const char *path)
{
  GDir *dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  for (const char *name = dir ? g_dir_read_name (dir) : NULL; name; name = g_dir_read_name (dir)) {
    g_autofree char *inside = g_build_filename (path, name, NULL);
    remove_all (inside);
  }
  if (dir)
    g_dir_close (dir);
  g_remove (path);
}

void
cli_finish (void)
{
  remove_all (folder);
  g_clear_pointer (&folder, g_free);
}

const char *
cli_folder (void)
{
  return folder;
}

char *
cli_path (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static int
exit_status (int wait)
{
  return WIFEXITED (wait) ? WEXITSTATUS (wait) : 1000 + WTERMSIG (wait);
}

static char **
words (const char *command)
{
  g_autoptr (GError) error = NULL;
  const char *binary = g_getenv ("LAMINA_BIN");
  g_assert_nonnull (binary);
  g_autofree char *quoted = g_shell_quote (binary), *line = g_strconcat (quoted, " ", command, NULL);
  char **argv = NULL;
  g_shell_parse_argv (line, NULL, &argv, &error);
  g_assert_no_error (error);
  return argv;
}

CliRun *
cli_run_env (const char *const *env, const char *command)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) argv = words (command), environment = g_get_environ ();
  CliRun *run = g_new0 (CliRun, 1);
  int wait = 0;
  for (; env && *env; env++) {
    g_auto (GStrv) pair = g_strsplit (*env, "=", 2);
    environment = g_environ_setenv (environment, pair[0], pair[1], TRUE);
  }
  g_spawn_sync (folder, argv, environment, G_SPAWN_DEFAULT, NULL, NULL, &run->out, &run->err, &wait, &error);
  g_assert_no_error (error);
  run->status = exit_status (wait);
  return run;
}

CliRun *
cli_run (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *command = g_strdup_vprintf (format, args);
  va_end (args);
  return cli_run_env (NULL, command);
}

CliRun *
cli_ok (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *command = g_strdup_vprintf (format, args);
  va_end (args);
  CliRun *run = cli_run_env (NULL, command);
  if (run->status != 0)
    g_error ("lamina %s: status %d: %s%s", command, run->status, run->out, run->err);
  return run;
}

typedef struct {
  GPid pid;
  int out, err;
} Child;

static Child
spawn (const char *command)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) argv = words (command);
  Child c;
  g_spawn_async_with_pipes (folder, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &c.pid, NULL, &c.out, &c.err,
                            &error);
  g_assert_no_error (error);
  return c;
}

/* Reads what is left and waits. @out: what was read already. */
static CliRun *
reap (const Child *c, GString *out)
{
  g_autoptr (GString) err = g_string_new (NULL);
  const int pipes[] = {c->out, c->err};
  int wait = 0;
  char line[4096];
  for (int i = 0; i < 2; i++) {
    FILE *f = fdopen (pipes[i], "r");
    while (fgets (line, sizeof line, f))
      g_string_append (i ? err : out, line);
    fclose (f);
  }
  waitpid (c->pid, &wait, 0);
  g_spawn_close_pid (c->pid);
  CliRun *run = g_new0 (CliRun, 1);
  run->status = exit_status (wait);
  run->out = g_strdup (out->str);
  run->err = g_string_free (g_steal_pointer (&err), FALSE);
  return run;
}

CliRun *
cli_run_signalled (const char *command, const char *after, int number, int signals)
{
  g_autoptr (GString) out = g_string_new (NULL);
  Child c = spawn (command);
  int sent = 0, seen = 0;
  FILE *f = fdopen (dup (c.out), "r");
  char line[4096];
  setvbuf (f, NULL, _IONBF, 0);                            /* the rest is read by others */
  while (sent < signals && fgets (line, sizeof line, f)) { /* stderr is short: its pipe does not fill */
    g_string_append (out, line);
    seen += strstr (line, after) != NULL;
    if (seen > sent) {
      kill (c.pid, number);
      if (++sent < signals) { /* while it stops, no line need come */
        g_usleep (30000);
        kill (c.pid, number);
        sent++;
      }
    }
  }
  fclose (f);
  return reap (&c, out);
}

GStrv
cli_comma_locale (void)
{
  const char *name = "de_DE.UTF-8";
  g_autofree char *parent = cli_path ("locale"), *made = g_build_filename (parent, name, NULL), *where = NULL;
  const char *const argv[] = {"localedef", "-i", "de_DE", "-f", "UTF-8", made, NULL};
  if (!setlocale (LC_NUMERIC, name)) {
    g_mkdir (parent, 0700);
    g_spawn_sync (NULL, (char **) argv, NULL,
                  G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
                  NULL, NULL);
    if (!g_file_test (made, G_FILE_TEST_EXISTS)) {
      g_test_skip ("the locale de_DE.UTF-8 is not installed and cannot be made");
      return NULL;
    }
    where = g_strconcat ("LOCPATH=", parent, NULL);
  }
  setlocale (LC_NUMERIC, "C");
  const char *const env[] = {"LC_ALL=de_DE.UTF-8", "LANGUAGE=en", where, NULL};
  return g_strdupv ((char **) env);
}

CliRun *
cli_run_interrupted (const char *command, const char *after, int signals)
{
  return cli_run_signalled (command, after, SIGINT, signals);
}

/* Whether @pid has a handler for signal @number; it may have ended. */
static gboolean
catches (GPid pid, int number)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/status", (int) pid), *text = NULL;
  const char *mask = g_file_get_contents (path, &text, NULL, NULL) ? strstr (text, "SigCgt:") : NULL;
  return mask && (g_ascii_strtoull (mask + strlen ("SigCgt:"), NULL, 16) >> (number - 1) & 1);
}

CliRun *
cli_run_signalled_early (const char *command, int number)
{
  g_autoptr (GString) out = g_string_new (NULL);
  Child c = spawn (command);
  siginfo_t ended = {0};
  for (gint64 end = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
       g_get_monotonic_time () < end && !catches (c.pid, number);) {
    waitid (P_PID, (id_t) c.pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0)
      break;
    g_usleep (100);
  }
  kill (c.pid, number);
  return reap (&c, out);
}

void
cli_run_free (CliRun *run)
{
  g_free (run->out);
  g_free (run->err);
  g_free (run);
}

GPtrArray *
cli_json_lines (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GPtrArray *nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) json_node_unref);
  for (char **line = lines; *line; line++) {
    if (!**line)
      continue;
    g_autoptr (GError) error = NULL;
    JsonNode *node = json_from_string (*line, &error);
    if (!node || !JSON_NODE_HOLDS_OBJECT (node))
      g_error ("not a JSON object (%s): %s", error ? error->message : "-", *line);
    g_ptr_array_add (nodes, node);
  }
  return nodes;
}

JsonObject *
cli_json_last (GPtrArray *lines)
{
  g_assert_cmpuint (lines->len, >, 0);
  return json_node_get_object (g_ptr_array_index (lines, lines->len - 1));
}

char *
cli_checksum (const char *file)
{
  g_autoptr (CliRun) run = cli_ok ("info --checksum %s", file);
  g_assert_cmpuint (strspn (run->out, "0123456789abcdef"), ==, 64);
  return g_strndup (run->out, 64);
}
