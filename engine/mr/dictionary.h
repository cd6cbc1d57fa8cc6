/* dictionary.h: the signals of many tissues under one protocol, to be matched against (match.h). */
#pragma once

#include <glib.h>

#include "mr/model.h"
#include "mr/subspace.h"

G_BEGIN_DECLS

/* ---- which tissues ---- */

typedef struct {
  const char *name; /* a tissue quantity */
  const double *values;
  int64_t n;
} LamAtomAxis;

typedef enum {
  LAM_ATOMS_GRID, /* every value of an axis with every value of the others; the last axis runs fastest */
  LAM_ATOMS_LIST, /* the first values together, the second ones together, ...; an axis of one value is for all */
} LamAtomsKind;

/* A table of tissues; columns are quantities. */
typedef struct {
  int64_t n;
  int columns;
  char **names;     /* until NULL */
  double *values;   /* [columns][n]; lam_free () */
  int64_t excluded; /* left out because T2 is above T1 */
} LamAtoms;

/* Refused: no axis, an unknown quantity, the same twice, M0 (it comes out of the match), values that no tissue has, more
 * than 2^31 atoms, none at all. @longer_t2: keep those with T2 above T1. */
LamAtoms *lam_atoms_new (LamAtomsKind kind, const LamAtomAxis *axes, int n, gboolean longer_t2, GError **error);
void lam_atoms_free (LamAtoms *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamAtoms, lam_atoms_free)
/* Column of @name, or NULL. */
const double *lam_atoms_column (const LamAtoms *a, const char *name);

/* ---- the dictionary ---- */

#define LAM_DICTIONARY_PULSEQ "Pulseq"

/* The Pulseq sequence that a dictionary is of, and how it was played: all that it takes to make the same again. */
typedef struct {
  LamBlochModelOptions options; /* its texts are this one's own */
  int64_t samples;
  int64_t *number; /* [samples] in the sequence, from 0 */
  double *time;    /* [samples] s */
} LamDictionaryPulseq;

LamDictionaryPulseq *lam_dictionary_pulseq_new (const LamBlochModelOptions *options, int64_t samples,
                                                const int64_t *number, const double *time);
void lam_dictionary_pulseq_free (LamDictionaryPulseq *p);

typedef struct {
  LamAtoms *atoms;
  char *template;              /* LAM_DICTIONARY_PULSEQ for one of a Pulseq sequence */
  LamDictionaryPulseq *pulseq; /* NULL: not of a Pulseq sequence */
  LamProtocol *protocol;       /* NULL: made of no template that is known here */
  int64_t samples;
  float *re, *im;        /* [atoms][samples]; one may be NULL where it is 0 for every atom */
  double *norm;          /* [atoms] */
  LamSubspace *subspace; /* NULL: not compressed */
  int orders, played;    /* as in LamSignal */
  double residual;
  int64_t dropped; /* atoms left out because their signal was zero or not finite */
} LamDictionary;

/* What making it takes, from sizes alone. */
LamPlan *lam_dictionary_plan (LamModel *model, const LamAtoms *atoms, const LamSimulateOptions *options,
                              LamDevices *devices, GError **error);
/* Seconds that it will take about, from a few of its atoms. */
gboolean lam_dictionary_seconds (LamModel *model, const LamAtoms *atoms, const LamSimulateOptions *options,
                                 LamDevices *devices, LamControl *control, double *seconds, GError **error);
/* Atoms without a signal, or with one that is not finite, are left out and counted; LAM_ERROR_INVALID when that leaves none.
 * LAM_ERROR_NO_MEMORY before the work when the plan does not fit. */
LamDictionary *lam_dictionary_new (LamModel *model, const LamAtoms *atoms, const LamSimulateOptions *options,
                                   LamDevices *devices, LamControl *control, GError **error);
/* Of signals that are there: takes @atoms and the planes (lam_alloc) over, also with an error. */
LamDictionary *lam_dictionary_new_take (LamAtoms *atoms, int64_t samples, float *re, float *im, GError **error);
/* "MRF", or the name of the file that it is of. */
const char *lam_dictionary_origin (const LamDictionary *d);
void lam_dictionary_free (LamDictionary *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamDictionary, lam_dictionary_free)

/* A basis of this rank, or (rank 0) for this share of the energy, in place of the one that it has. */
gboolean lam_dictionary_compress (LamDictionary *d, int rank, double energy, LamDevices *devices, LamControl *control,
                                  GError **error);

G_END_DECLS
