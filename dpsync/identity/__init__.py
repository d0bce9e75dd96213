"""Who is who, without a state file. Pure: values in, matches out; the planner never matches again."""
