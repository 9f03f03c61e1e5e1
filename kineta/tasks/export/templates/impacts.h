/*
 * The impacts of these changes, and their number, in rows of nine numbers: contact; impulses along the normal and the axes u, w of
 * the plane [N s]; velocities along the normal before and after [m/s or rad/s]; energy lost [J]; by time stepping 4 for what goes on of the
 * impact of a step before at the same contact; a number of the source.
 */
int NAME_impacts(const NAME_run *run, const double **rows);
/* The contact that a run could not carry on with, where the status is about one. */
int NAME_culprit(const NAME_run *run);
