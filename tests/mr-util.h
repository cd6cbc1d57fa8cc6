/* mr-util.h: tissues and signals of golden MR groups. */
#pragma once

#include "golden.h"
#include "mr/model.h"

G_BEGIN_DECLS

/* Tissue quantities of @group by the names of its datasets, the suffixes _ms, _hz, _rad and _in left off. */
LamTissues *mr_tissues (hid_t group);
/* Field @name of @p from attribute or dataset @from, where @group has it. */
void mr_set (LamProtocol *p, const char *name, hid_t group, const char *from);
/* The one device set of the program. */
LamDevices *mr_devices (void);
/* max |signal - truth| / max |truth|; the truth is dataset @name, or @name_re and @name_im. */
double mr_distance (const LamSignal *signal, hid_t group, const char *name);
double mr_distance_of (const float *re, const float *im, int64_t n, hid_t group, const char *name);
/* Simulates and adds the case, judged by the group's tolerance. */
void mr_check (GoldenTally *tally, const char *kind, const char *name, hid_t group, LamModel *model,
               LamTissues *tissues, const LamSimulateOptions *options);

G_END_DECLS
