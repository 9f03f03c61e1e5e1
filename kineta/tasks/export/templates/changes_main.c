    if (status == PREFIX_CHANGED) {
        int k;
        for (k = 0; k < NAME_changes(run); k++)
            fprintf(stderr, "%s %s at t = %.17g s\n", NAME_contact_names[NAME_changed_contact(run, k)], NAME_change(run, k), NAME_time(run));
    }
