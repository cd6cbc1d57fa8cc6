/* constants.h: numbers of nature, stated once. */
#pragma once

/* 1H, Hz/T (CODATA 2018, shielded proton gyromagnetic ratio / 2 pi as the field rounds it: conventions.md). */
#define LAM_GAMMA_BAR 42.577478518e6
#define LAM_PI 3.14159265358979323846
#define LAM_DEGREE (LAM_PI / 180)
