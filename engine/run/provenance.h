/* provenance.h: where data came from and what was done to them before a run, for the result's file and its readers. */
#pragma once

#include <glib.h>

#include "ct/preprocess.h"
#include "io/file.h"

G_BEGIN_DECLS

typedef struct {
  char *scan;           /* base name of the scan file, or what the data are called */
  LamFileStamp stamp;   /* of the scan file; size 0: there is none */
  double center_offset; /* the geometry's channel_offset of which the next three tell */
  char *center_from;    /* "the file", "search: half turn and its mirror image", "--center"; NULL: not known */
  double center_width, center_confidence; /* of a search, in channels of the file; NAN: there was none */
  double tilt;                            /* radians the detector was turned by */
  LamRange slices;                        /* that were taken, as they were asked for; {0, 0}: not known */
  int64_t slices_of;                      /* of so many */
  int64_t bin;
  int64_t first_channel;         /* of the file, where the data begin */
  char *weights;                 /* a kind's name (weights.h) or "of the file" */
  char *bad_pixels;              /* base name of the file that listed ones are from; NULL: none */
  char *defects;                 /* policy's name; NULL: the samples were no counts */
  LamTransmissionReport counted; /* with defects */
} LamProvenance;

void lam_provenance_init (LamProvenance *p, const char *scan);
void lam_provenance_copy (const LamProvenance *from, LamProvenance *to);
void lam_provenance_clear (LamProvenance *p);

G_END_DECLS
