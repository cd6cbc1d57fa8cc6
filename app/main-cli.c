/* main-cli.c: `lamina`, the program without a window: finds the command and calls it. */
#include "config.h"

#include <glib/gi18n.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/common.h"
#include "cli/progress.h"
#include "core/cpu-features.h"
#include "core/device.h"

static const struct {
  const char *name, *summary;
  int (*run) (int argc, char **argv);
} commands[] = {
    {"info", N_ ("What a file is: scan, volume, checkpoint, images, Pulseq sequence, maps"), lam_cli_info},
    {"reconstruct", N_ ("Make a volume of a scan"), lam_cli_reconstruct},
    {"project", N_ ("Make a scan of a volume or a phantom"), lam_cli_project},
    {"phantom", N_ ("Make a test volume"), lam_cli_phantom},
    {"render", N_ ("A plane of a volume or map, a view of a scan, or a sequence, as a PNG picture"), lam_cli_render},
    {"convert", N_ ("Between volume files, image stacks and scan files; Pulseq versions"), lam_cli_convert},
    {"sweep", N_ ("One slice over a range of a parameter: where it is sharpest"), lam_cli_sweep},
    {"simulate", N_ ("The signal of a sequence, template or Pulseq file, for tissues"), lam_cli_simulate},
    {"jacobian", N_ ("Its derivatives by tissue and protocol"), lam_cli_jacobian},
    {"crlb", N_ ("How precisely tissue can be told from it at best"), lam_cli_crlb},
    {"design", N_ ("A protocol that is best for something"), lam_cli_design},
    {"dictionary", N_ ("The signals of many tissues, to match with"), lam_cli_dictionary},
    {"match", N_ ("Maps of tissue from a series of images, by a dictionary"), lam_cli_match},
    {"plan", N_ ("What a run would need: memory and copies, by device"), lam_cli_plan},
    {"devices", N_ ("The devices of this machine, and their test"), lam_cli_devices},
    {"bench", N_ ("Time one task and print one JSON line"), lam_cli_bench},
};

static void
print_help (FILE *to)
{
  fprintf (to, "%s\n  lamina %s\n\n%s\n", _ ("Usage:"), _ ("COMMAND [OPTION…]"), _ ("Commands:"));
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (to, "  %-12s %s\n", commands[i].name, _ (commands[i].summary));
  fprintf (to, "\n%s\n  lamina reconstruct tooth.h5 -o tooth-recon.h5\n\n", _ ("Example:"));
  fprintf (to, "%s\n",
           _ ("`lamina COMMAND --help' tells the options of a command, `lamina --version' the version.\n"
              "Exit status: 0 done, 1 failed, 2 wrong usage, 3 does not fit (plan), 130 stopped.\n"
              "Channels, rows, slices and views count from 0."));
}

static int
usage (const char *text, const char *word)
{
  g_autoptr (GError) error = NULL;
  lam_cli_usage_error (&error, text, word);
  return lam_cli_fail (error);
}

/* What was printed is part of what was asked for. */
static int
check_output (int status)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return status;
  lam_cli_warn ("%s", _ ("standard output could not be written: what was printed is lost"));
  return status == LAM_EXIT_DONE ? LAM_EXIT_FAILED : status;
}

int
main (int argc, char **argv)
{
  lam_cli_catch_signals ();
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C"); /* what a program reads and writes looks the same everywhere */
  bindtextdomain (GETTEXT_PACKAGE, LAMINA_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  g_set_prgname ("lamina");
  lam_fp_setup (); /* with one device this thread computes too */

  for (int i = 1; i < argc; i++) /* known before the options are read, for errors in them */
    lam_cli_json |= g_str_equal (argv[i], "--json");
  char *help[] = {NULL, (char *) "--help", NULL};
  const char *name = argc > 1 ? argv[1] : NULL;
  if (!name) {
    print_help (stderr);
    return LAM_EXIT_USAGE;
  }
  if (g_str_equal (name, "--version") || g_str_equal (name, "-V")) {
    printf ("lamina %s\n", LAMINA_VERSION);
    return LAM_EXIT_DONE;
  }
  if (g_str_equal (name, "--help") || g_str_equal (name, "-h")
      || (g_str_equal (name, "help") && (argc < 3 || *argv[2] == '-'))) {
    print_help (stdout);
    return LAM_EXIT_DONE;
  }
  gboolean wants_help = g_str_equal (name, "help");
  if (wants_help)
    name = argv[2];
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (name, commands[i].name)) {
      g_autofree char *threads = wants_help ? NULL : lam_threads_problem ();
      help[0] = (char *) name;
      if (threads)
        lam_cli_warn ("%s", threads);
      return check_output (wants_help ? commands[i].run (2, help) : commands[i].run (argc - 1, argv + 1));
    }
  return *name == '-' ? usage (_ ("unknown option %s"), name)
                      : usage (_ ("\"%s\" is not a command; `lamina --help' lists them"), name);
}
