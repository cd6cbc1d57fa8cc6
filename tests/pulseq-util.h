/* pulseq-util.h: Pulseq files made for tests. */
#pragma once

#include "mr/pulseq.h"

G_BEGIN_DECLS

/* A spoiled gradient echo of @blocks blocks in version 1.5: five blocks a repetition, 256 phase-encoding steps, its RF and
 * ADC events with a spoiling phase. g_free (). */
char *pulseq_gre (int64_t blocks, gsize *size);
/* @blocks blocks of @steps raster steps of 10 us, with nothing in them. g_free (). */
char *pulseq_empty (int64_t blocks, int64_t steps, gsize *size);
/* @seq in the binary form of 1.5.2, signed. Labels must be among the known ones. */
GByteArray *pulseq_binary (const LamPulseq *seq);
/* Fails where @a and @b do not play the same: blocks, events, shapes, definitions, extensions; not ids of shapes. With
 * @single samples of shapes are compared as floats. */
void pulseq_assert_same (const LamPulseq *a, const LamPulseq *b, gboolean single);

G_END_DECLS
