#include "desk.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#define PATIENCE (20 * G_USEC_PER_SEC)
#define BETWEEN 20000 /* us between two looks */

struct _Desk {
  GSubprocess *process;
  char *said_path; /* all that it says */
  gsize said_to;   /* how far that was read */
  char *window;
};

static Display *screen;

gboolean
desk_can (const char **why)
{
  g_autofree char *xdotool = g_find_program_in_path ("xdotool"), *import = g_find_program_in_path ("import");
  if (screen == NULL)
    screen = XOpenDisplay (NULL);
  *why = screen == NULL                      ? "no display"
         : xdotool == NULL || import == NULL ? "xdotool or imagemagick is not installed"
                                             : NULL;
  return *why == NULL;
}

/* -- words to the screen -- */

static char *
run (const char *line)
{
  g_autoptr (GError) error = NULL;
  char *out = NULL;
  g_spawn_command_line_sync (line, &out, NULL, NULL, &error);
  g_assert_no_error (error);
  return g_strstrip (out);
}

void
desk_do (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *words = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *line = g_strconcat ("xdotool ", words, NULL), *out = run (line);
}

/* Its windows that can be seen, the oldest first. */
static char **
windows (Desk *desk)
{
  g_autofree char *line =
      g_strdup_printf ("xdotool search --onlyvisible --pid %s", g_subprocess_get_identifier (desk->process));
  g_autofree char *out = run (line);
  return g_strsplit (out, "\n", -1);
}

static char *
wait_window (Desk *desk, const char *other_than)
{
  for (gint64 end = g_get_monotonic_time () + PATIENCE; g_get_monotonic_time () < end; g_usleep (BETWEEN)) {
    g_auto (GStrv) ids = windows (desk);
    for (char **id = ids; *id != NULL; id++)
      if (**id != '\0' && g_strcmp0 (*id, other_than) != 0)
        return g_strdup (*id);
  }
  g_error ("no window came");
}

static void
wait_windows (Desk *desk, guint n)
{
  for (gint64 end = g_get_monotonic_time () + PATIENCE; g_get_monotonic_time () < end; g_usleep (BETWEEN)) {
    g_auto (GStrv) ids = windows (desk);
    if (g_strv_length (ids) == n)
      return;
  }
  g_error ("a dialog stays");
}

void
desk_focus (Desk *desk)
{
  desk_do ("windowfocus --sync %s", desk->window);
}

/* Presses @key; the dialog that it brings has the keys then. */
static void
open_dialog (Desk *desk, const char *key)
{
  desk_focus (desk);
  desk_do ("key %s", key);
  g_autofree char *dialog = wait_window (desk, desk->window);
  desk_do ("windowfocus --sync %s", dialog);
  desk_wait_calm ((DeskRect){0, 0, 400, 300});
}

void
desk_answer (Desk *desk, const char *key, const char *answer)
{
  open_dialog (desk, key);
  desk_do ("key %s", answer);
}

void
desk_dialog (Desk *desk, const char *key, const char *text)
{
  g_autofree char *quoted = g_shell_quote (text);
  open_dialog (desk, key);
  desk_do ("key ctrl+a");
  desk_do ("type --delay 8 %s", quoted);
  desk_wait_calm ((DeskRect){0, 0, 400, 300});
  desk_do ("key Return");
  wait_windows (desk, 1);
  desk_focus (desk);
}

/* -- the program -- */

Desk *
desk_start (const char *arguments)
{
  g_autoptr (GError) error = NULL;
  Desk *desk = g_new0 (Desk, 1);
  const char *binary = g_getenv ("LAMINA_GTK_BIN");
  g_assert_nonnull (binary);
  int file = g_file_open_tmp ("lamina-said-XXXXXX", &desk->said_path, &error);
  g_assert_no_error (error);
  g_close (file, NULL);
  g_autofree char *quoted = g_shell_quote (binary), *line = g_strconcat (quoted, " ", arguments, NULL);
  g_auto (GStrv) argv = NULL;
  g_shell_parse_argv (line, NULL, &argv, &error);
  g_assert_no_error (error);
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_stdout_file_path (launcher, desk->said_path);
  g_subprocess_launcher_setenv (launcher, "G_MESSAGES_DEBUG", "lamina", TRUE);
  desk->process = g_subprocess_launcher_spawnv (launcher, (const char *const *) argv, &error);
  g_assert_no_error (error);
  desk->window = wait_window (desk, NULL);
  desk_do ("windowmove %s 0 0", desk->window);
  desk_focus (desk);
  return desk;
}

static void
wait_gone (Desk *desk)
{
  for (gint64 end = g_get_monotonic_time () + PATIENCE;
       g_subprocess_get_identifier (desk->process) != NULL && g_get_monotonic_time () < end; g_usleep (BETWEEN))
    g_main_context_iteration (NULL, FALSE);
  g_assert_null (g_subprocess_get_identifier (desk->process));
}

void
desk_wait_end (Desk *desk)
{
  wait_gone (desk);
  g_assert_true (g_subprocess_get_if_exited (desk->process)); /* and did not crash */
  if (desk_said (desk, "-CRITICAL **") || desk_said (desk, "-WARNING **")) {
    g_autofree char *text = NULL;
    g_file_get_contents (desk->said_path, &text, NULL, NULL);
    g_error ("the program complained: %s", text);
  }
}

void
desk_kill (Desk *desk)
{
  g_subprocess_send_signal (desk->process, SIGKILL);
  wait_gone (desk);
}

void
desk_free (Desk *desk)
{
  if (g_subprocess_get_identifier (desk->process) != NULL)
    desk_kill (desk);
  g_remove (desk->said_path);
  g_object_unref (desk->process);
  g_free (desk->said_path);
  g_free (desk->window);
  g_free (desk);
}

/* Not inlined: gcc 12 would warn of pointers that do not dangle. */
static G_GNUC_NO_INLINE char *
all_said (Desk *desk)
{
  char *text = NULL;
  g_assert_true (g_file_get_contents (desk->said_path, &text, NULL, NULL));
  return text;
}

gboolean
desk_said (Desk *desk, const char *text)
{
  g_autofree char *all = all_said (desk);
  return strstr (all, text) != NULL;
}

char *
desk_wait_said (Desk *desk, const char *text)
{
  for (gint64 end = g_get_monotonic_time () + PATIENCE; g_get_monotonic_time () < end; g_usleep (BETWEEN)) {
    char *all = all_said (desk), *found = strstr (all + desk->said_to, text), *line = NULL;
    char *line_end = found != NULL ? strchr (found, '\n') : NULL;
    if (line_end != NULL) {
      desk->said_to = line_end - all;
      line = g_strndup (found, line_end - found);
    }
    g_free (all);
    if (line != NULL)
      return line;
  }
  g_autofree char *all = all_said (desk);
  desk_picture ("desk-lost");
  g_error ("waited for \"%s\"; the program said:\n%s", text, all);
}

/* -- eyes -- */

static XImage *
grab (DeskRect r)
{
  XImage *image = XGetImage (screen, DefaultRootWindow (screen), r.x, r.y, r.width, r.height, AllPlanes, ZPixmap);
  g_assert_true (image != NULL && image->bits_per_pixel == 32);
  return image;
}

static guint32
pixel (XImage *image, int x, int y)
{
  return ((guint32 *) (image->data + (gsize) y * image->bytes_per_line))[x] & 0xffffff;
}

gboolean
desk_find_colour (DeskRect in, guint32 rgb, int size, int *x, int *y)
{
  XImage *image = grab (in);
  gboolean found = FALSE;
  for (int r = 0; r + size <= in.height && !found; r++)
    for (int c = 0; c + size <= in.width && !found; c++) {
      gboolean all = TRUE;
      for (int i = 0; i < size * size && all; i++)
        all = pixel (image, c + i % size, r + i / size) == rgb;
      found = all;
      *x = in.x + c + size / 2;
      *y = in.y + r + size / 2;
    }
  XDestroyImage (image);
  return found;
}

void
desk_wait_colour (DeskRect in, guint32 rgb, int size, int *x, int *y)
{
  for (gint64 end = g_get_monotonic_time () + PATIENCE; g_get_monotonic_time () < end; g_usleep (BETWEEN))
    if (desk_find_colour (in, rgb, size, x, y))
      return;
  desk_picture ("desk-lost");
  g_error ("the colour #%06x is not seen", rgb);
}

guint64
desk_look (DeskRect at)
{
  XImage *image = grab (at);
  guint64 hash = G_GUINT64_CONSTANT (14695981039346656037);
  for (int y = 0; y < at.height; y++)
    for (int x = 0; x < at.width; x++)
      hash = (hash ^ pixel (image, x, y)) * G_GUINT64_CONSTANT (1099511628211);
  XDestroyImage (image);
  return hash;
}

int
desk_colours (DeskRect at)
{
  XImage *image = grab (at);
  g_autoptr (GHashTable) all = g_hash_table_new (NULL, NULL);
  for (int y = 0; y < at.height; y++)
    for (int x = 0; x < at.width; x++)
      g_hash_table_add (all, GUINT_TO_POINTER (pixel (image, x, y)));
  XDestroyImage (image);
  return (int) g_hash_table_size (all);
}

void
desk_wait_change (DeskRect at, guint64 from)
{
  for (gint64 end = g_get_monotonic_time () + PATIENCE; g_get_monotonic_time () < end; g_usleep (BETWEEN))
    if (desk_look (at) != from)
      return;
  desk_picture ("desk-lost");
  g_error ("nothing changes at %d, %d", at.x, at.y);
}

void
desk_wait_calm (DeskRect at)
{
  guint64 seen = desk_look (at);
  gint64 since = g_get_monotonic_time (), end = since + PATIENCE;
  while (g_get_monotonic_time () - since < G_USEC_PER_SEC / 2 && g_get_monotonic_time () < end) {
    g_usleep (BETWEEN);
    guint64 now = desk_look (at);
    if (now != seen)
      since = g_get_monotonic_time ();
    seen = now;
  }
}

void
desk_picture (const char *name)
{
  const char *folder = g_getenv ("G_TEST_BUILDDIR");
  g_autofree char *path = g_strdup_printf ("%s/%s.png", folder != NULL ? folder : ".", name);
  g_autofree char *quoted = g_shell_quote (path), *line = g_strconcat ("import -window root ", quoted, NULL);
  g_autofree char *out = run (line);
  g_test_message ("picture: %s", path);
}
