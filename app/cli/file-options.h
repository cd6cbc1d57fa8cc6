/* file-options.h: what the MR commands read alike of a Pulseq file: the voxel that hears it, and which samples. */
#pragma once

#include "cli/json.h"
#include "mr/model.h"

G_BEGIN_DECLS

/* --samples; --spins and what belongs to it are in spins.h. */
extern const GOptionEntry lam_file_entries[];

gboolean lam_file_is_sequence (const char *name);
/* The file as a model; @sampling unless --samples says. @checksum: it also says which file it is, for what is kept. */
LamModel *lam_file_model (const char *path, LamBlochSampling sampling, gboolean checksum, GError **error);
/* FALSE where --samples, or an option of spins.h, is given for a template. */
gboolean lam_file_no_options (GError **error);
/* "12 samples, the one nearest the centre of k-space of each readout": what is heard, in words. g_free (). */
char *lam_file_describe (const LamBlochModel *m);
/* The same as an object "sequence" of JSON. */
void lam_file_json (JsonBuilder *b, const LamBlochModelOptions *o, int64_t samples, const int64_t *numbers,
                    const double *times);

G_END_DECLS
