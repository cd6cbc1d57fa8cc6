/* sequence-file.h: one opened Pulseq file: immutable, counted, read by any thread. */
#pragma once

#include "io/control.h"
#include "mr/pulseq-timing.h"

G_BEGIN_DECLS

typedef struct {
  gatomicrefcount refs;
  char *path, *name, *checksum; /* "sha256:..." of its bytes */
  LamPulseqTiming *timing;
  double rf, gradient;         /* the largest, Hz and Hz/m: the scale of its drawing */
  gboolean long_events;        /* some are so long that a drawing of them may take a while */
  char **labels;               /* names, NULL at the end */
  int32_t *label;              /* [labels][marks]: their values at every LAM_PULSEQ_STRIDE blocks; NULL: no labels */
  GHashTable *links, *objects; /* of the extensions that make labels */
} LamSequenceFile;

/* Any thread, but not the main one: it takes up to a second. Errors say file and line. */
LamSequenceFile *lam_sequence_file_open (const char *path, const LamIoControl *control, GError **error);
LamSequenceFile *lam_sequence_file_ref (LamSequenceFile *self);
void lam_sequence_file_unref (LamSequenceFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSequenceFile, lam_sequence_file_unref)

static inline const LamPulseq *
lam_sequence_file_seq (const LamSequenceFile *self)
{
  return self->timing->seq;
}
/* The number that the file gives to a block. */
int64_t lam_sequence_file_block_name (const LamSequenceFile *self, int64_t block);
/* Of LamFact: what stands in the sidebar. */
GPtrArray *lam_sequence_file_facts (const LamSequenceFile *self);
/* What plays at @ps, in one line: time, block, RF, gradients, readout, labels. g_free (). */
char *lam_sequence_file_describe (const LamSequenceFile *self, int64_t ps, int64_t resolution);

G_END_DECLS
