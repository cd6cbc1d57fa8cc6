#include "model/session-file-private.h"

LamSessionResult *
lam_session_result_new (const char *name, LamReconResult *recon)
{
  LamSessionResult *r = g_new0 (LamSessionResult, 1);
  r->name = g_strdup (name);
  r->recon = lam_recon_result_ref (recon);
  return r;
}

void
lam_session_result_free (LamSessionResult *r)
{
  g_free (r->name);
  g_free (r->problem);
  g_free (r->path);
  g_free (r->dataset);
  lam_prepare_params_clear (&r->prepared);
  g_clear_pointer (&r->parameters, g_variant_unref);
  g_clear_pointer (&r->recon, lam_recon_result_unref);
  g_free (r);
}

LamSessionFile *
lam_session_file_new (void)
{
  const LamScanOptions none = LAM_SCAN_OPTIONS_INIT;
  LamSessionFile *f = g_new0 (LamSessionFile, 1);
  f->options = none;
  lam_prepare_params_init (&f->prepared);
  f->results = g_ptr_array_new_with_free_func ((GDestroyNotify) lam_session_result_free);
  f->curve = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  f->shown = -1;
  return f;
}

void
lam_session_file_free (LamSessionFile *f)
{
  g_free (f->title);
  g_free (f->scan);
  g_free (f->relative);
  g_free (f->log);
  g_free (f->home);
  g_free (f->run);
  lam_prepare_params_clear (&f->prepared);
  g_clear_pointer (&f->parameters, g_variant_unref);
  g_clear_pointer (&f->defaults, g_variant_unref);
  g_clear_pointer (&f->notes, g_variant_unref);
  g_clear_pointer (&f->sequence, g_variant_unref);
  g_clear_pointer (&f->maps, lam_maps_result_unref);
  g_free (f->maps_path);
  g_ptr_array_unref (f->results);
  g_array_unref (f->curve);
  g_free (f);
}

/* -- files -- */

char *
lam_result_path (guint i, const char *name)
{
  return g_strdup_printf ("/results/%03u%s%s", i, name != NULL ? "/" : "", name != NULL ? name : "");
}

/* By its end, whole or not: the library is not asked about what may be anything. */
gboolean
lam_session_file_is_one (const char *path)
{
  return lam_seal_is_there (path) || g_str_has_suffix (path, LAM_SESSION_SUFFIX);
}

char *
lam_session_file_find_scan (const LamSessionFile *f, const char *path, gboolean *changed)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (f->scan);
  g_autofree char *beside = f->relative != NULL ? g_build_filename (folder, f->relative, NULL) : NULL;
  g_autofree char *same_folder = g_build_filename (folder, base, NULL);
  const char *places[] = {f->scan, beside, same_folder};
  for (int pass = 0; pass < 2; pass++)
    for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
      if (places[i] != NULL
          && (pass == 0 ? lam_file_is_as_stamped (places[i], &f->stamp)
                        : g_file_test (places[i], G_FILE_TEST_EXISTS))) {
        *changed = pass == 1;
        return g_strdup (places[i]);
      }
  *changed = FALSE;
  return NULL;
}
