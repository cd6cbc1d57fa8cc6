/* Machines without GL: the program starts, shows slices that the CPU draws, and levels, wheel and keys work on them. */
#include "cli-util.h"
#include "desk.h"

static const struct {
  const char *name, *variable, *value;
} machines[] = {
    {"disabled", "GDK_DEBUG", "gl-disable"},             /* as a display without it */
    {"no-driver", "LIBGL_DRIVERS_PATH", "/nonexistent"}, /* a broken installation */
    {"old", "MESA_GL_VERSION_OVERRIDE", "2.1"},          /* too old for float textures */
    {"cpu-window", "GSK_RENDERER", "cairo"},             /* GL is there, but windows are drawn without */
};

/* At 1440 x 900. */
static const DeskRect picture = {500, 200, 450, 380};

static void
test_machine (gconstpointer data)
{
  int i = GPOINTER_TO_INT (data);
  g_autofree char *scan = cli_path ("scan.h5"), *arguments = g_strdup_printf ("--light %s", scan);
  g_setenv (machines[i].variable, machines[i].value, TRUE);
  Desk *desk = desk_start (arguments);
  g_free (desk_wait_said (desk, "centre of rotation"));
  /* Greys of a slice, not a black field; twice, since a look can fall between a frame's ground and what is drawn on it. */
  int colours = 0, before_that = 0;
  for (int k = 0; k < 200 && MIN (colours, before_that) < 50; k++) {
    g_usleep (50000);
    before_that = colours;
    colours = desk_colours (picture);
  }
  g_assert_cmpint (MIN (colours, before_that), >=, 50);
  desk_wait_calm (picture);
  guint64 before = desk_look (picture);
  desk_do ("mousemove %d %d click 1 key w Right Right", picture.x + 200, picture.y + 200);
  desk_wait_change (picture, before);
  desk_wait_calm (picture);
  before = desk_look (picture);
  desk_do ("click 5");
  desk_wait_change (picture, before);
  g_autofree char *name = g_strdup_printf ("no-gl-%s", machines[i].name);
  desk_picture (name);
  desk_do ("key ctrl+q");
  desk_wait_end (desk);
  desk_free (desk);
  g_unsetenv (machines[i].variable);
}

int
main (int argc, char **argv)
{
  const char *why;
  g_test_init (&argc, &argv, NULL);
  if (!desk_can (&why)) {
    g_print ("1..0 # SKIP %s\n", why);
    return 0;
  }
  g_unsetenv ("GSK_RENDERER"); /* as people have it: GL if there is any */
  cli_init ();
  CliRun *run =
      cli_ok ("project --phantom tooth --shape 128x128x16 --attenuation 3 --photons 20000 --seed 1 -o scan.h5");
  cli_run_free (run);
  for (size_t i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_autofree char *path = g_strconcat ("/no-gl/", machines[i].name, NULL);
    g_test_add_data_func (path, GINT_TO_POINTER (i), test_machine);
  }
  int failed = g_test_run ();
  cli_finish ();
  return failed;
}
