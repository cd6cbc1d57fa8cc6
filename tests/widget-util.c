#include "widget-util.h"

#include <adwaita.h>
#include <gdk/x11/gdkx.h>
#include <math.h>

gboolean
test_ui_init (int *argc, char ***argv)
{
  g_test_init (argc, argv, NULL);
  if (!gtk_init_check ()) {
    g_print ("1..0 # SKIP no display\n");
    return FALSE;
  }
  adw_init ();
  /* Faster, and a fold that animates out of a layout makes libadwaita 1.2 warn now and then. */
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);
  return TRUE;
}

typedef struct {
  int left;
} Frames;

static gboolean
tick_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Frames *frames = data;
  gtk_widget_queue_draw (widget);
  return --frames->left > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static gboolean
frames_done (gpointer data)
{
  return ((Frames *) data)->left <= 0;
}

static gboolean
alarm_cb (gpointer data)
{
  g_error ("waited ten seconds for nothing");
  return G_SOURCE_REMOVE;
}

void
test_wait (gboolean (*done) (gpointer), gpointer data)
{
  guint alarm = g_timeout_add_seconds (10, alarm_cb, NULL);
  while (!done (data))
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (alarm);
}

void
test_wait_frames (GtkWidget *widget, int frames)
{
  Frames left = {frames};
  gtk_widget_add_tick_callback (widget, tick_cb, &left, NULL);
  test_wait (frames_done, &left);
}

GtkWidget *
test_present (GtkWidget *child, int width, int height)
{
  GtkWidget *window = gtk_window_new ();
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (window), width, height);
  gtk_window_set_child (GTK_WINDOW (window), child);
  gtk_window_present (GTK_WINDOW (window));
  test_wait_frames (window, 4);
  return window;
}

void
test_close (GtkWidget *window)
{
  gtk_window_destroy (GTK_WINDOW (window));
  for (int i = 0; i < 20; i++)
    g_main_context_iteration (NULL, FALSE);
}

guint32
test_pixel (GtkWidget *widget, double x, double y)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  gdk_paintable_snapshot (paintable, snapshot, width, height);
  g_autoptr (GskRenderNode) node = gtk_snapshot_free_to_node (snapshot);
  g_assert_nonnull (node);
  GskRenderer *renderer = gtk_native_get_renderer (gtk_widget_get_native (widget));
  g_autoptr (GdkTexture) texture =
      gsk_renderer_render_texture (renderer, node, &GRAPHENE_RECT_INIT (0, 0, width, height));
  g_autofree guint32 *pixels = g_new (guint32, (gsize) width * height);
  gdk_texture_download (texture, (guchar *) pixels, width * 4);
  return pixels[(int) floor (y) * width + (int) floor (x)] & 0xffffff;
}

gboolean
test_have_xdotool (void)
{
  g_autofree char *path = g_find_program_in_path ("xdotool");
  return path != NULL && GDK_IS_X11_DISPLAY (gdk_display_get_default ());
}

static void
exited_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_subprocess_wait_check_finish (G_SUBPROCESS (source), result, &error);
  g_assert_no_error (error);
  *(gboolean *) data = TRUE;
}

static gboolean
flag_set (gpointer data)
{
  return *(gboolean *) data;
}

void
test_xdotool (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *words = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *line = g_strconcat ("xdotool ", words, NULL);
  g_auto (GStrv) argv = NULL;
  g_autoptr (GError) error = NULL;
  gboolean done = FALSE;
  g_assert_true (g_shell_parse_argv (line, NULL, &argv, NULL));
  g_autoptr (GSubprocess) process = g_subprocess_newv ((const char *const *) argv, G_SUBPROCESS_FLAGS_NONE, &error);
  g_assert_no_error (error);
  g_subprocess_wait_check_async (process, NULL, exited_cb, &done);
  test_wait (flag_set, &done);
}

void
test_screen_point (GtkWidget *widget, double x, double y, int *screen_x, int *screen_y)
{
  GtkNative *native = gtk_widget_get_native (widget);
  double wx, wy, dx, dy;
  g_assert_true (gtk_widget_translate_coordinates (widget, GTK_WIDGET (native), x, y, &wx, &wy));
  gtk_native_get_surface_transform (native, &dx, &dy);
  *screen_x = (int) (wx + dx);
  *screen_y = (int) (wy + dy);
  for (GdkSurface *s = gtk_native_get_surface (native); GDK_IS_POPUP (s); s = gdk_popup_get_parent (GDK_POPUP (s))) {
    *screen_x += gdk_popup_get_position_x (GDK_POPUP (s));
    *screen_y += gdk_popup_get_position_y (GDK_POPUP (s));
  }
}

void
test_focus_window (GtkWidget *window)
{
  GdkSurface *surface = gtk_native_get_surface (GTK_NATIVE (window));
  gulong id = gdk_x11_surface_get_xid (surface);
  test_xdotool ("windowfocus --sync %lu", id);
  test_wait_frames (window, 2);
}
