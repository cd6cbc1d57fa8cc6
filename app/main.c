#include "config.h"

#include <glib/gi18n.h>
#include <gtk/gtk.h>
#include <locale.h>
#include <signal.h>

#include "application.h"
#include "core/device.h"

/* Before the application asks for one: GTK's own words of a missing display tell nobody what to do. */
static int
need_display_cb (GApplication *application, GVariantDict *options, gpointer data)
{
  if (g_variant_dict_contains (options, "version") || gtk_init_check ())
    return -1; /* go on */
  g_printerr ("%s\n",
              _ ("lamina-gtk: there is no display to open a window on; set DISPLAY or WAYLAND_DISPLAY, or work on "
                 "the command line with lamina (`lamina --help')"));
  return 1;
}

int
main (int argc, char **argv)
{
  signal (SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write, with words */
  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, LAMINA_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  g_autofree char *threads = lam_threads_problem ();
  if (threads != NULL)
    g_printerr ("lamina-gtk: %s\n", threads);
  g_autoptr (LamApplication) application = lam_application_new ();
  g_signal_connect (application, "handle-local-options", G_CALLBACK (need_display_cb), NULL);
  return g_application_run (G_APPLICATION (application), argc, argv);
}
