/*
 * The impacts of these changes, and their number, in rows of ten numbers: contact; impulses along the normal and the axes u, w of
 * the plane [N s]; velocities along the normal before and after [m/s or rad/s]; energy lost [J]; by time stepping 4 where an impact of a step
 * before goes on, whose whole so far the row then is, and its number, which stays the same; a number of the source.
 */
int NAME_impacts(const NAME_run *run, const double **rows);
/* The contact that a run could not carry on with, where the status is about one. */
int NAME_culprit(const NAME_run *run);
