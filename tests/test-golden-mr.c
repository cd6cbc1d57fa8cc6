/* test-golden-mr.c: every group of every mr*.h5 in $LAMINA_GOLDEN_DIR. Numbers come from the files alone. */
#include "golden-closed.h"
#include "golden-design.h"
#include "golden-estimators.h"
#include "golden-seq.h"
#include "golden-trains.h"
#include "golden.h"

typedef void (*Check) (hid_t file, GoldenTally *tally);

typedef struct {
  Check check;
  GoldenTally *tally;
} Subject;

static void
check_file (hid_t file, gpointer data)
{
  Subject *s = data;
  s->check (file, s->tally);
}

static void
test_subject (gconstpointer data)
{
  g_autoptr (GoldenTally) tally = golden_tally_new ();
  Subject s = {(Check) data, tally};
  if (golden_each_file ("mr", check_file, &s))
    golden_tally_print (tally);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    Check check;
  } subjects[] = {
      {"/golden/mr/closed", golden_closed_add},
      {"/golden/mr/mp2rage", golden_mp2rage_add},
      {"/golden/mr/mrf", golden_mrf_add},
      {"/golden/mr/fse", golden_fse_add},
      {"/golden/mr/ssfp", golden_ssfp_add},
      {"/golden/mr/mprage", golden_mprage_add},
      {"/golden/mr/physics", golden_physics_add},
      {"/golden/mr/pulse", golden_pulse_add},
      {"/golden/mr/design", golden_design_add},
      {"/golden/mr/seq", golden_seq_add},
      {"/golden/mr/estimators", golden_estimators_add},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (subjects); i++)
    g_test_add_data_func (subjects[i].path, subjects[i].check, test_subject);
  return g_test_run ();
}
