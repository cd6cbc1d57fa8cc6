/* maps-source.h: what a dictionary or a phantom is made of: a template with its protocol, or a Pulseq file as it is played and
 * heard. Counted and immutable. Any thread. */
#pragma once

#include "model/sequence-session.h"
#include "mr/dictionary.h"

G_BEGIN_DECLS

typedef struct {
  gatomicrefcount refs;
  LamProtocol *protocol; /* NULL: of a file */
  int orders;            /* 0: the template's own */
  LamSequenceFile *file; /* NULL: of a template */
  LamBlochModelOptions options;
} LamMapsSource;

/* What the session has now: its file, or its template. */
LamMapsSource *lam_maps_source_of_session (LamSequenceSession *session);
LamMapsSource *lam_maps_source_ref (LamMapsSource *s);
void lam_maps_source_unref (LamMapsSource *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamMapsSource, lam_maps_source_unref)

/* A model of it. */
LamModel *lam_maps_source_model (const LamMapsSource *s, GError **error);
/* "MRF", "gre.seq". */
const char *lam_maps_source_name (const LamMapsSource *s);
/* Tissue quantities that it tells apart, until NULL. */
const char *const *lam_maps_source_quantities (const LamMapsSource *s);
gboolean lam_maps_source_equal (const LamMapsSource *a, const LamMapsSource *b);
/* Whether @d is of it; FALSE too where the dictionary does not say what it is of. */
gboolean lam_maps_source_made (const LamMapsSource *s, const LamDictionary *d);

G_END_DECLS
