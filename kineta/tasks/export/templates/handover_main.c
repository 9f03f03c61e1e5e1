    {
        double seconds;
        const int spells = NAME_stepped(&run, &seconds);
        if (spells > 0)
            fprintf(stderr, "By time stepping %d time%s, for %g s in all, where events could not go on.\n", spells, spells == 1 ? "" : "s", seconds);
    }
