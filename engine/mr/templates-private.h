/* templates-private.h: where the templates of the list come from. */
#pragma once

#include "mr/template.h"

/* Each writes its templates and returns how many. */
int lam_train_templates (const LamTemplate **to);  /* trains.c: played by the EPG engine */
int lam_closed_templates (const LamTemplate **to); /* closed-*.c */
