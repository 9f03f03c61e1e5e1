// MuJoCo's forward dynamics in loops over states: what the benchmarks time beside kineta.
#include <mujoco/mujoco.h>

#include <stdint.h>
#include <string.h>

// What mj_forward computes where there are no contacts, constraints, actuators, sensors and dampers, and nothing else.
static void smooth_dynamics(const mjModel *m, mjData *d)
{
  mj_kinematics(m, d);
  mj_comPos(m, d);
  mj_makeM(m, d);
  mj_factorM(m, d);
  mj_comVel(m, d);
  mj_rne(m, d, 0, d->qfrc_bias);
  for (int i = 0; i < m->nv; ++i) d->qfrc_smooth[i] = d->qfrc_applied[i] - d->qfrc_bias[i];
  mj_solveM(m, d, d->qacc, d->qfrc_smooth, 1);
}

void mujoco_forward(
  const mjModel *m, mjData *d, int64_t n, const double *q, const double *v, const double *tau, double *out, int whole)
{
  const size_t nq = m->nq, nv = m->nv;
  for (int64_t i = 0; i < n; ++i)
  {
    memcpy(d->qpos, q + i * nq, nq * sizeof(double));
    memcpy(d->qvel, v + i * nv, nv * sizeof(double));
    memcpy(d->qfrc_applied, tau + i * nv, nv * sizeof(double));
    if (whole)
      mj_forward(m, d);
    else
      smooth_dynamics(m, d);
    memcpy(out + i * nv, d->qacc, nv * sizeof(double));
  }
}
