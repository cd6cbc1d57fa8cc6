/* golden-trains.h: golden checks of what the EPG engine plays: trains, physics, pulses. */
#pragma once

#include "golden.h"

G_BEGIN_DECLS

void golden_mrf_add (hid_t file, GoldenTally *tally);
void golden_fse_add (hid_t file, GoldenTally *tally);
void golden_ssfp_add (hid_t file, GoldenTally *tally);
void golden_mprage_add (hid_t file, GoldenTally *tally); /* mprage, mpnrage */
void golden_physics_add (hid_t file, GoldenTally *tally);
void golden_pulse_add (hid_t file, GoldenTally *tally);

G_END_DECLS
