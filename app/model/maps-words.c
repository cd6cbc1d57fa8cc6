#include "config.h"

#include "model/maps-words.h"

#include <glib/gi18n.h>

/* Digits in threes, thin spaces between. */
static char *
grouped (int64_t n)
{
  g_autofree char *plain = g_strdup_printf ("%" G_GINT64_FORMAT, n);
  GString *text = g_string_new (NULL);
  gsize length = strlen (plain);
  for (gsize i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0)
      g_string_append (text, "\342\200\257");
    g_string_append_c (text, plain[i]);
  }
  return g_string_free (text, FALSE);
}

char *
lam_maps_words_forecast (const LamDictionaryForecast *f)
{
  g_autofree char *atoms = grouped (f->atoms), *bytes = g_format_size ((guint64) f->bytes);
  g_autofree char *time = f->seconds < 1     ? g_strdup (_ ("less than a second"))
                          : f->seconds < 100 ? g_strdup_printf (_ ("about %.2g s"), f->seconds)
                                             : g_strdup_printf (_ ("about %.2g min"), f->seconds / 60);
  return g_strdup_printf (f->basis ? _ ("%s atoms × %ld contrasts · %s · %s and the modes")
                                   : _ ("%s atoms × %ld contrasts · %s · %s"),
                          atoms, (long) f->contrasts, bytes, time);
}

char *
lam_maps_words_dictionary (const LamMapsDictionary *d)
{
  g_autofree char *atoms = grouped (d->d->atoms->n), *name = d->path ? g_filename_display_basename (d->path) : NULL;
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, _ ("%s: %s atoms × %ld contrasts"), lam_dictionary_origin (d->d), atoms,
                          (long) d->d->samples);
  if (d->d->subspace)
    g_string_append_printf (text, _ (" · %d modes keep %.4g %%"), d->d->subspace->rank, 100 * d->d->subspace->retained);
  if (name != NULL)
    g_string_append_printf (text, _ (" · from %s"), name);
  else
    g_string_append_printf (text, d->seconds < 1 ? _ (" · made in %.0f ms") : _ (" · made in %.3g s"),
                            d->seconds < 1 ? 1e3 * d->seconds : d->seconds);
  if (d->d->dropped > 0)
    g_string_append_printf (text, _ (" · %ld atoms without a signal left out"), (long) d->d->dropped);
  return g_string_free (text, FALSE);
}

char *
lam_maps_words_series (const LamMapsSeries *s, gboolean stale)
{
  int64_t shape[3];
  g_autofree char *name = g_filename_display_basename (s->s->path);
  lam_maps_series_shape (s, shape);
  GString *text = g_string_new (NULL);
  g_string_printf (text, _ ("%s · %ld × %ld × %ld voxels × %ld contrasts · %s"), s->source ? _ ("Phantom") : name,
                   (long) shape[0], (long) shape[1], (long) shape[2], (long) s->s->contrasts,
                   s->s->im ? _ ("complex") : _ ("real"));
  if (stale)
    g_string_append (text, _ ("\nIt was made with another train than the present one."));
  for (guint i = 0; i < s->s->notes->len; i++)
    g_string_append_printf (text, "\n%s", (const char *) g_ptr_array_index (s->s->notes, i));
  return g_string_free (text, FALSE);
}

char *
lam_maps_words_result (const LamMapsResult *r, const LamMapsDictionary *now_d, const LamMapsSeries *now_s)
{
  g_autofree char *matched = grouped (r->match.count[LAM_VOXEL_MATCHED]), *all = grouped (r->match.voxels);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, _ ("%s of %s voxels matched"), matched, all);
  static const char *const left_out[LAM_VOXEL_STATES] = {[LAM_VOXEL_OUTSIDE] = N_ ("outside of the mask"),
                                                         [LAM_VOXEL_ZERO] = N_ ("are zero"),
                                                         [LAM_VOXEL_NOT_FINITE] = N_ ("not finite"),
                                                         [LAM_VOXEL_NO_ATOM] = N_ ("like no atom")};
  for (int i = 0; i < LAM_VOXEL_STATES; i++)
    if (left_out[i] != NULL && r->match.count[i] > 0) {
      g_autofree char *n = grouped (r->match.count[i]);
      g_string_append_printf (text, " · %s %s", n, _ (left_out[i]));
    }
  if (r->dictionary == NULL)
    g_string_append (text, _ (" · as the session has them"));
  else if (r->series != now_s)
    g_string_append (text, _ (" · of another series than the one that is open now"));
  else if (r->dictionary != now_d)
    g_string_append (text, _ (" · with another dictionary than there is now"));
  return g_string_free (text, FALSE);
}
