/* devices.c: what this machine computes with. */
#include "config.h"

#include <glib/gi18n.h>
#include <stdatomic.h>

#include "cli/common.h"
#include "cli/json.h"
#include "core/error.h"
#include "core/cpu-features.h"
#include "core/device.h"
#include "mr/route.h"

static char *spec;

static const GOptionEntry entries[] = {
    {"devices", 0, 0, G_OPTION_ARG_STRING, &spec, N_ ("auto, cpu, or a count such as 4xcpu"), "SPEC"},
    {NULL},
};

static const LamCliHelp help = {
    "[--devices SPEC]",
    N_ ("Lists the devices that a run would use, and tests the copies between every pair."),
    "  lamina devices --devices 4xcpu",
};

static const char *
kind_name (LamDeviceKind kind)
{
  return kind == LAM_DEVICE_CPU ? "cpu" : kind == LAM_DEVICE_CUDA ? "cuda" : "cuda-host";
}

/* Why there is no GPU in the list. */
static const char *
why_no_gpu (void)
{
  g_autoptr (LamDevices) gpu = lam_devices_new ("cuda", NULL);
  return gpu ? NULL : _ ("this version has no GPU module and computes on the CPU");
}

/* In the order of LamCall. */
static const char *const calls[LAM_CALLS] = {N_ ("signals"), N_ ("derivatives"), N_ ("gradients")};

static void
print_json (LamDevices *set, const char *report, const char *test_error, const char *gpu)
{
  JsonBuilder *b = lam_json_begin ();
  g_auto (GStrv) lines = g_strsplit (report, "\n", -1);
  lam_json_text (b, "spec", lam_devices_spec (set));
  lam_json_text (b, "reason", lam_devices_reason (set));
  lam_json_open_array (b, "devices");
  for (int d = 0; d < lam_devices_count (set); d++) {
    LamDevice *device = lam_devices_get (set, d);
    lam_json_open (b, NULL);
    lam_json_int (b, "index", d);
    lam_json_text (b, "name", device->name);
    lam_json_text (b, "kind", kind_name (device->kind));
    lam_json_bytes (b, "budget", device->budget);
    lam_json_close (b);
  }
  lam_json_close_array (b);
  lam_json_int (b, "threads", lam_pool_threads (lam_devices_pool (set)));
  lam_json_text (b, "isa", lam_isa_name (lam_isa ()));
  lam_json_open_array (b, "isa_available");
  for (LamIsa i = LAM_ISA_SCALAR; i <= LAM_ISA_AVX512; i++)
    if (lam_isa_available (i))
      lam_json_text (b, NULL, lam_isa_name (i));
  lam_json_close_array (b);
  lam_json_bool (b, "self_test_passed", !test_error);
  lam_json_text (b, "self_test_error", test_error);
  lam_json_open_array (b, "self_test");
  for (char **line = lines; *line; line++)
    if (**line)
      lam_json_text (b, NULL, *line);
  lam_json_close_array (b);
  lam_json_open (b, "crossover");
  lam_json_number (b, "values", lam_route_crossover (set, LAM_CALL_VALUES));
  lam_json_number (b, "jacobian", lam_route_crossover (set, LAM_CALL_JACOBIAN));
  lam_json_number (b, "gradient", lam_route_crossover (set, LAM_CALL_GRADIENT));
  lam_json_close (b);
  lam_json_text (b, "gpu", gpu);
  lam_json_print (b);
}

int
lam_cli_devices (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries, NULL};
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) report = g_string_new (NULL);
  if (!lam_cli_parse (&help, groups, 0, 0, &argc, &argv, &error))
    return lam_cli_fail (error);
  g_autoptr (LamDevices) set = lam_devices_new (spec, &error);
  if (!set) {
    if (g_error_matches (error, LAM_ERROR, LAM_ERROR_INVALID))
      lam_cli_to_usage (&error);
    return lam_cli_fail (error);
  }
  const char *gpu = why_no_gpu ();
  gboolean right = lam_devices_self_test (set, report, &error);
  if (lam_cli_json)
    print_json (set, report->str, error ? error->message : NULL, gpu);
  lam_cli_print (_ ("devices: %s (%s)"), lam_devices_spec (set), lam_devices_reason (set));
  for (int d = 0; d < lam_devices_count (set); d++) {
    LamDevice *device = lam_devices_get (set, d);
    lam_cli_print (_ ("  %d  %-10s %-9s memory %s"), d, device->name, kind_name (device->kind),
                   lam_cli_bytes (device->budget));
  }
  lam_cli_print (_ ("threads: %d, shared by all CPU devices"), lam_pool_threads (lam_devices_pool (set)));
  lam_cli_print (_ ("instruction set: %s (LAMINA_ISA forces another)"), lam_isa_name (lam_isa ()));
  lam_cli_print (
      _ ("crossover of sequence work (voxels x events), measured here: less stays in one thread when devices are "
         "chosen by themselves"));
  for (int c = 0; c < LAM_CALLS; c++)
    lam_cli_print ("  %-12s %.3g", _ (calls[c]), lam_route_crossover (set, c));
  lam_cli_print (_ ("self-test, a pattern copied and read back:"));
  g_auto (GStrv) lines = g_strsplit (report->str, "\n", -1);
  for (char **line = lines; *line; line++)
    if (**line)
      lam_cli_print ("  %s", *line);
  lam_cli_print (_ ("GPU: none (%s)"), gpu ? gpu : _ ("none asked for"));
  if (!right) {
    if (!lam_cli_json)
      return lam_cli_fail (error);
    lam_cli_warn ("%s", error->message);
    return LAM_EXIT_FAILED;
  }
  return LAM_EXIT_DONE;
}
