#include "config.h"

#include "model/maps-source.h"

LamMapsSource *
lam_maps_source_of_session (LamSequenceSession *session)
{
  LamMapsSource *s = g_new0 (LamMapsSource, 1);
  LamSequenceFile *file = lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (session));
  g_atomic_ref_count_init (&s->refs);
  if (file) {
    s->file = lam_sequence_file_ref (file); /* it holds the options' texts */
    lam_pulseq_estimate_get_options (lam_sequence_session_get_pulseq_estimate (session), &s->options);
    return s;
  }
  LamParameter *orders = lam_parameter_list_find (lam_sequence_session_get_model (session), "orders");
  s->protocol = lam_sequence_session_copy_protocol (session);
  s->orders = (int) lam_parameter_get_integer (orders);
  return s;
}

LamMapsSource *
lam_maps_source_ref (LamMapsSource *s)
{
  g_atomic_ref_count_inc (&s->refs);
  return s;
}

void
lam_maps_source_unref (LamMapsSource *s)
{
  if (!g_atomic_ref_count_dec (&s->refs))
    return;
  g_clear_pointer (&s->protocol, lam_protocol_free);
  g_clear_pointer (&s->file, lam_sequence_file_unref);
  g_free (s);
}

LamModel *
lam_maps_source_model (const LamMapsSource *s, GError **error)
{
  if (s->file) {
    LamBlochModel *bloch = lam_bloch_model_new (s->file->timing, &s->options, error);
    return bloch ? lam_model_new_of_pulseq (bloch) : NULL;
  }
  LamModel *m = lam_model_new_for (lam_protocol_copy (s->protocol));
  lam_model_set_orders (m, s->orders);
  return m;
}

const char *
lam_maps_source_name (const LamMapsSource *s)
{
  return s->file ? s->file->name : lam_protocol_template (s->protocol)->name;
}

const char *const *
lam_maps_source_quantities (const LamMapsSource *s)
{
  return s->file ? lam_bloch_model_quantities () : lam_protocol_template (s->protocol)->tissues;
}

gboolean
lam_maps_source_equal (const LamMapsSource *a, const LamMapsSource *b)
{
  if (a->file || b->file)
    return a->file && b->file && lam_bloch_model_options_equal (&a->options, &b->options);
  return lam_protocol_equal (a->protocol, b->protocol);
}

gboolean
lam_maps_source_made (const LamMapsSource *s, const LamDictionary *d)
{
  if (s->file)
    return d->pulseq && d->pulseq->options.checksum && lam_bloch_model_options_equal (&s->options, &d->pulseq->options);
  return d->protocol && lam_protocol_equal (d->protocol, s->protocol);
}
