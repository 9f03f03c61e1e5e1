int NAME_impacts(const NAME_run *run, const double **rows)
{
    *rows = within(run)->FIELD_IMPACTS;
    return (int)within(run)->FIELD_MADE;
}

int NAME_culprit(const NAME_run *run)
{
    return (int)within(run)->FIELD_CULPRIT;
}

