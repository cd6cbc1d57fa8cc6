#include "bloch-util.h"

#include <math.h>
#include <string.h>

#include "io/pulseq-read.h"

LamPulseq *
bloch_parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  LamPulseq *s = lam_pulseq_parse ("test.seq", text, strlen (text), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lam_pulseq_problems (s, LAM_PULSEQ_ERROR), ==, 0);
  return s;
}

LamBlochParams
bloch_params (int64_t voxels)
{
  LamBlochParams p;
  lam_bloch_params_init (&p);
  p.voxels = voxels;
  return p;
}

void
bloch_mixed_init (BlochMixed *m)
{
  m->s = bloch_parse (
      BLOCH_HEAD
      "[BLOCKS]\n1 20 1 1 2 3 0 1\n2 50 0 3 0 0 1 0\n3 20 2 1 2 3 0 1\n4 50 0 0 3 0 2 1\n5 20 3 0 0 0 1 0\n"
      "[RF]\n1 3000 4 5 0 50 20 0 0 500 0.3 e\n2 3000 4 5 0 50 20 0 0 500 1.3 e\n3 9000 1 2 3 5 0 3.5 0.01 0 0 r\n"
      "[GRADIENTS]\n1 150000 0 10000 6 0 0\n2 150000 0 5000 6 -1 10\n[TRAP]\n3 80000 20 100 30 10\n"
      "[ADC]\n1 70 1000 20 0 0 0 0.2 0\n2 70 1500 20 1 0.1 2000 0.2 0\n"
      "[EXTENSIONS]\n1 4 1 0\nextension ROTATIONS 4\n1 0.9 0.1 0.3 0.3\n" BLOCH_SHAPES
      "shape_id 4\nnum_samples 100\n0.01\n0.01\n98\nshape_id 5\nnum_samples 100\n0\n0.02\n0.02\n97\n"
      "shape_id 6\nnum_samples 15\n.1\n.2\n.4\n.5\n.7\n.8\n1\n.9\n.8\n.6\n.5\n.4\n.3\n.1\n.05\n");
  for (int i = 0; i < 77; i++) {
    m->field[0][i] = 300 + 20 * i;
    m->field[1][i] = 20 + i;
    m->field[2][i] = 1 + 0.01 * i;
    m->field[3][i] = 5 * (i - 30);
    m->field[4][i] = 0.7 + 0.01 * i;
    m->field[5][i] = 0.001 * (i - 40);
    m->field[6][i] = 0.0007 * (i - 20);
    m->field[7][i] = 0.0003 * (i - 60);
  }
  for (int i = 0; i < 5; i++) {
    m->spin[0][i] = 0.0001 * i;
    m->spin[1][i] = -0.0002 * i;
    m->spin[2][i] = 0.00005 * i;
    m->spin[3][i] = 3 * (i - 2);
    m->spin[4][i] = 0.1 + 0.05 * i;
  }
  m->p = bloch_params (77);
  m->p.t1_ms = m->field[0];
  m->p.t2_ms = m->field[1];
  m->p.m0 = m->field[2];
  m->p.b0_hz = m->field[3];
  m->p.b1 = m->field[4];
  m->p.x = m->field[5];
  m->p.y = m->field[6];
  m->p.z = m->field[7];
  m->p.spins = 5;
  m->p.spin_x = m->spin[0];
  m->p.spin_y = m->spin[1];
  m->p.spin_z = m->spin[2];
  m->p.spin_b0 = m->spin[3];
  m->p.spin_weight = m->spin[4];
  m->p.f0_hz = 123.2e6;
}

char *
bloch_train (int pulses, gboolean ppm)
{
  GString *text = g_string_new (BLOCH_HEAD "[BLOCKS]\n1 1 1 0 0 0 0 0\n2 100 0 0 0 0 2 0\n");
  char number[32];
  for (int i = 0; i < pulses; i++)
    g_string_append_printf (
        text, "%d 1 %d 0 0 0 0 0\n%d 100 0 1 0 0 0 0\n%d 100 0 2 0 0 1 0\n%d 100 0 1 0 0 0 0\n%d 700 0 3 0 0 0 0\n",
        5 * i + 3, i + 1, 5 * i + 4, 5 * i + 5, 5 * i + 6, 5 * i + 7);
  g_string_append (text, "[RF]\n");
  for (int i = 0; i < pulses; i++) {
    double flip = 10 + 50 * fabs (sin (3 * G_PI * (i + 1) / pulses));
    g_string_append_printf (text, "%d %s 1 2 3 5 0 0 0 0 0 e\n", i + 1,
                            g_ascii_formatd (number, sizeof number, "%.9g", flip / 360 / 1e-5));
  }
  g_string_append (text, "[TRAP]\n1 -20000 10 480 10 500\n2 20000 10 980 10 0\n3 40000 10 6980 10 0\n[ADC]\n"
                         "1 9 100000 45 0 0 0 0 0\n");
  g_string_append_printf (text, "2 4 200000 100 0 %s 0 0 0\n" BLOCH_SHAPES, ppm ? "0.01" : "0");
  return g_string_free (text, FALSE);
}
