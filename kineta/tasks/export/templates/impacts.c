int NAME_impacts(const NAME_run *run, const double **rows)
{
    *rows = within(run)->root_run_contacts_transitions_impacts;
    return (int)within(run)->root_run_contacts_transitions.made;
}

int NAME_culprit(const NAME_run *run)
{
    return (int)within(run)->root_run_contacts_transitions.culprit;
}

