/* templates-private.h: where the templates of the list come from, and how they write their fields. */
#pragma once

#include "mr/template.h"

/* Each writes its templates and returns how many. */
int lam_train_templates (const LamTemplate **to);  /* trains.c: played by the EPG engine */
int lam_closed_templates (const LamTemplate **to); /* closed-*.c */

/* The most that a protocol may say, ms and degrees. */
#define TIME 1e7
#define ANGLE 36000

/* Fields of a template. */
#define NUMBER(name, unit, title, value, least, most)                                                                  \
  {                                                                                                                    \
    name, unit, title, LAM_FIELD_NUMBER, value, least, most, NULL, FALSE                                               \
  }
#define LIST(name, unit, title, value, least, most)                                                                    \
  {                                                                                                                    \
    name, unit, title, LAM_FIELD_LIST, value, least, most, NULL, FALSE                                                 \
  }
#define COUNT(name, title, value, least, most)                                                                         \
  {                                                                                                                    \
    name, "", title, LAM_FIELD_COUNT, value, least, most, NULL, TRUE                                                   \
  }
#define CHOICE(name, title, value, choices)                                                                            \
  {                                                                                                                    \
    name, "", title, LAM_FIELD_CHOICE, value, 0, G_N_ELEMENTS (choices) - 2, choices, TRUE                             \
  }
