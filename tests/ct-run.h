/* ct-run.h: a projector with its plan and shards, ready for a test. */
#pragma once

#include "ct/direct.h"
#include "ct/vcd.h"

G_BEGIN_DECLS

typedef struct {
  LamDevices *set;
  LamProjector *p;
  LamPlan *plan;
  LamShards volume, sino, other; /* other: a second sinogram */
} CtRun;

/* Any failure ends the test with its message. */
CtRun *ct_run_new (const LamGeometry *g, const char *devices);
void ct_run_free (CtRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtRun, ct_run_free)

int64_t ct_run_volume_size (const CtRun *run);
int64_t ct_run_sino_size (const CtRun *run);
/* Host in, host out (g_free ()): [row][column][slice] and [view][row][channel]. */
float *ct_run_forward (CtRun *run, const float *volume);
float *ct_run_back (CtRun *run, const float *sino, gboolean everywhere, gboolean square);
float *ct_run_filtered (CtRun *run, const float *sino);
float *ct_run_direct (CtRun *run, const float *sino);

/* A whole VCD run with automatic subsets; sigma_y and sigma_x given. Returns the volume; the last iteration's numbers. */
float *ct_run_vcd (const LamGeometry *g, const char *devices, const float *sino, const float *weights,
                   const LamVcdParams *params, LamVcdStart start, LamVcdStats *last);

/* Uniform in [0, 1), keyed. */
float *ct_random (int64_t n, uint64_t key);

G_END_DECLS
