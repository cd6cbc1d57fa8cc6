/* pulseq.h: a Pulseq sequence as data: what one .seq file says, and what had to be assumed to read it.
 *
 * Times are whole picoseconds (int64). Blocks are columns of one table; a column of events holds rows of the event's
 * library, counted from 1, with 0 for none, so that 10^6 blocks take 40 MB. Shapes stay as compressed as the file has
 * them until somebody asks for their samples. What the program does not know (sections, extensions) is kept as text.
 *
 * A sequence is filled by a reader (io/pulseq-read.h) and then shared; its data may be read from any thread. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

#define LAM_PS_PER_S INT64_C (1000000000000)
/* Hz/T of 1H (CODATA 2018), for mT/m. */
#define LAM_GAMMA_1H 42.577478518e6
/* A shape with more samples than this is refused (a pulse of a minute on a raster of 1 us has fewer). */
#define LAM_PULSEQ_MAX_SAMPLES (INT64_C (1) << 26)

typedef enum {
  LAM_PULSEQ_NOTE,    /* nothing is wrong; something was assumed */
  LAM_PULSEQ_WARNING, /* odd, and read as said */
  LAM_PULSEQ_ERROR,   /* wrong; what it belongs to was left out or replaced */
} LamPulseqSeverity;

typedef struct {
  LamPulseqSeverity severity;
  int64_t line, column; /* from 1; 0: none (binary files: line is the byte offset) */
  char *text;           /* what and where */
  char *assumed;        /* what was assumed instead; NULL: nothing */
} LamPulseqProblem;

typedef enum {
  LAM_PULSEQ_USE_UNDEFINED,
  LAM_PULSEQ_USE_EXCITATION,
  LAM_PULSEQ_USE_REFOCUSING,
  LAM_PULSEQ_USE_INVERSION,
  LAM_PULSEQ_USE_SATURATION,
  LAM_PULSEQ_USE_PREPARATION,
  LAM_PULSEQ_USE_OTHER,
} LamPulseqUse;

/* Columns of the block table. */
typedef enum {
  LAM_PULSEQ_RF,
  LAM_PULSEQ_GX,
  LAM_PULSEQ_GY,
  LAM_PULSEQ_GZ,
  LAM_PULSEQ_ADC,
  LAM_PULSEQ_EXT,
  LAM_PULSEQ_COLUMNS,
} LamPulseqColumn;

/* Sample times of an event. */
#define LAM_PULSEQ_RASTER (-1)      /* at the centres of raster steps */
#define LAM_PULSEQ_HALF_RASTER (-2) /* gradients: at centres and edges, N odd */
#define LAM_PULSEQ_NO_SHAPE (-1)

typedef struct {
  int32_t id;
  gboolean compressed;
  int64_t samples;           /* when decompressed */
  int64_t stored;            /* numbers in the file */
  int64_t offset;            /* of the first one in LamPulseq.stored */
  _Atomic (double *) values; /* decompressed; NULL until asked for */
} LamPulseqShape;

typedef struct {
  int32_t id;
  int32_t magnitude, phase, time; /* rows of shapes; LAM_PULSEQ_NO_SHAPE, LAM_PULSEQ_RASTER */
  LamPulseqUse use;
  gboolean has_center;        /* else it is where the magnitude peaks */
  int64_t center;             /* ps after the start of the shape */
  int64_t delay;              /* ps */
  double amplitude;           /* Hz */
  double freq_ppm, phase_ppm; /* ppm, rad/MHz */
  double freq, phase_rad;     /* Hz, rad */
} LamPulseqRf;

typedef struct {
  int32_t id;
  gboolean trapezoid;
  double amplitude;         /* Hz/m */
  int64_t delay;            /* ps */
  int64_t rise, flat, fall; /* trapezoid: ps */
  int32_t shape, time;      /* else: rows of shapes; LAM_PULSEQ_RASTER, LAM_PULSEQ_HALF_RASTER */
  double first, last;       /* Hz/m at the edges of the first and last raster step */
} LamPulseqGradient;

typedef struct {
  int32_t id;
  int32_t phase_shape; /* row of shapes, rad for each sample; LAM_PULSEQ_NO_SHAPE */
  int64_t samples;
  int64_t dwell, delay;       /* ps */
  double freq_ppm, phase_ppm; /* ppm, rad/MHz */
  double freq, phase_rad;     /* Hz, rad */
} LamPulseqAdc;

/* Extensions: what the block's EXT column leads to. */
typedef enum {
  LAM_PULSEQ_EXT_TRIGGERS,
  LAM_PULSEQ_EXT_LABELSET,
  LAM_PULSEQ_EXT_LABELINC,
  LAM_PULSEQ_EXT_DELAYS, /* soft delays */
  LAM_PULSEQ_EXT_ROTATIONS,
  LAM_PULSEQ_EXT_RF_SHIMS,
  LAM_PULSEQ_EXT_UNKNOWN,
} LamPulseqExtensionKind;

typedef struct {
  int32_t id;
  union {
    struct {
      int32_t type, channel;   /* 1 output, 2 input */
      int64_t delay, duration; /* ps */
    } trigger;
    struct {
      int64_t value;
      char *name;
    } label;
    struct {
      int64_t number, offset; /* ps */
      double factor;
      char *hint;
    } delay;
    double rotation[4]; /* unit quaternion: cosine of half the angle, then the axis by its sine */
    struct {
      int64_t channels;
      double *values; /* magnitude and phase (rad) of each */
    } shim;
  };
} LamPulseqExtensionRow;

typedef struct {
  char *name;   /* as in the file */
  int32_t type; /* the number by which [EXTENSIONS] means it */
  LamPulseqExtensionKind kind;
  int64_t rows;
  LamPulseqExtensionRow *row;
  char *text; /* LAM_PULSEQ_EXT_UNKNOWN: its lines as they were */
} LamPulseqExtension;

/* One link of a chain: the extension object, and the next link. */
typedef struct {
  int32_t id, type, ref, next; /* ids, as in the file */
  int32_t rotation;            /* row of the ROTATIONS extension met from here on; -1: none */
} LamPulseqLink;

typedef struct {
  char *key, *value;
} LamPulseqDefinition;

typedef struct {
  char *header, *text; /* a section that the program does not know, as it was */
} LamPulseqSection;

typedef enum {
  LAM_PULSEQ_SIGNATURE_NONE,
  LAM_PULSEQ_SIGNATURE_MATCHES,
  LAM_PULSEQ_SIGNATURE_DIFFERS,
  LAM_PULSEQ_SIGNATURE_UNKNOWN, /* of a kind that cannot be checked here */
} LamPulseqSignature;

typedef struct _LamPulseq {
  gatomicrefcount refs;
  char *path;
  gboolean binary;
  int major, minor, revision;

  int64_t blocks, capacity;
  int64_t *duration;                  /* [blocks] ps */
  int32_t *event[LAM_PULSEQ_COLUMNS]; /* [blocks] row + 1; 0: none */
  int32_t *block_id;                  /* [blocks]; NULL: 1, 2, 3, ... */

  int64_t rfs, gradients, adcs, links, shapes;
  LamPulseqRf *rf;
  LamPulseqGradient *gradient;
  LamPulseqAdc *adc;
  LamPulseqLink *link;
  LamPulseqShape *shape;
  double *stored; /* what all shapes hold in the file, one after another */

  GPtrArray *extensions;  /* LamPulseqExtension */
  GPtrArray *definitions; /* LamPulseqDefinition, in the order of the file */
  GPtrArray *sections;    /* LamPulseqSection */
  GPtrArray *problems;    /* LamPulseqProblem */

  int64_t block_raster, gradient_raster, rf_raster, adc_raster; /* ps */
  LamPulseqSignature signature;
  char *signature_type, *signature_hash; /* as in the file; NULL: none */
} LamPulseq;

LamPulseq *lam_pulseq_new (void);
LamPulseq *lam_pulseq_ref (LamPulseq *seq);
void lam_pulseq_unref (LamPulseq *seq);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamPulseq, lam_pulseq_unref)

/* Room for @blocks blocks in all; what is there stays. */
gboolean lam_pulseq_reserve (LamPulseq *seq, int64_t blocks, GError **error);
/* A block more at the end, @event being rows + 1. A signature no longer belongs to what is there and is dropped.
 * LAM_ERROR_INVALID for a row that is not there or a duration below 0. */
gboolean lam_pulseq_append (LamPulseq *seq, int64_t duration_ps, const int32_t event[LAM_PULSEQ_COLUMNS],
                            GError **error);

/* Takes both texts (g_free); @assumed may be NULL. After 1000 problems only the count of severities is kept up. */
void lam_pulseq_problem_take (LamPulseq *seq, LamPulseqSeverity severity, int64_t line, int64_t column, char *text,
                              char *assumed);
/* How many problems of this severity. */
int64_t lam_pulseq_problems (const LamPulseq *seq, LamPulseqSeverity severity);

/* The value's text, or NULL. */
const char *lam_pulseq_definition (const LamPulseq *seq, const char *key);
/* Replaces or adds; the signature is dropped. */
void lam_pulseq_define (LamPulseq *seq, const char *key, const char *value);
/* The first of this kind, or NULL. */
LamPulseqExtension *lam_pulseq_extension (const LamPulseq *seq, LamPulseqExtensionKind kind);
LamPulseqExtensionKind lam_pulseq_extension_kind (const char *name);
LamPulseqExtension *lam_pulseq_extension_new (const char *name, int32_t type);
void lam_pulseq_extension_free (LamPulseqExtension *x);
/* Follows the chains once; called by readers after all links are there. Chains that end in nothing or in themselves
 * are cut and become problems. */
void lam_pulseq_resolve_links (LamPulseq *seq);
/* Drops the signature, since what is there is no longer what was signed. */
void lam_pulseq_changed (LamPulseq *seq);
/* It was saved with this digest. */
void lam_pulseq_signed (LamPulseq *seq, const char *md5);

/* The samples of a shape, [samples]; decompressed at the first call and kept. NULL: no memory. */
const double *lam_pulseq_shape_values (const LamPulseq *seq, int32_t row, GError **error);
/* Whether @stored numbers decompress to exactly @samples; why not in @why (a constant). Allocates nothing. */
gboolean lam_pulseq_shape_valid (const double *stored, int64_t n, int64_t samples, const char **why);
void lam_pulseq_shape_decompress (const double *stored, int64_t n, double *values, int64_t samples);
/* Run lengths of the differences of @values; at most @samples + 2 numbers, and how many comes back. A shape that does
 * not get shorter is to be stored as it is. */
int64_t lam_pulseq_shape_compress (const double *values, int64_t samples, double *stored);

/* Where the block's gradients are turned to: g' = R g, rows of R in turn; FALSE and the unit matrix when they are not. */
gboolean lam_pulseq_rotation (const LamPulseq *seq, int64_t block, double R[9]);

/* Offsets in Hz and rad with the ppm parts at @f0_hz. */
static inline double
lam_pulseq_freq (double freq, double ppm, double f0_hz)
{
  return ppm == 0 ? freq : freq + 1e-6 * ppm * f0_hz;
}
/* Whether any pulse or readout has an offset in ppm, so that f0 must be known. */
gboolean lam_pulseq_needs_f0 (const LamPulseq *seq);

const char *lam_pulseq_use_name (LamPulseqUse use);
char lam_pulseq_use_letter (LamPulseqUse use);
/* FALSE when the letter is none. */
gboolean lam_pulseq_use_from_letter (char letter, LamPulseqUse *use);
/* "matches", "does not match", "none", ... */
const char *lam_pulseq_signature_name (LamPulseqSignature s);

/* The labels of binary files, by their number from 1; NULL beyond. */
const char *lam_pulseq_label_name (int64_t number);

G_END_DECLS
