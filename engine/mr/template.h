/* template.h: the kinds of acquisition that the program knows: each with its protocol (what can be set), the tissue
 * quantities that it tells apart, and how its signal comes about: as events for the EPG engine, as a closed form, or both. */
#pragma once

#include <glib.h>

#include "mr/dual.h"
#include "mr/sequence.h"
#include "mr/tissue.h"

G_BEGIN_DECLS

typedef enum {
  LAM_FIELD_NUMBER, /* one value */
  LAM_FIELD_LIST,   /* one value, or one for each pulse, echo, ... */
  LAM_FIELD_COUNT,  /* a whole number: changes the structure */
  LAM_FIELD_CHOICE, /* index into choices: changes the structure */
} LamFieldKind;

typedef struct {
  const char *name, *unit, *title;
  LamFieldKind kind;
  double value; /* default; NAN: automatic, as title says */
  double least, most;
  const char *const *choices; /* until NULL */
  gboolean structural;        /* a change makes the events anew */
  const double *list;         /* default of a list with several values, @n of them */
  int n;
} LamField;

typedef struct _LamTemplate LamTemplate;
typedef struct _LamProtocol LamProtocol;

/* One evaluation of a closed form, for one voxel: numbers with their derivative by one chosen quantity. */
typedef struct _LamClosed LamClosed;
LamDual lam_closed_field (const LamClosed *c, const char *name, int i); /* public units */
int lam_closed_count (const LamClosed *c, const char *name);
LamDual lam_closed_tissue (const LamClosed *c, const char *name);
/* FALSE: that tissue quantity was not given. */
gboolean lam_closed_has (const LamClosed *c, const char *name);
void lam_closed_put (LamClosed *c, int sample, LamDual re, LamDual im);

struct _LamTemplate {
  const char *name, *title, *summary;
  const LamField *fields;     /* until name NULL */
  const char *const *tissues; /* quantities that it declares, until NULL; the first ones are needed */
  int orders;                 /* kept by default; 0: as the sequence needs */
  double t2_absent;           /* ms, where T2 does not matter and is not declared; 0: it must be given */
  gboolean real_signal;       /* samples have no imaginary part by definition */
  /* Trains that are played one after the other and whose samples follow each other; NULL: one. */
  int (*trains) (const LamProtocol *p);
  LamSequence *(*build) (const LamProtocol *p, int train, GError **error); /* NULL: closed form only */
  int (*samples) (const LamProtocol *p);                                   /* of the closed form */
  void (*closed) (LamClosed *c);                                           /* NULL: none */
  gboolean (*check) (const LamProtocol *p, GError **error);                /* NULL: nothing beyond ranges */
};

const LamTemplate *const *lam_templates (int *n);
const LamTemplate *lam_template_find (const char *name); /* case does not matter */
const LamField *lam_template_field (const LamTemplate *t, const char *name);

LamProtocol *lam_protocol_new (const LamTemplate *t);
LamProtocol *lam_protocol_copy (const LamProtocol *p);
void lam_protocol_free (LamProtocol *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamProtocol, lam_protocol_free)

const LamTemplate *lam_protocol_template (const LamProtocol *p);
/* The same template and the same numbers. */
gboolean lam_protocol_equal (const LamProtocol *a, const LamProtocol *b);
/* Refused: an unknown field, a value out of range or not finite (with its index), more values than the field takes. */
gboolean lam_protocol_set (LamProtocol *p, const char *name, const double *values, int n, GError **error);
gboolean lam_protocol_set_value (LamProtocol *p, const char *name, double value, GError **error);
const double *lam_protocol_get (const LamProtocol *p, const char *name, int *n);
double lam_protocol_value (const LamProtocol *p, const char *name);

/* The field's values entered into @s; the index of the first. */
int lam_protocol_enter (const LamProtocol *p, LamSequence *s, const char *name);
/* ... and value @i of it (one for all, or one for each). */
LamNumber lam_protocol_number (const LamProtocol *p, const LamSequence *s, const char *name, int i);

/* The closed form for one voxel of @tissues: @re, @im [samples]; with @d_re, @d_im (may be NULL) the derivative by tissue
 * quantity @by_tissue or by value @index of field @by_field (public units). */
int lam_template_closed_samples (const LamProtocol *p);
void lam_template_closed (const LamProtocol *p, const LamTissues *tissues, int64_t voxel, const char *by_tissue,
                          const char *by_field, int index, double *re, double *im, double *d_re, double *d_im);

G_END_DECLS
