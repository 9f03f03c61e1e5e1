#include <math.h>
#include "dbl.h"

const double dbl_q0[1] = {
    0.1, /* q */
};

const double dbl_v0[1] = {
    0.0, /* q' */
};

void dbl_inverse(const double *t, const double *q, const double *v, const double *vdot, const double *h, double *out)
{
    (void)t;
    (void)q;
    (void)v;
    (void)vdot;
    (void)h;
    const double v0 = 1.0 + q[0];
    const double v1 = sin(v0);
    const double v2 = cos(v0);
    const double v3 = v0 * v1;
    const double v4 = v2 + v3;
    const double v5 = sin(v4);
    const double v6 = cos(v4);
    const double v7 = v4 * v5;
    const double v8 = v6 + v7;
    const double v9 = sin(v8);
    const double v10 = cos(v8);
    const double v11 = v8 * v9;
    const double v12 = v10 + v11;
    const double v13 = sin(v12);
    const double v14 = cos(v12);
    const double v15 = v12 * v13;
    const double v16 = v14 + v15;
    const double v17 = sin(v16);
    const double v18 = cos(v16);
    const double v19 = v16 * v17;
    const double v20 = v18 + v19;
    const double v21 = sin(v20);
    const double v22 = cos(v20);
    const double v23 = v20 * v21;
    const double v24 = v22 + v23;
    const double v25 = sin(v24);
    const double v26 = cos(v24);
    const double v27 = v24 * v25;
    const double v28 = v26 + v27;
    const double v29 = sin(v28);
    const double v30 = cos(v28);
    const double v31 = v28 * v29;
    const double v32 = v30 + v31;
    const double v33 = sin(v32);
    const double v34 = cos(v32);
    const double v35 = v32 * v33;
    const double v36 = v34 + v35;
    const double v37 = sin(v36);
    const double v38 = cos(v36);
    const double v39 = v36 * v37;
    const double v40 = v38 + v39;
    const double v41 = sin(v40);
    const double v42 = cos(v40);
    const double v43 = v40 * v41;
    const double v44 = v42 + v43;
    const double v45 = sin(v44);
    const double v46 = cos(v44);
    const double v47 = v44 * v45;
    const double v48 = v46 + v47;
    const double v49 = sin(v48);
    const double v50 = cos(v48);
    const double v51 = v48 * v49;
    const double v52 = vdot[0] - v51;
    const double v53 = v50 - v52;
    out[0] = -v53;
}

void dbl_mass_matrix(const double *t, const double *q, const double *v, const double *h, double *out)
{
    (void)t;
    (void)q;
    (void)v;
    (void)h;
    out[0] = 1.0;
}

void dbl_bias(const double *t, const double *q, const double *v, const double *h, double *out)
{
    (void)t;
    (void)q;
    (void)v;
    (void)h;
    const double v0 = 1.0 + q[0];
    const double v1 = sin(v0);
    const double v2 = cos(v0);
    const double v3 = v0 * v1;
    const double v4 = v2 + v3;
    const double v5 = sin(v4);
    const double v6 = cos(v4);
    const double v7 = v4 * v5;
    const double v8 = v6 + v7;
    const double v9 = sin(v8);
    const double v10 = cos(v8);
    const double v11 = v8 * v9;
    const double v12 = v10 + v11;
    const double v13 = sin(v12);
    const double v14 = cos(v12);
    const double v15 = v12 * v13;
    const double v16 = v14 + v15;
    const double v17 = sin(v16);
    const double v18 = cos(v16);
    const double v19 = v16 * v17;
    const double v20 = v18 + v19;
    const double v21 = sin(v20);
    const double v22 = cos(v20);
    const double v23 = v20 * v21;
    const double v24 = v22 + v23;
    const double v25 = sin(v24);
    const double v26 = cos(v24);
    const double v27 = v24 * v25;
    const double v28 = v26 + v27;
    const double v29 = sin(v28);
    const double v30 = cos(v28);
    const double v31 = v28 * v29;
    const double v32 = v30 + v31;
    const double v33 = sin(v32);
    const double v34 = cos(v32);
    const double v35 = v32 * v33;
    const double v36 = v34 + v35;
    const double v37 = sin(v36);
    const double v38 = cos(v36);
    const double v39 = v36 * v37;
    const double v40 = v38 + v39;
    const double v41 = sin(v40);
    const double v42 = cos(v40);
    const double v43 = v40 * v41;
    const double v44 = v42 + v43;
    const double v45 = sin(v44);
    const double v46 = cos(v44);
    const double v47 = v44 * v45;
    const double v48 = v46 + v47;
    const double v49 = sin(v48);
    const double v50 = cos(v48);
    const double v51 = v48 * v49;
    const double v52 = v50 + v51;
    out[0] = -v52;
}

void dbl_forward(const double *t, const double *q, const double *v, const double *tau, const double *h, double *out)
{
    (void)t;
    (void)q;
    (void)v;
    (void)tau;
    (void)h;
    const double v0 = 1.0 + q[0];
    const double v1 = sin(v0);
    const double v2 = cos(v0);
    const double v3 = v0 * v1;
    const double v4 = v2 + v3;
    const double v5 = sin(v4);
    const double v6 = cos(v4);
    const double v7 = v4 * v5;
    const double v8 = v6 + v7;
    const double v9 = sin(v8);
    const double v10 = cos(v8);
    const double v11 = v8 * v9;
    const double v12 = v10 + v11;
    const double v13 = sin(v12);
    const double v14 = cos(v12);
    const double v15 = v12 * v13;
    const double v16 = v14 + v15;
    const double v17 = sin(v16);
    const double v18 = cos(v16);
    const double v19 = v16 * v17;
    const double v20 = v18 + v19;
    const double v21 = sin(v20);
    const double v22 = cos(v20);
    const double v23 = v20 * v21;
    const double v24 = v22 + v23;
    const double v25 = sin(v24);
    const double v26 = cos(v24);
    const double v27 = v24 * v25;
    const double v28 = v26 + v27;
    const double v29 = sin(v28);
    const double v30 = cos(v28);
    const double v31 = v28 * v29;
    const double v32 = v30 + v31;
    const double v33 = sin(v32);
    const double v34 = cos(v32);
    const double v35 = v32 * v33;
    const double v36 = v34 + v35;
    const double v37 = sin(v36);
    const double v38 = cos(v36);
    const double v39 = v36 * v37;
    const double v40 = v38 + v39;
    const double v41 = sin(v40);
    const double v42 = cos(v40);
    const double v43 = v40 * v41;
    const double v44 = v42 + v43;
    const double v45 = sin(v44);
    const double v46 = cos(v44);
    const double v47 = v44 * v45;
    const double v48 = v46 + v47;
    const double v49 = sin(v48);
    const double v50 = cos(v48);
    const double v51 = v48 * v49;
    const double v52 = tau[0] + v51;
    const double v53 = v50 + v52;
    out[0] = v53;
}
