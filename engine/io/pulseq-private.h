/* pulseq-private.h: what the text and binary readers share. */
#pragma once

#include "io/pulseq-read.h"

G_BEGIN_DECLS

/* First bytes of a binary file, and the codes of its sections. */
#define LAM_PULSEQ_MAGIC "\001pulseq\002"
#define LAM_PULSEQ_SECTION(n) (INT64_C (-4294967296) | (n)) /* 0xFFFFFFFF in the upper half */

/* Longest time that any one field may hold (11 days), and all blocks together (46 days): sums stay in int64. */
#define LAM_PULSEQ_MAX_PS INT64_C (1000000000000000000)

/* A number in the C locale at *@p, which moves behind it. FALSE: none there; *@p stays. The text must end in
 * something that is no part of a number. */
gboolean lam_pulseq_scan_double (const char **p, double *value);
gboolean lam_pulseq_scan_int (const char **p, int64_t *value);

/* From id to row + 1 of a library; 0 where there is none. */
typedef struct {
  int32_t *dense; /* [most + 1], where ids are about as many as rows */
  int64_t most;
  GHashTable *sparse;
} LamPulseqMap;
/* @ids: @n of them, @stride bytes apart. An id that comes twice means its last row; @twice is then called. */
typedef void (*LamPulseqTwice) (int32_t id, int64_t row, gpointer data);
void lam_pulseq_map_init (LamPulseqMap *map, const void *ids, int64_t n, gsize stride, LamPulseqTwice twice,
                          gpointer data);
int32_t lam_pulseq_map_get (const LamPulseqMap *map, int64_t id);
void lam_pulseq_map_clear (LamPulseqMap *map);

/* While reading: delays of versions before 1.4, and where rows came from. */
typedef struct {
  LamPulseq *seq;
  const char *name;
  const LamIoControl *control;
  gboolean at_least_1_4, at_least_1_5;
  LamPulseqMap shapes, rfs, gradients, adcs, links, delays;
  int64_t delay_rows;
  struct {
    int32_t id;
    int64_t ps;
  } * delay;
  int64_t *rf_line, *gradient_line, *adc_line, *shape_line; /* NULL in binary files */
} LamPulseqReader;

void lam_pulseq_reader_clear (LamPulseqReader *r);
/* Text and binary: fill r->seq. */
gboolean lam_pulseq_read_text (LamPulseqReader *r, const char *text, gsize size, GError **error);
gboolean lam_pulseq_read_binary (LamPulseqReader *r, const char *data, gsize size, GError **error);

/* Version 1.@minor: known? Else an error in words. */
gboolean lam_pulseq_check_version (LamPulseqReader *r, int64_t line, GError **error);
/* After the libraries: maps; events whose shapes cannot be used lose them and become problems. */
gboolean lam_pulseq_finish_events (LamPulseqReader *r, GError **error);
/* After the blocks: durations before 1.4, first and last values before 1.5, events longer than their block. */
gboolean lam_pulseq_finish_blocks (LamPulseqReader *r, GError **error);
/* Takes the rasters from the definitions. */
void lam_pulseq_read_rasters (LamPulseqReader *r);
/* @data up to @size is what was signed; compares. */
void lam_pulseq_check_signature (LamPulseq *seq, const char *data, gsize size);
/* What readers make of the ends of sampled gradients where the file does not say them (before 1.5); [gradients] each. */
gboolean lam_pulseq_guess_ends (const LamPulseq *seq, double *first, double *last, GError **error);
/* @value units of @ps each, rounded to whole ps. FALSE: not a time that fits. */
gboolean lam_pulseq_time (double value, double ps, int64_t *out);

G_END_DECLS
